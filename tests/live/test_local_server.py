"""svir against llama.cpp's server and a real model, with every face."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from typing import Literal

import pytest

import svir
from svir.openai.chat import Decoder

WEATHER = svir.Tool(
    "weather",
    "The weather in a city now.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def asked_before(number: int, city: str, weather: str) -> list:
    """An earlier round: a question, the call, its result and the answer."""
    call = svir.ToolCall(f"call{number}", "weather", json.dumps({"city": city}))
    return [
        f"Weather in {city}?",
        svir.assistant(call),
        svir.ToolResult(call.id, weather),
        svir.assistant(f"In {city}: {weather}."),
    ]


# Two earlier rounds make this small model call as well; without any it hardly ever does.
ROUNDS = svir.Request(
    messages=[*asked_before(1, "Oslo", "4 degrees, rain"), *asked_before(2, "Rome", "21 degrees, sun")],
    tools=WEATHER,
    temperature=0,
    max_tokens=64,
)
# ignore_eos, a field of llama.cpp's, keeps the model busy for all of these tokens: half a minute.
ENDLESS = svir.Request(messages=["Count."], max_tokens=3500, extra={"ignore_eos": True})


def test_the_pieces_of_the_text_are_the_text(face):
    events = face.events(svir.Request(messages=["Say something."], max_tokens=32))
    *deltas, last = events
    assert isinstance(last, svir.Completed)
    assert deltas
    assert all(isinstance(event, svir.TextDelta) for event in deltas)
    assert "".join(event.text for event in deltas) == last.completion.text


def test_usage_is_counted_and_timed(face, server):
    answer = face.complete(svir.Request(messages=["Say something."], max_tokens=32))
    usage = answer.usage
    assert usage.input > 0
    assert 0 < usage.output <= 32
    assert usage.total == usage.input + usage.output
    assert answer.timing.first_token_ms <= answer.timing.last_token_ms
    assert answer.model == server.model
    assert answer.response_id
    assert answer.dropped == ()


def test_a_cut_answer_says_so(face):
    answer = face.complete(ENDLESS.replace(max_tokens=5))
    assert answer.finish is svir.FinishReason.LENGTH
    assert answer.usage.output == 5


@pytest.mark.parametrize("choice", ["required", "auto", svir.ToolChoice.tool("weather")], ids=str)
def test_a_tool_is_called(face, choice):
    answer = face.complete(ROUNDS.with_turns("Weather in Paris?").replace(tool_choice=choice))
    assert answer.finish is svir.FinishReason.TOOL_CALLS
    (call,) = answer.calls
    assert call.id
    assert call.name == "weather"
    assert isinstance(call.parse(dict[str, str])["city"], str)  # the server's grammar sees to that


def test_a_conversation_goes_on_after_a_tools_result(face):
    request = ROUNDS.with_turns("Weather in Paris?").replace(tool_choice="required")
    answer = face.complete(request)
    request = request.with_turns(answer, svir.ToolResult(answer.calls[0].id, "17 degrees, wind"))
    assert request.tool_choice == "auto"
    assert face.complete(request).finish in svir.FinishReason


def test_a_call_cut_by_the_length_limit_is_not_among_those_to_answer(face):
    request = ROUNDS.with_turns("Weather in Paris?").replace(tool_choice="required", max_tokens=14)
    answer = face.complete(request)
    assert answer.finish is svir.FinishReason.LENGTH
    assert answer.calls == ()


@dataclass
class Climate:
    season: Literal["spring", "summer", "autumn", "winter"]
    wet: bool


def test_an_answer_keeps_to_a_schema(face):
    schema = svir.Schema(
        "climate",
        {
            "type": "object",
            "properties": {
                "season": {"enum": ["spring", "summer", "autumn", "winter"]},
                "wet": {"type": "boolean"},
            },
            "required": ["season", "wet"],
            "additionalProperties": False,
        },
    )
    request = svir.Request(messages=["June in Oslo, as JSON."], response_format=schema, max_tokens=200)
    assert isinstance(face.complete(request).parse(Climate), Climate)


def test_what_does_not_fit_is_an_overflow(face):
    with pytest.raises(svir.ContextOverflowError) as caught:
        face.complete(svir.Request(messages=["word " * 6000]))
    assert caught.value.status == 400
    assert not caught.value.retryable


def test_an_image_is_refused_by_a_model_that_takes_none(face):
    image = svir.Image.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png")
    with pytest.raises(svir.TransportError) as caught:
        face.complete(svir.Request(messages=[svir.user("What is this?", image)]))
    # llama.cpp says 500 for what never works; only its words tell (docs/errors.md)
    assert caught.value.status == 500
    assert "image" in caught.value.server_message


def test_leaving_a_stream_ends_the_work_at_the_server(face, server):
    assert isinstance(face.leave_after_one_event(ENDLESS), svir.TextDelta)
    await_idle(server)


def test_cancelling_ends_the_work_at_the_server(face, server):
    face.cancel_within(ENDLESS, 0.5)
    await_idle(server)


def await_idle(server) -> None:
    """Within seconds, far sooner than the answer would have been done, the server works on nothing."""
    request = urllib.request.Request(
        f"{server.url}/slots", headers={"authorization": f"Bearer {server.api_key}"}
    )
    deadline = time.monotonic() + 5
    busy = True
    while busy and time.monotonic() < deadline:
        with urllib.request.urlopen(request) as response:
            busy = any(slot["is_processing"] for slot in json.load(response))
    assert not busy


def test_the_models_are_listed(face, server):
    assert [model.id for model in face.models()] == [server.model]


def test_another_key_is_refused(face):
    with pytest.raises(svir.AuthenticationError) as caught:
        face.complete("hi", api_key="another")
    assert caught.value.status == 401
    with pytest.raises(svir.AuthenticationError):
        face.models(api_key=None)


def test_the_bytes_are_the_servers_and_decode_to_an_answer(face):
    data = face.raw(svir.Request(messages=["Say something."], max_tokens=8))
    assert data.startswith(b"data: {")
    assert data.rstrip().endswith(b"data: [DONE]")
    decoder = Decoder()
    *_, last = decoder.push(data)
    assert isinstance(last, svir.Completed)


def test_the_command_asks_a_model_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "svir", "ask", "--local", "--max-tokens", "16", "Say something."],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert b"tokens in" in done.stderr
    assert b"tokens/s" in done.stderr
