"""What holds for every value: frozen, equal by what it holds, copied whole, short when shown."""

from __future__ import annotations

import ast
import copy
import enum
import inspect
import pickle
import traceback
from pathlib import Path

import pytest
from hypothesis import given

import svir.types
from svir import (
    Completed,
    Completion,
    Effort,
    FinishReason,
    Image,
    Limits,
    Message,
    Reasoning,
    Request,
    Role,
    Schema,
    Text,
    TextDelta,
    TextFile,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    user,
)
from svir.types import PathSource, UrlSource
from svir.types._show import LONGEST_TEXT
from svir.types._value import Value
from tests.support import values
from tests.support.values import EXAMPLES

SOURCES = sorted(Path(inspect.getfile(svir.types)).parent.glob("_*.py"))
HASHABLE = {name for name in EXAMPLES if name not in {"Request", "Tool", "Schema"}}


def constructors():
    """Every ``__init__`` that only type checkers see, and the fields of its class and its private head."""
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"))
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        for name, node in classes.items():
            hidden = [
                inner
                for block in node.body
                if isinstance(block, ast.If)
                for inner in block.body
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__"
            ]
            for init in hidden:
                yield pytest.param(getattr(svir.types, name), init, id=name)


@pytest.mark.parametrize(("kind", "init"), list(constructors()))
def test_what_type_checkers_see_of_a_constructor_is_what_it_takes(kind, init):
    real = inspect.signature(kind).parameters
    by_position = [name for name, p in real.items() if p.kind is not p.KEYWORD_ONLY]
    assert [arg.arg for arg in init.args.args[1:]] == by_position
    assert [arg.arg for arg in init.args.kwonlyargs] == [name for name in real if name not in by_position]
    optional = {name for name, p in real.items() if p.default is not p.empty}
    defaults = init.args.args[len(init.args.args) - len(init.args.defaults) :]
    by_name = zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
    assert {
        arg.arg for arg in [*defaults, *(arg for arg, default in by_name if default is not None)]
    } == optional


def test_every_constructor_that_takes_more_than_it_stores_says_so():
    assert {param.id for param in constructors()} == {
        *("PathSource", "BytesSource", "Image", "TextFile", "Message", "Schema", "Tool", "Request"),
    }


@pytest.mark.parametrize("value", EXAMPLES.values(), ids=EXAMPLES)
class TestEveryValue:
    def test_is_frozen(self, value):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, value.__struct_fields__[0], "x")

    def test_pickles_and_copies_equal(self, value):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(value, protocol)) == value
        assert copy.deepcopy(value) == value
        assert copy.copy(value) == value

    def test_is_normalized_once_and_for_all(self, value):
        if hasattr(value, "__post_init__"):
            before = pickle.dumps(value)
            value.__post_init__()
            assert pickle.dumps(value) == before

    def test_hashes_by_what_it_holds_unless_it_holds_free_json(self, value):
        if type(value).__name__ in HASHABLE:
            assert hash(value) == hash(copy.deepcopy(value))
        else:
            with pytest.raises(TypeError, match="unhashable"):
                hash(value)

    def test_matches_its_leading_fields_by_position(self, value):
        kind = type(value)
        assert kind.__match_args__
        assert kind.__match_args__ == tuple(
            name for name, p in inspect.signature(kind).parameters.items() if p.kind is not p.KEYWORD_ONLY
        )

    def test_is_shown_by_its_name_and_in_a_few_lines(self, value):
        assert repr(value).startswith(f"{type(value).__name__}(")
        assert len(repr(value)) < 3000
        assert dict(value.__rich_repr__())


@given(values.values)
def test_any_value_survives_pickling_and_copying(value):
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value


def test_values_of_different_kinds_are_never_equal():
    assert Text("x") != TextDelta("x")
    assert Completion(FinishReason.STOP) != Completion(FinishReason.LENGTH)


def test_match_takes_values_apart():
    match Completion(FinishReason.STOP, "hi"):
        case Completion("stop", text):
            assert text == "hi"
        case _:
            pytest.fail("did not match")


BIG = "x" * 1_000_000


@pytest.mark.parametrize(
    "value",
    [
        Text(BIG),
        user(Image.from_bytes(BIG.encode(), "image/png")),
        Request("m", messages=["x"] * 10_000),
        Request("m", extra={str(n): BIG for n in range(1000)}),
        Request("m", extra={"deep": {"list": [BIG] * 100}}),
        Tool("t", BIG, {BIG: [BIG]}),
        Message("user", [BIG] * 1000),
        Completion(FinishReason.STOP, BIG, dropped=(BIG,) * 99),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_repr_never_shows_megabytes(value):
    assert len(repr(value)) < 5000


class Loud:
    """What fails whatever it is asked."""

    def __repr__(self):
        raise RuntimeError

    __eq__ = __len__ = __iter__ = __bool__ = __hash__ = __repr__


def nested(times, around):
    content = "x" * 90
    for _ in range(times):
        content = around(content)
    return content


LOOP = []
LOOP += [LOOP, {"x": LOOP}]

# Whatever a caller may hand over, or put into a dict that a value holds.
ODD = {
    "a wide tree": nested(6, lambda x: [x] * 8),
    "a tree of nothing": nested(9, lambda x: [x] * 8 if x else []),
    "a tree of dicts": nested(40, lambda x: {"a": x, "b": x}),
    "a deep list": nested(10_000, lambda x: [x]),
    "a deep dict": nested(10_000, lambda x: {"x": x}),
    "a cycle": LOOP,
    "many bytes": bytearray(10**6),
    "a view": memoryview(bytes(10**6)),
    "a large number": 10**5000,
    "a small number": -(10**5000),
    "a set": set(range(10**5)),
    "a loud one": Loud(),
    "loud ones": [Loud()] * 10,
    "text that needs escapes": "\U000e0000" * 1000,
    "long keys": {str(n) + BIG: n for n in range(10)},
    "a type with a long name": type("x" * 10**6, (), {})(),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_repr_is_short_and_quick_and_never_raises_whatever_is_inside(odd):
    request, tool = Request("m"), Tool("t", "", {"x": {}})
    request.extra["odd"] = tool.input_schema["odd"] = odd
    by_hand = Completion(odd, odd, calls=odd, dropped=(odd, odd), usage=odd, timing=odd)
    for value in (request, tool, by_hand, Completed(by_hand), user(*["x"] * 8), TextDelta(odd)):
        assert len(repr(value)) < 4000
        assert sum(len(name) + len(repr(shown)) for name, shown in value.__rich_repr__()) < 4000


@pytest.mark.parametrize(
    "make",
    [
        lambda: Text(5),
        lambda: UrlSource(10**5000),
        lambda: Image("a.png", media_type=10**5000),
        lambda: Message("user", Loud()),
        lambda: Request(messages=Loud()),
        lambda: Tool("t", Loud()),
        lambda: Limits(tool_calls=-(10**5000)),
    ],
)
def test_a_value_that_is_refused_can_be_shown_in_a_traceback(make):
    with pytest.raises((TypeError, RuntimeError, svir.ConfigError)) as caught:
        make()
    refused = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(caught.tb)]
    (shown,) = {repr(value) for value in refused if isinstance(value, Value)}
    assert len(shown) < 100


def test_a_large_number_is_told_by_its_size():
    assert repr(Request(seed=2**127)) == f"Request(seed={2**127})"
    assert repr(Request(seed=2**128)) == "Request(seed=<a number of 129 bits>)"


def test_what_is_left_out_is_counted():
    shown = repr(Request("m", messages=[user(*["x" * 90] * 9)] * 9))
    assert shown.endswith("...<7 more>)), ...<6 more>))")


def test_a_repr_leaves_defaults_out_and_cuts_long_text_and_lists():
    assert repr(Request("m")) == "Request(model='m')"
    assert repr(Text("y" * 101)) == f"Text(text='{'y' * LONGEST_TEXT}'...<101 characters>)"
    assert "...<2 more>" in repr(Request("m", stop=[str(n) for n in range(10)]))
    assert repr(Image.from_bytes(b"abc", "image/png").source) == "BytesSource(data=<3 bytes>)"


def test_an_address_is_withheld_wherever_it_is_shown():
    image = Image.from_url("https://example.org/a.png?token=secret")
    for value in (image, image.source, user(image), Request("m", messages=[user(image)])):
        assert "secret" not in repr(value)
        assert "secret" not in repr(value.__rich_repr__())


def test_a_frozen_value_cannot_get_further_attributes():
    with pytest.raises(AttributeError):
        Text("x").other = 1


def test_limits_are_a_value_too():
    assert issubclass(Limits, Value)
    assert Limits() == Limits(wire_bytes=64 * 1024 * 1024)


class Markup(str):
    """Text of a subclass, as template engines, parsers and numpy make it; it shows itself otherwise."""

    __slots__ = ()

    def __str__(self):
        return "shown"

    def __format__(self, spec):
        return "shown"


def member(text):
    """The older way to write words, which formats as ``Word.A``."""
    return enum.Enum("Word", {"A": text}, type=str).A


MARKED = {
    "Text": lambda text: Text(text("x")),
    "Reasoning": lambda text: Reasoning(text("think"), text("x")),
    "ToolCall": lambda text: ToolCall(text("x"), text("x"), text("{}")),
    "ToolResult": lambda text: ToolResult(text("x"), text("x")),
    "PathSource": lambda text: PathSource(text("x")),
    "UrlSource": lambda text: UrlSource(text("x")),
    "Image": lambda text: Image(text("x.png"), media_type=text("image/png"), detail=text("low")),
    "TextFile": lambda text: TextFile(text("x"), name=text("x")),
    "TextFile.from_text": lambda text: TextFile.from_text(text("x"), text("x")),
    "Message": lambda text: Message(text("user"), [text("x")]),
    "Tool": lambda text: Tool(text("x"), text("x"), {text("x"): [text("x")]}),
    "ToolChoice": lambda text: ToolChoice.tool(text("x")),
    "Schema": lambda text: Schema(text("x"), {text("x"): {text("x"): text("x")}}),
    "Request": lambda text: Request(
        text("m"),
        messages=[text("x")],
        system=text("x"),
        tool_choice=text("none"),
        response_format=text("json"),
        stop=[text("x")],
        effort=text("low"),
        extra={text("x"): (text("x"), {text("x"): text("x")})},
    ),
}
"""Values whose every text is made by what is passed in."""


def kinds_of(content):
    """The types of everything a value holds."""
    yield type(content)
    if isinstance(content, Value):
        content = [getattr(content, name) for name in content.__struct_fields__]
    if isinstance(content, dict):
        content = [*content, *content.values()]
    for inner in content if isinstance(content, (list, tuple)) else ():
        yield from kinds_of(inner)


@pytest.mark.parametrize(
    "text", [Markup, member, lambda text: enum.StrEnum("Word", {"A": text}).A], ids=range(3)
)
@pytest.mark.parametrize("make", MARKED.values(), ids=MARKED)
def test_text_of_a_subclass_is_stored_as_text(make, text):
    value = make(text)
    assert value == make(str)
    assert {kind for kind in kinds_of(value) if issubclass(kind, str)} <= {str, Role, Effort}


class Whole(int):
    """A number of a subclass."""


class Broken(float):
    """A number of a subclass."""


def test_a_number_of_a_subclass_is_stored_as_a_number():
    request = Request(
        max_tokens=Whole(1),
        seed=Whole(2),
        temperature=Broken(0.5),
        top_p=Broken(1),
        extra={"k": [Whole(3), True]},
    )
    assert request == Request(max_tokens=1, seed=2, temperature=0.5, top_p=1.0, extra={"k": [3, True]})
    assert not {Whole, Broken} & set(kinds_of(request))


@pytest.mark.parametrize("text", [Markup, member])
def test_an_answer_made_by_hand_of_a_subclass_of_text_is_read_and_added_like_any(text):
    answer = Completion(FinishReason.STOP, text('{"a": 1}'))
    assert answer.parse(dict[str, int]) == {"a": 1}
    assert set(kinds_of(answer.to_message())) == {Message, Role, tuple, Text, str}
