from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import logging
import math
import uuid

import attrs
import msgspec
import pydantic
import pytest

from svir import ToolCall, ToolResult, Tools

NAN = math.nan
CALL = ToolCall("c", "f", '{"x": "the-secret"}')


@dataclasses.dataclass
class Data:
    lat: float


class Struct(msgspec.Struct):
    lat: float


@attrs.define
class Attrs:
    lat: float


class Model(pydantic.BaseModel):
    lat: float
    when: dt.date | None = None


class Named(Model):
    """It says what is not finite by its name."""

    model_config = pydantic.ConfigDict(ser_json_inf_nan="strings")


class Literal(Model):
    """It writes what JavaScript knows, and JSON does not."""

    model_config = pydantic.ConfigDict(ser_json_inf_nan="constants")


class Word(enum.StrEnum):
    YES = "yes"


class Odd(str, enum.Enum):  # noqa: UP042 (its str is not its value)
    NO = "no"


def returned(value):
    def f(x: str):
        return value

    return Tools(f).call(CALL)


def raised(error):
    def f(x: str):
        raise error

    return Tools(f).call(CALL)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("plain", "plain"),
        ("", ""),
        ('"quoted"', '"quoted"'),
        (Word.YES, "yes"),
        (Odd.NO, "no"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ([1, "a", None], '[1,"a",null]'),
        ({"a": 1, 2: "b"}, '{"a":1,"2":"b"}'),
        ((), "[]"),
        (Data(1.5), '{"lat":1.5}'),
        (Struct(1.5), '{"lat":1.5}'),
        (Attrs(1.5), '{"lat":1.5}'),
        (Model(lat=1, when=dt.date(2026, 1, 2)), '{"lat":1.0,"when":"2026-01-02"}'),
        ([Model(lat=1)], '[{"lat":1.0,"when":null}]'),
        ({"at": Data(1.5)}, '{"at":{"lat":1.5}}'),
        (dt.date(2026, 1, 2), '"2026-01-02"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ("r\u00edo", "r\u00edo"),
        ("NaN", "NaN"),
        ([None, "null", "Infinity", 1.5], '[null,"null","Infinity",1.5]'),
        pytest.param({"a": msgspec.Raw(b'{"b": null}')}, '{"a":{"b": null}}', id="raw"),
        (Named(lat=NAN), '{"lat":"NaN","when":null}'),
        ({"at": [Named(lat=NAN)]}, '{"at":[{"lat":"NaN","when":null}]}'),
    ],
    ids=repr,
)
def test_what_a_handler_returns_becomes_text(value, content):
    result = returned(value)
    assert result == ToolResult("c", content)
    assert type(result.content) is str


CIRCLE: list = []
CIRCLE.append(CIRCLE)


class Thing:
    pass


class Infinite(enum.Enum):
    FAR = math.inf


NOT_FINITE = [
    NAN,
    math.inf,
    -math.inf,
    [1, [None, {"a": NAN}]],
    {"a": (math.inf,)},
    {math.inf},
    Infinite.FAR,
    Data(NAN),
    Struct(NAN),
    Attrs(NAN),
    Model(lat=NAN),
    Literal(lat=NAN),
    [Model(lat=math.inf)],
    {"at": Literal(lat=math.inf)},
    Data(Model(lat=NAN)),
    [Named(lat=NAN), NAN],
    msgspec.Raw(b"[NaN]"),
]


class Broken(pydantic.BaseModel):
    x: int = 1

    @pydantic.field_serializer("x")
    def wrong(self, value):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Thing(), "JSON: it is or holds a Thing"),
        ([{"a": Thing()}], "JSON: it is or holds a Thing"),
        (CIRCLE, "JSON: it is or holds an unusable list"),
        ({1.5j: 1}, "JSON: it is or holds"),
        (["\ud800"], "JSON: it is or holds"),
        ("\ud800", "valid text"),
        (Broken(), "JSON: it is or holds an unusable Broken"),
        *((value, "JSON: it is or holds a number that is not finite") for value in NOT_FINITE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_written_is_an_error_for_the_model(value, what, caplog):
    result = returned(value)
    assert result.is_error
    assert result.content.startswith(f"the tool ran, but its result cannot be written as {what}")
    (record,) = caplog.records
    assert record.name == "svir.tools"


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ValueError("no such city"), "no such city"),
        (ValueError(), "ValueError"),
        (KeyError("Oslo"), "KeyError: 'Oslo'"),
        (KeyError(), "KeyError"),
        (StopIteration(), "StopIteration"),
        (TimeoutError("too slow"), "too slow"),
        (RecursionError("deep"), "deep"),
        (ExceptionGroup("several", [ValueError("a")]), "several (1 sub-exception)"),
    ],
    ids=repr,
)
def test_an_exception_becomes_an_error_result_with_its_message(error, content):
    assert raised(error) == ToolResult("c", content, is_error=True)


def test_a_message_that_is_no_unicode_is_mended(caplog):
    with caplog.at_level(logging.CRITICAL, "svir"):  # a report of this test could not hold the log line
        assert raised(ValueError("\ud800")) == ToolResult("c", "?", is_error=True)


def test_a_huge_message_is_cut():
    assert len(raised(ValueError("x" * 1_000_000)).content) < 4200


def test_an_exception_that_cannot_be_shown_is_told_by_its_name():
    class Mute(Exception):  # noqa: N818
        def __str__(self):
            raise RuntimeError

    logging.raiseExceptions, before = False, logging.raiseExceptions
    try:
        assert raised(Mute()).content == "Mute"
    finally:
        logging.raiseExceptions = before


def test_a_failure_is_logged_without_the_arguments(caplog):
    raised(ValueError("no such city"))
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("svir.tools", "WARNING")
    assert record.getMessage() == "the handler of tool f failed: ValueError"
    assert isinstance(record.exc_info[1], ValueError)


def test_what_the_model_did_wrong_is_not_logged(caplog):
    tools = Tools()
    assert tools.call(CALL).is_error
    assert not caplog.records


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_goes_through(error):
    with pytest.raises(error):
        raised(error())
