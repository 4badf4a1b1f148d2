"""One line a call, whatever becomes of it, and nothing in it of what was said."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest
import trio

import svir
from svir.layers import Retry, Trace
from tests.client.test_streams import client_of
from tests.support.chat import answer, chunk, pieces
from tests.support.faces import ASYNC_FACES
from tests.support.layers import WHOLE, call, refused, stream_of
from tests.support.loopback import Gone, Loopback, Request, Send, Stall, chunked
from tests.support.world import STALL, Response, World

SECRETS = ("sk-secret", "the question", "the answer", "server words")


@pytest.fixture
def lines(caplog):
    """What was logged so far: level and line."""
    caplog.set_level(logging.DEBUG, logger="svir")

    def so_far():
        gc.collect()
        return [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "svir"]

    return so_far


def test_a_whole_answer_is_one_line_with_its_times(face, lines):
    world = World((1.5, Response(0.5, b"+a\n", 1.0, b".\n")))
    call(face, world, Trace())
    line = (
        "call model=m server=127.0.0.1:1234 outcome=completed finish=stop "
        "headers=1.500s first=2.000s total=3.000s"
    )
    assert lines() == [("INFO", line)]


def test_token_counts_and_the_finish_are_told(face, lines, caplog):
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 34,
        "completion_tokens_details": {"reasoning_tokens": 5},
        "prompt_tokens_details": {"cached_tokens": 6},
    }
    said = (
        pieces("the answer")
        + chunk(finish="length")
        + (
            chunk(usage=usage).replace(
                b'"choices": [{"index": 0, "delta": {}, "finish_reason": null}]', b'"choices": []'
            )
        )
        + b"data: [DONE]\n\n"
    )

    async def scenario():
        client = client_of(face, World(Response(said)), layers=[Trace()], api_key="sk-secret")
        await client.complete("the question")

    face.run(scenario)
    ((level, line),) = lines()
    assert level == "INFO"
    assert "finish=length" in line
    assert line.endswith("input=12 output=34 reasoning=5 cached=6")
    assert not any(secret in line for secret in SECRETS)
    (record,) = caplog.records
    assert (record.svir_input, record.svir_outcome, record.svir_model) == (12, "completed", "m")
    assert not any(secret in repr(vars(record)) for secret in SECRETS)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            lambda: Response(b'{"message": "server words", "code": "busy"}', status=429),
            "error=rate_limited status=429 code=busy",
        ),
        (lambda: svir.TransportError("reset"), "error=transport"),
        (lambda: Response(b"+the answer\n!server words\n"), "error=server"),
        (lambda: Response(b"+a\n"), "error=truncated_stream"),
    ],
    ids=["status", "connection", "in the stream", "cut"],
)
def test_a_failure_is_one_warning_with_its_kind(face, lines, reply, told):
    with pytest.raises(svir.Error):
        call(face, World(reply()), Trace())
    ((level, line),) = lines()
    assert level == "WARNING"
    assert " outcome=failed " in line
    assert line.endswith(told)
    assert not any(secret in line for secret in SECRETS)


def test_outside_of_retry_it_is_a_line_a_call_and_inside_a_line_a_try(face, lines):
    call(face, World(refused(), Response(WHOLE)), Trace(), Retry.connect(1))
    assert [level for level, _ in lines()] == ["INFO"]
    call(face, World(refused(), Response(WHOLE)), Retry.connect(1), Trace())
    assert [level for level, _ in lines()] == ["INFO", "WARNING", "INFO"]


def outcome(lines):
    ((level, line),) = lines()
    assert level == "INFO"
    return line.partition("outcome=")[2].partition(" ")[0]


def test_a_stream_closed_early_is_told(face, lines):
    async def scenario():
        async with stream_of(face, World(Response(b"+a\n", STALL)), Trace()) as stream:
            await anext(stream)

    face.run(scenario)
    assert outcome(lines) == "closed"


def test_a_dropped_stream_is_told_when_it_is_collected(face, lines):
    async def scenario():
        stream = stream_of(face, World(Response(b"+a\n", STALL)), Trace())
        await anext(stream)

    face.run(scenario)
    assert outcome(lines) == "dropped"


def test_a_call_that_is_interrupted_before_its_response_is_told(face, lines):
    with pytest.raises(KeyboardInterrupt):
        call(face, World(KeyboardInterrupt()), Trace())
    assert outcome(lines) == "interrupted"


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
@pytest.mark.parametrize("begun", [False, True], ids=["before the response", "while reading"])
def test_a_cancelled_call_is_told_once(face, lines, begun):
    """Over a real socket: the server says when the client waits."""
    head = chunked(pieces("a"), end=False)
    script = [Request(), Send(head), Stall()] if begun else [Request(), Stall()]

    async def ask():
        async with (
            svir.AsyncClient.openai(server.url, model="m", layers=[Trace()]) as client,
            client.stream("hi") as stream,
        ):
            await anext(stream)
            if begun:
                await anext(stream)

    async def waiting():
        while not server.requests:
            await face.sleep(0.001)
        if begun:
            await face.sleep(0.05)

    async def under_asyncio():
        task = asyncio.create_task(ask())
        await waiting()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def under_trio():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await waiting()
            nursery.cancel_scope.cancel()

    with Loopback(script) as server:
        face.run(under_asyncio if face.name == "asyncio" else under_trio)
    assert outcome(lines) == "interrupted"


def test_an_exception_that_is_not_svirs_is_a_failure_with_its_name(face, lines):
    async def broken(request, following):
        raise LookupError("the question")

    with pytest.raises(LookupError):
        call(face, World(), Trace(), face.layer(broken))
    ((level, line),) = lines()
    assert level == "WARNING"
    assert line.endswith("error=LookupError")


@pytest.mark.parametrize("model", ["a b", 'a"b', "a\nb", "x=y", "\u00e5", ""])
def test_a_models_name_cannot_pretend_to_be_another_pair(face, lines, model):
    request = svir.Request(model, messages="hi")
    call(face, World(Response(WHOLE)), Trace(), request=request)
    ((_, line),) = lines()
    assert "\n" not in line
    assert line.isascii()
    assert line.startswith(f"call model={model!a} server=" if model else "call model=m server=")


def test_another_logger_may_be_given(face, lines, caplog):
    caplog.set_level(logging.INFO, logger="mine")
    call(face, World(Response(WHOLE)), Trace(logging.getLogger("mine")))
    assert lines() == []
    assert [record.name for record in caplog.records] == ["mine"]


def test_the_logger_has_a_null_handler_so_that_nothing_is_printed_unasked(capfd):
    handlers = logging.getLogger("svir").handlers
    assert sum(isinstance(handler, logging.NullHandler) for handler in handlers) == 1


def test_a_whole_call_over_the_network_is_one_line(face, lines):
    with Loopback([Request(), Send(chunked(answer("a"))), Gone()]) as server:

        async def scenario():
            client = face.client(server.url, model="m", layers=[Trace()])
            await client.complete("hi")
            await client.aclose()

        face.run(scenario)
    ((_, line),) = lines()
    assert f"server=127.0.0.1:{server.port} outcome=completed finish=stop headers=0." in line


def test_a_trace_is_a_value():
    assert Trace() == Trace()
    with pytest.raises(AttributeError):
        Trace().logger = None
