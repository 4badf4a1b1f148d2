"""Answers of a type, on both faces: what is sent, what comes back, and what is raised."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import svir
from svir import FinishReason, Schema
from tests.client.test_streams import run
from tests.support.chat import answer, chunk
from tests.support.world import Response, World

DONE = b"data: [DONE]\n\n"
OTRA = '{"name": "Otra", "km": 245}'


@dataclasses.dataclass
class River:
    name: str
    km: float
    mouth: str | None = None


async def parsed(client, kind, *args, **fields):
    """``client.parse`` of either face."""
    value = client.parse(kind, *args, **fields)
    return await value if inspect.isawaitable(value) else value


def ask(face, reply, kind, *args, **fields):
    world = World(Response(reply))

    async def scenario(client):
        return await parsed(client, kind, *args, **fields)

    return run(face, world, scenario), world


def test_a_type_is_asked_for_and_an_instance_comes_back(face):
    river, world = ask(face, answer(OTRA[:9], OTRA[9:]), River, "Name a river.", system="Be brief.")
    assert river == River("Otra", 245)
    assert type(river) is River
    (body,) = world.bodies
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "River", "schema": Schema.of(River).schema},
    }
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_the_turns_may_be_given_by_name(face):
    river, world = ask(face, answer(OTRA), River, messages=["Name a river.", "Now."])
    assert river == River("Otra", 245)
    assert [message["content"] for message in world.bodies[0]["messages"]] == ["Name a river.", "Now."]


def test_strict_is_sent_with_a_schema_written_for_it(face):
    _, world = ask(face, answer(OTRA), River, "Name a river.", strict=True)
    form = world.bodies[0]["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["required"] == ["name", "km", "mouth"]
    assert form["schema"]["additionalProperties"] is False


def test_lists_unions_and_plain_types_come_back_too(face):
    assert ask(face, answer(f"[{OTRA}]"), list[River], "?")[0] == [River("Otra", 245)]
    assert ask(face, answer("null"), River | None, "?")[0] is None
    assert ask(face, answer("3"), int, "?")[0] == 3


def test_a_request_that_asks_for_the_type_already_is_sent_as_it_is(face):
    request = svir.Request(messages=["Name a river."], response_format=River)
    assert ask(face, answer(OTRA), River, request)[0] == River("Otra", 245)


@pytest.mark.parametrize("form", ["json", dict[str, int], Schema("other", {})])
def test_a_request_for_another_form_is_refused_before_anything_is_sent(face, form):
    request = svir.Request(messages=["Name a river."], response_format=form)
    with pytest.raises(svir.ConfigError, match="another form of answer"):
        ask(face, answer(OTRA), River, request)


def test_the_form_is_not_given_twice(face):
    with pytest.raises(TypeError, match="leave response_format out"):
        ask(face, answer(OTRA), River, "?", response_format="json")


@pytest.mark.parametrize("strict", [False, True])
def test_a_type_that_cannot_be_asked_for_is_refused_before_anything_is_sent(face, strict):
    kind = dict[str, Any] if strict else list[type("Plain", (), {})]
    with pytest.raises(svir.ConfigError):
        ask(face, b"", kind, "?", strict=strict)


def told(delta, finish):
    return chunk(delta) + chunk(finish=finish) + DONE


CALL = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "lookup", "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("reply", "finish", "text"),
    [
        (told({"content": OTRA}, "length"), FinishReason.LENGTH, "length limit cut it"),
        (
            told({"content": OTRA}, "content_filter"),
            FinishReason.CONTENT_FILTER,
            "content filter withdrew it",
        ),
        (told({"refusal": "I would rather not."}, "stop"), FinishReason.REFUSAL, "the model refused"),
        (told(CALL, "tool_calls"), FinishReason.TOOL_CALLS, "calls tools instead of answering"),
        (answer("Otra, I think."), FinishReason.STOP, ": it is no JSON$"),
        (answer(""), FinishReason.STOP, ": it is empty$"),
        (answer('{"name": "Otra", "km": "far"}'), FinishReason.STOP, r"not fit River: .*at `\$\.km`"),
    ],
    ids=["length", "filter", "refusal", "calls", "no-json", "empty", "misfit"],
)
def test_an_answer_that_is_not_read_says_why_and_brings_itself(face, reply, finish, text):
    with pytest.raises(svir.AnswerError, match=text) as caught:
        ask(face, reply, River, "Name a river.")
    assert caught.value.completion.finish is finish
    assert not caught.value.retryable
    for word in ("Otra", "rather", "far"):
        assert word not in str(caught.value)
