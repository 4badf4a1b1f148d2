from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir import Tool, ToolCall, ToolResult, Tools


class Unit(enum.Enum):
    METRIC = "metric"
    US = "us"


@dataclasses.dataclass
class Place:
    lat: float
    lon: float = 0.0


class Model(pydantic.BaseModel):
    lat: float
    when: dt.date | None = None


class Strict(pydantic.BaseModel, strict=True):
    when: dt.date


@dataclasses.dataclass
class Trip:
    stops: list[Model]


@dataclasses.dataclass
class Picky:
    size: int

    def __post_init__(self):
        if self.size < 0:
            raise ValueError("too small - at `heart`")
        if self.size > 9:
            raise KeyError("boom")


def answer(arguments, lax=False, /, **hints):
    """What a function with these parameters was given, or what the model is told."""
    got = []

    def f(**given):
        got.append(given)
        return "ran"

    import inspect

    f.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=h) for name, h in hints.items()]
    )
    result = Tools(f, lax=lax).call(ToolCall("c", "f", arguments))
    if result.is_error:
        assert not got
        return result.content
    assert result == ToolResult("c", "ran")
    return got[0]


@pytest.mark.parametrize("blank", ["", "  ", "\n\t", "{}", " {} "])
def test_blank_arguments_are_an_empty_object(blank):
    assert answer(blank) == {}


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (str, '"a"', "a"),
        (float, "1", 1.0),
        (list[int], "[1]", [1]),
        (set[int], "[1]", {1}),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (dict[int, str], '{"1": "a"}', {1: "a"}),
        (Any, '{"a": [null]}', {"a": [None]}),
        (int | None, "null", None),
        (Literal["a", 1], "1", 1),
        (Unit, '"us"', Unit.US),
        (bytes, '"aGk="', b"hi"),
        (dt.date, '"2026-01-02"', dt.date(2026, 1, 2)),
        (Place, '{"lat": 1}', Place(1.0)),
        (list[Place], '[{"lat": 1}]', [Place(1.0)]),
        (Model, '{"lat": 1, "when": "2026-01-02"}', Model(lat=1, when=dt.date(2026, 1, 2))),
        (Strict, '{"when": "2026-01-02"}', Strict(when=dt.date(2026, 1, 2))),
        (list[Model], '[{"lat": 1}]', [Model(lat=1)]),
        (Model | None, "null", None),
        (Model | str, '"x"', "x"),
        (Trip, '{"stops": [{"lat": 1}]}', Trip([Model(lat=1)])),
    ],
    ids=str,
)
def test_arguments_are_converted_to_the_parameters_types(hint, text, value):
    assert answer(f'{{"x": {text}}}', x=hint) == {"x": value}


@pytest.mark.parametrize(
    ("hint", "text", "told"),
    [
        (str, "1", "x: expected str, got int"),
        (int, '"5"', "x: expected int, got str"),
        (int, "1.5", "x: expected int, got float"),
        (str, "null", "x: expected str, got null"),
        (int | None, '"a"', "x: expected int | null, got str"),
        (list[int], "[1, null]", "x[1]: expected int, got null"),
        (dict[int, str], '{"a": "b"}', "x: a key: expected int, got str"),
        (Annotated[int, msgspec.Meta(ge=1)], "0", "x: expected int >= 1"),
        (Annotated[int, pydantic.Field(le=9)], "10", "x: expected int <= 9"),
        (Literal["a", "b"], '"c"', 'x: must be one of "a", "b"'),
        (Literal["a", "b"] | None, '"c"', 'x: must be one of "a", "b", null'),
        (Unit, '"c"', 'x: must be one of "metric", "us"'),
        (list[Unit], '["us", "c"]', "x[1]: invalid enum value 'c'"),
        (Place, "{}", "x: object missing required field lat"),
        (Place, '{"lat": "a"}', "x.lat: expected float, got str"),
        (list[Place], '[{"lat": 1}, {"lat": null}]', "x[1].lat: expected float, got null"),
        (Model, '{"lat": "a"}', "x.lat: input should be a valid number"),
        (list[Model], '[{}, {"lat": 1}]', "x[0].lat: field required"),
        (Trip, '{"stops": [{}]}', "x.stops[0]: lat: field required"),
        (dt.date, '"soon"', "x: invalid RFC3339"),
        (Picky, '{"size": -1}', "x: too small - at heart"),
        (Picky, '{"size": 10}', "x: 'boom'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_told_with_its_place(hint, text, told):
    assert answer(f'{{"x": {text}}}', x=hint).startswith(f"invalid arguments: {told}")


@pytest.mark.parametrize("text", ["null", "1", '"a"', "[]", "[{}]", "true"])
def test_only_an_object_is_arguments(text):
    assert answer(text, x=Any) == "invalid arguments: not a JSON object"


@pytest.mark.parametrize(
    "text", ["{", "{]", "{'x': 1}", '{"x": 1', '{"x": 1} more', '{"x": NaN}', '{"x": \ud800}', "\ufeff{}"]
)
def test_only_json_is_arguments(text):
    assert answer(text, x=Any).startswith("invalid arguments: not valid JSON")


@pytest.mark.parametrize(
    "value", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000]
)
def test_deep_nesting_is_told_and_does_not_overflow(value):
    assert answer(f'{{"x": {value}}}', x=Any).startswith("invalid arguments: ")


def test_a_value_that_is_no_json_inside_is_told():
    assert answer('{"x": "\\ud800"}', x=str) == "invalid arguments: not valid JSON"
    assert answer('{"x": 1e999}', x=float).startswith("invalid arguments: x: ")


def test_all_that_is_wrong_is_told_at_once():
    told = answer('{"a": 1, "d": 2}', a=str, b=int, c=int)
    expected = "a: expected str, got int; b: missing; c: missing; d: there is no such parameter"
    assert told == f"invalid arguments: {expected}"


def test_an_unknown_argument_is_told_by_its_name():
    assert answer('{"colour": 1}') == "invalid arguments: colour: there is no such parameter"


def test_the_first_of_many_problems_are_told_shortly():
    told = answer(json.dumps({"a" * 10_000 + str(n): n for n in range(100)}))
    assert told.endswith("; and 95 more")
    assert len(told) < 600


def test_a_long_problem_is_cut():
    assert len(answer(json.dumps({"x": ["y" * 10_000]}), x=list[Unit])) < 400


def test_the_last_of_equal_keys_counts():
    assert answer('{"x": 1, "x": 2}', x=int) == {"x": 2}


def test_a_default_is_the_functions_own():
    def f(x: list = [1]) -> str:  # noqa: B006
        return str(x)

    assert Tools(f).call(ToolCall("1", "f")).content == "[1]"


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [(int, '"5"', 5), (float, '"1.5"', 1.5), (bool, '"true"', True), (int | None, '"null"', None)],
    ids=str,
)
def test_lax_reads_numbers_that_came_as_text(hint, text, value):
    assert answer(f'{{"x": {text}}}', True, x=hint) == {"x": value}
    assert isinstance(answer(f'{{"x": {text}}}', False, x=hint), str)


def test_lax_reads_no_nonsense():
    assert answer('{"x": "five"}', True, x=int).startswith("invalid arguments: x: ")


class Registry:
    """Every kind of tool, each of which records that it ran."""

    def __init__(self):
        self.ran = []
        tools = self.tools = Tools()

        @tools.add
        def none() -> None:
            self.ran.append({})

        @tools.add
        def some(a: int, b: str = "b", c: list[Place] | None = None) -> None:
            assert type(a) is int
            assert type(b) is str
            self.ran.append((a, b, c))

        @tools.add
        def models(a: Model, b: Literal["x"] = "x") -> None:
            assert type(a) is Model
            self.ran.append((a, b))

        tools.add_tool(Tool("whole"), self.ran.append)
        tools.add_tool(Tool("typed"), self.typed)

    def typed(self, arguments: Place) -> None:
        assert type(arguments) is Place
        self.ran.append(arguments)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c", "lat"]), inner)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(["none", "some", "models", "whole", "typed", "other"])


@given(name=NAMES, arguments=JSON.map(json.dumps) | st.text() | st.text(alphabet='{}[]",:1.eE-\\u \ud800'))
def test_whatever_the_arguments_are_the_answer_is_a_result(name, arguments):
    registry = Registry()
    result = registry.tools.call(ToolCall("c", name, arguments))
    assert isinstance(result, ToolResult)
    assert result.call_id == "c"
    result.content.encode()
    # Exactly the calls that fit reach a handler.
    assert len(registry.ran) == (0 if result.is_error else 1)
    if result.is_error:
        assert result.content.startswith("no tool named" if name == "other" else "invalid arguments: ")


@given(name=st.text(), arguments=st.text())
def test_whatever_the_name_is_the_answer_is_a_result(name, arguments):
    result = Registry().tools.call(ToolCall("c", name, arguments))
    assert isinstance(result, ToolResult)
