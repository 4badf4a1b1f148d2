"""Streams of both faces, over a scripted backend: opening, reading, closing."""

from __future__ import annotations

import gc
import weakref

import pytest

import svir
from svir.types import Completed, TextDelta
from tests.support.chat import answer, pieces
from tests.support.faces import ASYNC_FACES, closing
from tests.support.world import STALL, Response, World

URL = "http://127.0.0.1:1234"


def client_of(face, world, *, slow_close=False, **options):
    backend = face.backend(world, slow_close=slow_close) if not face.blocking else face.backend(world)
    return face.client(URL, **{"model": "m", "backend": backend, **options})


def run(face, world, scenario, **options):
    """Runs a scenario with a client that talks to a world."""

    async def whole():
        async with closing(client_of(face, world, **options)) as client:
            return await scenario(client)

    return face.run(whole)


def test_complete_reads_the_whole_answer_and_drains(face):
    world = World(Response(answer("a", "b"), b": bye\n\n"))

    async def scenario(client):
        return await client.complete("hi")

    assert run(face, world, scenario).text == "ab"
    assert world.names == ["send", "read", "read", "read", "close", "close all"]


def test_events_come_in_order_and_end_with_completed(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            return [event async for event in stream]

    *texts, done = run(face, World(Response(answer("a", "b"))), scenario)
    assert texts == [TextDelta("a"), TextDelta("b")]
    assert isinstance(done, Completed)


def test_the_request_goes_out_on_entering_on_open_or_with_the_first_item(face):
    async def scenario(client):
        world = client.world
        stream = client.stream("hi")
        assert world.names == []
        await stream.open()
        await stream.open()
        assert world.names == ["send"]
        async with stream:
            assert world.names == ["send"]
        assert world.names == ["send", "close"]
        other = client.stream("hi")
        assert (await anext(other)).text == "a"
        assert world.names[2:4] == ["send", "read"]
        await other.aclose()

    world = World(Response(answer("a")), Response(answer("a")))

    async def with_world(client):
        client.world = world
        await scenario(client)

    run(face, world, with_world)


def test_a_failure_to_open_is_raised_again_and_sends_nothing_again(face):
    world = World(Response(b"{}", status=503))

    async def scenario(client):
        stream = client.stream("hi")
        errors = []
        for act in (stream.open, stream.open, stream.complete, lambda: anext(stream)):
            with pytest.raises(svir.TransportError) as caught:
                await act()
            errors.append(caught.value)
        return errors

    first, *others = run(face, world, scenario)
    assert all(error is first for error in others)
    assert first.status == 503
    assert len(world.requests) == 1


def test_headers_and_request_id_are_known_once_the_stream_is_open(face):
    async def scenario(client):
        async with client.stream("hi") as stream, client.send("hi") as raw:
            return [(s.headers.get("X-Request-Id"), s.request_id) for s in (stream, raw)]

    world = World(*(Response(answer("a"), x_request_id="r-1") for _ in range(2)))
    assert run(face, world, scenario) == [("r-1", "r-1")] * 2


def test_before_it_is_open_an_async_stream_says_so():
    client = svir.AsyncClient.openai(URL, model="m")
    stream = client.stream("hi")
    for name in ("headers", "request_id"):
        with pytest.raises(svir.ConfigError, match=r"await stream\.open\(\)"):
            getattr(stream, name)


def test_before_it_is_open_a_blocking_stream_opens_itself():
    world = World(Response(answer("a"), x_request_id="r-1"))
    stream = svir.Client.openai(URL, model="m", backend=world).stream("hi")
    assert stream.request_id == "r-1"
    assert len(world.requests) == 1


def test_text_alone_and_then_the_whole(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            texts = [text async for text in stream.text()]
            return texts, await stream.complete()

    texts, completion = run(face, World(Response(answer("a", "b"))), scenario)
    assert texts == ["a", "b"]
    assert completion.text == "ab"


def test_the_completion_can_be_asked_for_after_the_block(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            async for _ in stream:
                pass
        return await stream.complete()

    assert run(face, World(Response(answer("a"))), scenario).text == "a"


def test_leaving_early_closes_the_connection_undrained(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            async for _ in stream:
                break

    world = World(Response(pieces("a"), STALL))
    run(face, world, scenario)
    assert world.names == ["send", "read", "close", "close all"]


def test_an_error_of_the_block_closes_the_connection_and_comes_out(face):
    async def scenario(client):
        async with client.stream("hi"):
            raise LookupError("mine")

    world = World(Response(pieces("a"), STALL))
    with pytest.raises(LookupError, match="mine"):
        run(face, world, scenario)
    assert world.names == ["send", "close", "close all"]


def test_a_closed_stream_says_who_closed_it(face):
    async def scenario(client):
        stream = await client.stream("hi").open()
        await stream.aclose()
        await stream.aclose()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            await anext(stream)
        assert not caught.value.retryable
        unopened = client.stream("hi")
        await unopened.aclose()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            await unopened.open()
        assert caught.value.unsent

    world = World(Response(pieces("a"), STALL))
    run(face, world, scenario)
    assert len(world.requests) == 1


def test_a_stream_closed_while_it_opens_is_closed_when_it_is_open(face):
    world = World()

    async def scenario(client):
        stream = client.stream("hi")
        # The key function runs while the stream is opening, as another thread or task would.
        opening.append(stream)
        await stream.open()
        with pytest.raises(svir.TransportError, match="closed by this program"):
            await anext(stream)

    opening = []

    def key():
        stream = opening[0]
        if face.blocking:
            stream.inner.close()
        else:
            stream._closed = True  # what aclose() sets first
        return "sk-1"

    world.replies.append(Response(pieces("a"), STALL))
    run(face, world, scenario, api_key=key)
    assert world.responses[0].closed


def test_a_failed_stream_raises_the_same_again_and_keeps_what_came(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            texts, errors = [], []
            for _ in range(3):
                try:
                    texts.extend([text async for text in stream.text()])
                except svir.Error as error:
                    errors.append(error)
            with pytest.raises(svir.TruncatedStreamError):
                await stream.complete()
            return errors

    first, second, third = run(face, World(Response(pieces("a", "b"))), scenario)
    assert first is second is third
    assert first.partial == svir.Partial("ab")
    assert first.__context__ is None


def test_raw_bytes_pass_unchanged_and_unseen_by_layers(face):
    async def layer(request, following):
        raise AssertionError("a layer saw it")

    async def scenario(client):
        async with client.send("hi") as raw:
            return [data async for data in raw]

    world = World(Response(b"data: x\r\n\r\n", b"\xff"))
    assert run(face, world, scenario, layers=[face.layer(layer)]) == [b"data: x\r\n\r\n", b"\xff"]


def test_raw_bytes_that_break_off_raise_after_them(face):
    async def scenario(client):
        raw = client.send("hi")
        assert await anext(raw) == b"x"
        for _ in range(2):
            with pytest.raises(svir.TransportError, match="it was reset"):
                await anext(raw)
        await raw.aclose()

    world = World(Response(b"x", svir.TransportError("it was reset")))
    run(face, world, scenario)
    assert world.responses[0].closed


def test_raw_iteration_ends_and_stays_ended(face):
    async def scenario(client):
        raw = client.send("hi")
        assert [data async for data in raw] == [b"x"]
        assert [data async for data in raw] == []

    run(face, World(Response(b"x")), scenario)


def test_a_raw_stream_that_is_closed_says_so(face):
    async def scenario(client):
        raw = await client.send("hi").open()
        await raw.aclose()
        with pytest.raises(svir.TransportError, match="closed by this program"):
            await anext(raw)

    run(face, World(Response(b"x")), scenario)


def test_models_are_listed_below_the_layers(face):
    async def layer(request, following):
        raise AssertionError("a layer saw it")

    async def scenario(client):
        return await client.models()

    world = World(
        Response(b'{"data": [{"id": "a"}, {"id": "b", "name": "B"}]}', content_type="application/json")
    )
    models = run(face, world, scenario, layers=[face.layer(layer)])
    assert models == (svir.ModelInfo("a"), svir.ModelInfo("b", "B"))


@pytest.mark.parametrize("ask", ["complete", "stream", "send"])
def test_what_is_asked_may_be_a_request_or_turns_with_fields(face, ask):
    asked = svir.Request(messages="one", temperature=0)
    ways = [
        ("hi", {"system": "s"}),
        (["hi", svir.assistant("ho"), "again"], {"max_tokens": 3}),
        (svir.user("hi"), {}),
        (asked, {}),
        (asked, {"temperature": 1}),
        (None, {"messages": ["hi", svir.assistant("ho"), "again"], "max_tokens": 3}),
        (None, {"system": "s"}),
        (asked, {"messages": "ho"}),
    ]

    async def scenario(client):
        for given, fields in ways:
            turns = () if given is None else (given,)
            if ask == "complete":
                await client.complete(*turns, **fields)
            else:
                async with getattr(client, ask)(*turns, **fields):
                    pass
        with pytest.raises(TypeError, match="given twice"):
            client.stream("hi", messages="ho")

    world = World(*(Response(answer("a")) for _ in ways))
    run(face, world, scenario)
    bodies = world.bodies
    assert [message["role"] for message in bodies[0]["messages"]] == ["system", "user"]
    assert [message["content"] for message in bodies[1]["messages"]] == ["hi", "ho", "again"]
    assert bodies[1]["max_tokens"] == 3
    assert (bodies[3]["temperature"], bodies[4]["temperature"]) == (0, 1)
    assert bodies[5] == bodies[1]
    assert bodies[6]["messages"] == [{"role": "system", "content": "s"}]
    assert [message["content"] for message in bodies[7]["messages"]] == ["ho"]


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_a_backend_that_closes_by_an_awaitable_is_awaited(face):

    async def scenario(client):
        await client.complete("hi")
        async with client.stream("hi") as stream:
            await anext(stream)
        with pytest.raises(svir.TransportError):
            await client.complete("hi")
        with pytest.raises(svir.UnsupportedError):
            await client.complete("hi")

    replies = [
        Response(answer("a")),
        Response(pieces("a"), STALL),
        Response(status=500),
        Response(content_type="x"),
    ]
    world = World(*replies)
    run(face, world, scenario, slow_close=True)
    assert all(response.closed for response in world.responses)
    assert world.names[-1] == "close all"


def test_a_stream_that_was_left_goes_without_the_garbage_collector(face):
    """What a stream holds goes with it, without the garbage collector."""

    async def scenario(client):
        async with client.stream("hi") as stream:
            await anext(stream)
        held = weakref.ref(stream)
        del stream
        return held

    gc.disable()
    try:
        assert run(face, World(Response(pieces("a"), STALL)), scenario)() is None
    finally:
        gc.enable()


def test_a_blocking_streams_text_is_an_iterator():
    world = World(Response(answer("a", "b")))
    with svir.Client.openai(URL, model="m", backend=world) as client, client.stream("hi") as stream:
        assert list(stream.text()) == ["a", "b"]


@pytest.mark.parametrize(
    ("reads", "error", "then"),
    [(1, None, ["close"]), (2, None, ["read", "read", "close"]), (2, KeyError("mine"), ["close"])],
    ids=["unfinished", "complete", "complete but failing"],
)
def test_leaving_the_block_drains_when_the_answer_is_complete_and_nothing_went_wrong(
    face, reads, error, then
):
    async def scenario(client):
        try:
            async with client.stream("hi") as stream:
                for _ in range(reads):
                    await anext(stream)
                if error is not None:
                    raise error
        except KeyError:
            pass

    world = World(Response(answer("a"), b": bye"))
    run(face, world, scenario)
    assert world.names == ["send", "read", *then, "close all"]


def test_iterating_to_the_end_drains_and_closes_without_a_block(face):
    async def scenario(client):
        for asked in (client.stream("hi"), client.send("hi")):
            async for _ in asked:
                pass

    world = World(Response(answer("a")), Response(b"x"))
    run(face, world, scenario)
    assert world.names == [*["send", "read", "read", "close"] * 2, "close all"]


def test_a_failure_closes_the_connection_without_a_block(face):
    async def scenario(client):
        for asked in (client.stream("hi"), client.send("hi")):
            with pytest.raises(svir.TransportError):
                async for _ in asked:
                    pass
            closed.append(client.world.responses[-1].closed)

    closed = []
    world = World(*(Response(pieces("a"), svir.TransportError("it was reset")) for _ in range(2)))

    async def with_world(client):
        client.world = world
        await scenario(client)

    run(face, world, with_world)
    assert closed == [1, 1]
