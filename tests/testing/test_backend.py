"""Scripted backends: the same replies as the server's, played without a socket, on every face."""

from __future__ import annotations

import asyncio
import threading

import pytest
import trio

import svir
from svir import TextDelta, ToolCall, Usage
from svir.testing import AsyncScriptedBackend, MockServer, Reply, ScriptedBackend
from tests.support.faces import FACES, closing
from tests.support.streams import RECORDINGS

URL = "http://127.0.0.1"


@pytest.fixture(params=FACES, ids=repr)
def face(request):
    return request.param


def backend_of(face, *replies):
    return (ScriptedBackend if face.blocking else AsyncScriptedBackend)(replies)


def play(face, backend, scenario, **options):
    """Runs a scenario with a client of the face on a backend, whose script must be followed."""

    async def main():
        with backend:
            async with closing(face.client(URL, model="m", backend=backend, **options)) as client:
                return await scenario(client)

    return face.run(main)


async def failure(client):
    with pytest.raises(svir.Error) as caught:
        await client.complete("hi")
    return caught.value


def test_answers_come_in_the_order_they_were_scripted(face):
    backend = backend_of(face, "one", Reply(text="two", reasoning="hm", usage=Usage(3, 4)))
    backend.reply(calls=[ToolCall("c-1", "weather", "{}")])
    backend.play(Reply(models=["small"]))

    async def scenario(client):
        answers = [await client.complete(f"question {n}") for n in range(3)]
        assert await client.models() == (svir.ModelInfo("small"),)
        return answers

    one, two, three = play(face, backend, scenario)
    assert (one.text, two.text, two.usage) == ("one", "two", Usage(3, 4))
    assert three.calls == (ToolCall("c-1", "weather", "{}"),)
    assert [request.method for request in backend.requests] == ["POST"] * 3 + ["GET"]
    assert backend.requests[1].body["messages"][0]["content"] == "question 1"


def test_a_request_is_recorded_whole(face, tmp_path):
    (tmp_path / "notes.txt").write_text("a note")
    backend = backend_of(face, "ok")

    async def scenario(client):
        await client.complete(svir.user("Read this.", svir.TextFile(tmp_path / "notes.txt")))

    play(face, backend, scenario, api_key="k-1", query="v=2")
    [request] = backend.requests
    assert (request.path, request.query) == ("/v1/chat/completions", "v=2")
    assert request.headers["authorization"] == "Bearer k-1"
    assert "a note" in request.body["messages"][0]["content"]


def both(reply):
    """The same reply from a backend and from a server: what the client makes of it, as plain data."""
    seen = []
    with ScriptedBackend([reply()]) as backend:
        client = svir.Client.openai(URL, model="test-model", backend=backend, idle_timeout=0.25)
        seen.append(outcome(client))
    with MockServer([reply()]) as server:
        seen.append(outcome(server.client(idle_timeout=0.25)))
    return seen


def outcome(client):
    events = []
    try:
        with client.stream("hi", include_usage=False) as stream:
            for event in stream:
                events.append(event)  # noqa: PERF402 (what came before an error is kept)
    except svir.Error as error:
        told = (error.kind, error.retryable, error.status, error.code, error.server_message, error.partial)
        return events, told
    done = events.pop().completion
    return events, (done.text, done.calls, done.cut_calls, done.usage, done.finish)


@pytest.mark.parametrize(
    "reply",
    [
        lambda: Reply(text="one two", reasoning="hm", usage=Usage(1, 2, 3, 4, 5)),
        lambda: Reply(text="one two three").cut(after=2),
        lambda: Reply(text="one two three").cut(after=2, reset=True),
        lambda: Reply(text="one two three").stall(after=2),
        lambda: Reply(text="one two three").stall(),
        lambda: Reply(text="one").cut(),
        lambda: Reply(text="one").cut(reset=True),
        lambda: Reply(text="one").cut(after=0, reset=True),
        lambda: Reply(text="one two").cut(after=4),
        lambda: Reply(text="one two").pace(0.01).delay(0.01),
        lambda: Reply(text="one two").delay(0.6, after=1),
        lambda: Reply(status=429, headers={"retry-after": "1"}),
        lambda: Reply(status=503, body="down").cut(after=0),
        lambda: Reply(status=400, body={"error": {"message": "no", "code": "c"}}),
        lambda: Reply(raw=b"nonsense\r\n\r\n"),
        lambda: Reply(raw=b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {]\n\n"),
        lambda: Reply(raw=b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: [DO"),
        lambda: Reply(raw=b""),
    ],
)
def test_a_backend_and_a_server_play_a_reply_alike(reply):
    from_backend, from_server = both(reply)
    assert from_backend == from_server


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not beside the repository")
def test_a_backend_and_a_server_play_recordings_alike():
    for path in sorted(RECORDINGS.glob("*/*.http"))[::4]:
        from_backend, from_server = both(lambda path=path: Reply(file=path))
        assert from_backend == from_server, path


def test_a_stall_is_ended_by_the_deadline_and_names_it(face):
    backend = backend_of(face, Reply(text="one two").stall(after=1))

    async def scenario(client):
        return await failure(client)

    error = play(face, backend, scenario, timeout=0.2)
    assert isinstance(error, svir.RequestTimeoutError)
    assert error.detail == "the answer was not complete within 0.2 s (timeout)"
    assert error.partial.text == "one"


@pytest.mark.parametrize("face", FACES[1:], ids=repr)
def test_a_stalled_stream_can_be_cancelled(face):
    backend = AsyncScriptedBackend([Reply(text="one two").stall(after=1), Reply(text="x").stall()])

    async def scenario(client):
        stream = client.stream("hi")
        async with stream:
            assert await anext(stream) == TextDelta("one")
            await cancelled_soon(face, stream.complete)
        await cancelled_soon(face, lambda: client.complete("hi"))

    play(face, backend, scenario, idle_timeout=None)
    assert all(playback.closed for playback in backend._playing)


async def cancelled_soon(face, call):
    if face.name == "trio":
        with trio.move_on_after(0.02) as scope:
            await call()
        assert scope.cancelled_caught
        return
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await call()


def test_closing_wakes_a_reader():
    backend = ScriptedBackend([Reply(text="one two").stall(after=1)])
    client = svir.Client.openai(URL, model="m", backend=backend)
    stream = client.stream("hi")
    assert next(stream) == TextDelta("one")
    closer = threading.Timer(0.02, stream.close)
    closer.start()
    with pytest.raises(svir.TransportError, match="closed by this program"):
        stream.complete()
    closer.join()


def test_closing_ends_a_wait_for_the_head():
    backend = ScriptedBackend([Reply(text="one two").stall()])
    client = svir.Client.openai(URL, model="m", backend=backend)
    stream = client.stream("hi")
    closer = threading.Timer(0.02, stream.close)
    closer.start()
    with pytest.raises(svir.TransportError, match="closed by this program"):
        stream.open()
    closer.join()


def test_a_closed_backend_answers_no_more(face):
    backend = backend_of(face, "one", Reply(text="two three"))

    async def scenario(client):
        await client.complete("hi")
        stream = client.stream("hi")
        assert await anext(stream) == TextDelta("two")
        await client.aclose()
        with pytest.raises(svir.TransportError, match="closed by this program"):
            await stream.complete()
        return await failure(client)

    error = play(face, backend, scenario)
    assert isinstance(error, svir.TransportError)
    assert error.unsent
    assert not error.retryable


def test_a_request_without_a_reply_fails_on_the_spot(face):
    backend = backend_of(face)

    async def scenario(client):
        with pytest.raises(AssertionError, match="request 1, POST /v1/chat/completions: no reply is left"):
            await client.complete("hi")

    with pytest.raises(AssertionError, match="ScriptedBackend was not used as scripted"):
        play(face, backend, scenario)


def test_a_reply_that_is_not_asked_for_fails_the_block(face):
    backend = backend_of(face, "one", "two")

    async def scenario(client):
        await client.complete("hi")

    with pytest.raises(AssertionError, match=r"never asked for: Reply\(text='two'\)"):
        play(face, backend, scenario)


def test_the_asynchronous_block_checks_too():
    async def main():
        async with AsyncScriptedBackend(["one"]) as backend:
            assert repr(backend) == "AsyncScriptedBackend()"

    with pytest.raises(AssertionError, match="never asked for"):
        asyncio.run(main())


def test_other_calls_of_the_seam(face):
    backend = backend_of(face)

    async def scenario():
        if face.blocking:
            backend.sleep(0)
            return backend.call(threading.get_ident)
        await backend.sleep(0)
        return await backend.call(threading.get_ident)

    assert (face.run(scenario) == threading.get_ident()) == face.blocking


def test_responses_show_no_values():
    with ScriptedBackend([Reply(text="x", headers={"x-secret": "s-1"})]) as backend:
        client = svir.Client.openai(URL, model="m", backend=backend)
        with client.stream("hi") as stream:
            assert repr(stream._reply.response).startswith("ScriptedResponse(200, Headers(")
            assert "s-1" not in repr(stream._reply.response)
            stream.complete()
