from __future__ import annotations

import dataclasses
from typing import NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

from svir import AnswerError, ToolCall


@dataclasses.dataclass
class Data:
    value: int


class Struct(msgspec.Struct):
    value: int


class Typed(TypedDict):
    value: int


class Named(NamedTuple):
    value: int


class Model(pydantic.BaseModel):
    value: int


def call(arguments):
    return ToolCall("c", "t", arguments)


@pytest.mark.parametrize("kind", [Data, Struct, Model])
def test_arguments_are_read_as_a_class(kind):
    read = call('{"value": 3}').parse(kind)
    assert type(read) is kind
    assert read.value == 3


def test_arguments_are_read_as_plain_types():
    assert call('{"value": 3}').parse(Typed) == {"value": 3}
    assert call('{"value": 3}').parse(dict) == {"value": 3}
    assert call("[3]").parse(Named) == Named(3)


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_arguments_are_an_empty_object(blank):
    assert call(blank).parse(dict) == {}


@pytest.mark.parametrize("kind", [Data, Struct, Model, Typed, dict[str, int]])
@pytest.mark.parametrize(
    "arguments",
    [
        '{"value": "secret"}',
        '["secret"]',
        '"secret"',
        "secret",
        '{"value": ',
        '{"value": 1} secret',
        "\ud800",
    ],
)
def test_what_does_not_fit_is_an_answer_error_without_the_servers_words(kind, arguments):
    with pytest.raises(AnswerError) as caught:
        call(arguments).parse(kind)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.completion is None
    assert not caught.value.retryable


def test_the_error_says_the_type_and_the_place():
    with pytest.raises(AnswerError, match=r"what the call passes does not fit Data: .*`\$\.value`"):
        call('{"value": "x"}').parse(Data)


def test_deep_nesting_is_an_answer_error():
    with pytest.raises(AnswerError):
        call("[" * 100_000).parse(list)
