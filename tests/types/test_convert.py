"""JSON text into types: real instances, and errors in our own words."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import enum
import sys
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import attrs
import msgspec
import pydantic
import pydantic.dataclasses
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir import AnswerError, Completion, ConfigError, FinishReason, Schema, ToolCall
from svir.types._convert import from_json
from tests.support.values import json_values

T = TypeVar("T")


@dataclasses.dataclass
class Data:
    value: int


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    value: int


class Struct(msgspec.Struct):
    value: int


class Page(msgspec.Struct, Generic[T]):
    value: T


class Typed(TypedDict):
    value: int


class Named(NamedTuple):
    value: int


@attrs.define
class Attrs:
    value: int


class Model(pydantic.BaseModel):
    value: int


@pydantic.dataclasses.dataclass
class ModelData:
    value: pydantic.PositiveInt


class Other(pydantic.BaseModel):
    other: str


@dataclasses.dataclass
class OtherData:
    other: str


@dataclasses.dataclass
class Holder:
    model: Model
    more: list[Model] = dataclasses.field(default_factory=list)


class Kind(enum.Enum):
    BIG = "big"


CLASSES = [Data, Frozen, Struct, Attrs, Model, ModelData, Page[int]]


def call(arguments):
    return ToolCall("c", "t", arguments)


def answered(text):
    return Completion(FinishReason.STOP, text)


@pytest.mark.parametrize("kind", CLASSES)
def test_what_is_read_really_is_of_the_class(kind):
    for read in (call('{"value": 3}').parse(kind), answered(' {"value": 3}\n').parse(kind)):
        assert type(read) is getattr(kind, "__origin__", kind)
        assert read.value == 3


def test_a_named_tuple_comes_from_an_array():
    read = answered("[3]").parse(Named)
    assert type(read) is Named
    assert read == Named(3)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ('{"value": 3}', Typed, {"value": 3}),
        ('{"value": 3}', dict, {"value": 3}),
        ("3", int, 3),
        ("3", Literal[3], 3),
        ("null", int | None, None),
        ('"big"', Kind, Kind.BIG),
        ('"2026-01-31T00:00:00Z"', dt.datetime, dt.datetime(2026, 1, 31, tzinfo=dt.UTC)),
        ("[[1], {}]", Any, [[1], {}]),
        ('[{"value": 3}]', list[Data], [Data(3)]),
        ('{"a": {"value": 3}}', dict[str, Model], {"a": Model(value=3)}),
        ("[3]", Annotated[list[int], "numbers"], [3]),
    ],
    ids=str,
)
def test_plain_types_and_containers_are_read_too(text, kind, value):
    assert answered(text).parse(kind) == value


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Data | OtherData | None, [Data(3), OtherData("x"), None]),
        (Annotated[OtherData | Data, "either"], [Data(3), OtherData("x")]),
        (Struct | OtherData, [Struct(3), OtherData("x")]),
        (Model | Other, [Model(value=3), Other(other="x")]),
        (list[Model | Other], [[Model(value=3), Other(other="x")]]),
        (Model | None, [Model(value=3), None]),
        (Struct | Other | None, [Struct(3), Other(other="x"), None]),
    ],
    ids=str,
)
def test_a_union_is_read_as_the_member_that_fits(kind, values):
    for value in values:
        text = msgspec.json.encode(value, enc_hook=lambda model: model.model_dump()).decode()
        assert answered(text).parse(kind) == value


def test_models_inside_other_classes_are_read_as_models():
    read = answered('{"model": {"value": 3}, "more": [{"value": 4}]}').parse(Holder)
    assert read == Holder(Model(value=3), [Model(value=4)])


def test_models_are_read_where_pydantic_is_not_the_one_that_made_them(monkeypatch):
    class Own:
        def __init__(self, text):
            self.text = text

        @classmethod
        def model_validate_json(cls, text):
            return cls(text)

        @classmethod
        def model_json_schema(cls):
            return {"type": "object"}

    monkeypatch.delitem(sys.modules, "pydantic")

    class Picky(Own):
        @classmethod
        def model_validate_json(cls, text):
            raise ValueError(f"not {text}")

    class Odd(Own):
        @classmethod
        def model_validate_json(cls, text):
            class OddError(ValueError):
                def errors(self, **_):
                    return [{"type": f"Odd: {text}", "loc": (text,)}]

            raise OddError

    for kind in (Picky, Odd):
        with pytest.raises(AnswerError) as caught:
            answered("{}").parse(kind)
        assert caught.value.detail == f"it does not fit {kind.__name__}"
    assert answered("{}").parse(Own).text == "{}"
    assert answered('[{"a":1}]').parse(list[Own])[0].text == b'{"a":1}'
    assert "pydantic" not in sys.modules


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_arguments_are_an_empty_object(blank):
    assert call(blank).parse(dict) == {}


UNFIT = [
    '{"value": "secret"}',
    '{"secret": "secret"}',
    '["secret"]',
    '[{"value": "secret"}]',
    '"secret"',
    "secret",
    '{"value": ',
    '{"value": 1} secret',
    "\ud800",
    "",
    "[" * 100_000,
]
KINDS = [*CLASSES, Typed, Named, dict[str, int], list[Model], Model | Other, Data | OtherData, Holder, Kind]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("text", UNFIT, ids=lambda text: text[:20] or "empty")
def test_what_does_not_fit_is_an_answer_error_without_the_servers_words(kind, text):
    completion = answered(text)
    with pytest.raises(AnswerError) as caught:
        completion.parse(kind)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.completion is completion
    assert not caught.value.retryable


def test_arguments_that_do_not_fit_have_no_completion():
    with pytest.raises(AnswerError) as caught:
        call("secret").parse(Data)
    assert caught.value.completion is None


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    value: int = 0


class Cat(msgspec.Struct, tag="cat"):
    pass


class Dog(msgspec.Struct, tag="dog"):
    pass


class Loud(msgspec.Struct):
    value: str

    def __post_init__(self):
        raise ValueError(f"I was given {self.value} - at `$.value`")


class LoudModel(pydantic.BaseModel):
    value: dict[str, int]

    @pydantic.field_validator("value", mode="before")
    @classmethod
    def say_so(cls, value):
        if not isinstance(value, dict):
            raise ValueError(f"I was given {value}")  # noqa: TRY004 (what pydantic takes)
        return value


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ('{"value": "x"}', Data, "does not fit Data: Expected `int`, got `str` - at `$.value`"),
        ("{}", Data, "does not fit Data: Object missing required field `value`"),
        ('["x"]', list[Data], "does not fit list[Data]: Expected `object`, got `str` - at `$[0]`"),
        ('"x"', int | None, "does not fit int | None: Expected `int | null`, got `str`"),
        ('{"value": "x"}', Model, "does not fit Model: int parsing at `$.value`"),
        ("[{}]", list[Model], "does not fit list[Model]: missing at `$[0].value`"),
        (
            '{"model": {}}',
            Holder,
            "does not fit Holder: Expected `Model` (missing at `$.value`) - at `$.model`",
        ),
        ("{}", Data | OtherData, "does not fit Data | OtherData"),
        ('"secret"', Kind, "does not fit Kind: Invalid enum value"),
        ('["secret"]', list[Kind], "does not fit list[Kind]: Invalid enum value - at `$[0]`"),
        ('"secret\' - at `$.secret`"', Kind, "does not fit Kind: Invalid enum value"),
        ('{"type": "secret"}', Cat | Dog, "does not fit Cat | Dog: Invalid value - at `$.type`"),
        ('{"secret - at `$.secret": 1}', Closed, "does not fit Closed"),
        ('{"value": "secret"}', Loud, "does not fit Loud"),
        ('[{"value": "secret"}]', list[Loud], "does not fit list[Loud]"),
        ('{"value": "secret"}', LoudModel, "does not fit LoudModel: value error at `$.value`"),
        (
            '{"value": {"secret": "secret"}}',
            LoudModel,
            "does not fit LoudModel: int parsing at `$.value[...]`",
        ),
        ('{"value": ', Data, "is no JSON"),
        ('{"value": ', Model, "is no JSON"),
        ('```json\n{"value": 1}\n```', Data, "is no JSON (it is inside a code fence)"),
        ("Here you are:\n\n```\n[1]\n```\n", Model, "is no JSON (it is inside a code fence)"),
        ("```python\nprint(1)\n```", Data, "is no JSON"),
        (" ", Data, "is empty"),
        ("", Model, "is empty"),
        ("1e999", float, "does not fit float: Number out of range"),
        ("[" * 100_000, list, "is nested too deeply"),
    ],
)
def test_the_error_says_what_and_where(text, kind, said):
    with pytest.raises(AnswerError) as caught:
        answered(text).parse(kind)
    assert caught.value.detail == f"it {said}"


class Picky(BaseException):
    """What is no ``Exception``."""


def checked(raised):
    """Types of each kind whose own check raises, and what is around them."""

    def check(*_):
        raise raised

    class Checked(pydantic.BaseModel):
        value: int

        @pydantic.field_validator("value")
        @classmethod
        def _check(cls, value):
            check()

    @pydantic.dataclasses.dataclass
    class CheckedModelData:
        value: int
        __post_init__ = check

    class CheckedStruct(msgspec.Struct):
        value: int
        __post_init__ = check

    @dataclasses.dataclass
    class CheckedData:
        value: int
        __post_init__ = check

    @attrs.define
    class CheckedAttrs:
        value: int = attrs.field(validator=check)

    @attrs.define
    class CheckedLater:
        value: int
        __attrs_post_init__ = check

    CheckedHolder = dataclasses.make_dataclass("CheckedHolder", [("value", Checked)])  # noqa: N806
    alone = (Checked, CheckedModelData, CheckedStruct, CheckedData, CheckedAttrs, CheckedLater)
    inside = [(CheckedHolder, '{"value": {"value": 1}}'), (list[Checked], '[{"value": 1}]')]
    inside += [(dict[str, CheckedData], '{"a": {"value": 1}}'), (CheckedStruct | None, '{"value": 1}')]
    return [*((kind, '{"value": 1}') for kind in alone), *inside]


@pytest.mark.parametrize("raised", [KeyError, NameError, RuntimeError, AttributeError, ArithmeticError])
def test_whatever_a_types_own_check_raises_the_answer_does_not_fit(raised):
    for kind, text in checked(raised("the answer's words")):
        for read in (answered(text).parse, *([call(text).parse] if text[0] == "{" else [])):
            with pytest.raises(AnswerError) as caught:
                read(kind)
            assert caught.value.detail.endswith(f": a check of its own raised {raised.__name__}")
            assert caught.value.__context__ is None


@pytest.mark.parametrize("raised", [TypeError, ValueError, RecursionError, UnicodeError, StopIteration])
def test_what_the_libraries_take_for_a_misfit_is_one(raised):
    for kind, text in checked(raised("the answer's words")):
        with pytest.raises(AnswerError) as caught:
            answered(text).parse(kind)
        assert "words" not in str(caught.value)
        assert caught.value.__context__ is None


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit, Picky])
def test_what_is_no_exception_goes_through(raised):
    for kind, text in checked(raised()):
        with pytest.raises(raised):
            answered(text).parse(kind)


def test_a_member_of_a_union_whose_check_raises_is_not_the_one_that_fits():
    for kind, text in checked(KeyError()):
        if dataclasses.is_dataclass(kind) and not hasattr(kind, "__pydantic_validator__"):
            assert answered(text).parse(kind | Data | dict[str, Any]) in (Data(1), {"value": {"value": 1}})


def test_a_model_without_a_schema_is_read_and_told_of():
    class Odd(pydantic.BaseModel):
        value: int
        what: Annotated[Any, pydantic.PlainValidator(str), pydantic.WithJsonSchema(None)] = ""
        ask: Callable[[], int] | None = None

    assert answered('{"value": 1}').parse(Odd).value == 1
    with pytest.raises(AnswerError, match="does not fit Odd: missing at"):
        answered("{}").parse(Odd)


class Opaque:
    pass


@dataclasses.dataclass
class HoldsOpaque:
    opaque: Opaque


@dataclasses.dataclass
class HoldsUnknown:
    opaque: Nowhere  # noqa: F821 (the point)


class Unfinished(pydantic.BaseModel):
    opaque: Nowhere  # noqa: F821 (the point)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Opaque, "Opaque"),
        (HoldsOpaque, "HoldsOpaque"),
        (HoldsUnknown, "HoldsUnknown"),
        (list[Data | OtherData], r"list\[Data \| OtherData\]"),
        ("Data", "Data"),
        (Unfinished, "Unfinished"),
        (list[Unfinished], r"list\[Unfinished\]"),
        (list[Model | Opaque], r"list\[Model \| Opaque\]"),
    ],
    ids=str,
)
def test_a_type_that_nothing_can_be_read_into_is_the_callers_fault(kind, name):
    with pytest.raises(ConfigError, match=f"nothing can be read into .*{name}") as caught:
        answered('{"opaque": {}}').parse(kind)
    assert caught.value.__context__ is None


readable = st.sampled_from(
    [Data, Struct, Model, Typed, dict[str, int], list[Model], Data | OtherData, Holder, Any]
)


@given(json_values.map(msgspec.json.encode) | st.binary(max_size=30), readable)
def test_any_text_is_read_or_is_an_answer_error(data, kind):
    text = data.decode("utf-8", "surrogateescape")
    with contextlib.suppress(AnswerError):
        answered(text).parse(kind)


@pytest.mark.parametrize("use", [Schema.of, lambda name: from_json("{}", name, "the answer")])
def test_a_types_name_is_no_type(use):
    with pytest.raises(ConfigError, match="give the type itself, not its name") as caught:
        use("City")
    assert caught.value.__context__ is None
