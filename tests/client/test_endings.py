"""How a reply ends is told once to those who watch it, however it ends, on both faces."""

from __future__ import annotations

import gc

import pytest

import svir
from svir.types import Completed
from tests.client.test_streams import run
from tests.support.chat import answer, pieces
from tests.support.faces import ASYNC_FACES
from tests.support.world import STALL, Response, World


class Watch:
    """A layer that notes how replies end, and with which error."""

    def __init__(self):
        self.seen = []

    def steps(self, request, next, deadlines, server):  # noqa: A002 (the protocol's name)
        reply = yield from next(request, deadlines)
        reply.on_end(self.note)
        return reply

    def note(self, how, error):
        self.seen.append((how, None if error is None else error.kind))


def watched(face, world, scenario):
    """How the replies of a scenario ended."""
    layer = Watch()
    run(face, world, scenario, layers=[layer])
    gc.collect()
    return layer.seen


def test_a_whole_answer_is_completed_once_its_completion_is_out(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            assert isinstance([event async for event in stream][-1], Completed)
        await stream.aclose()

    assert watched(face, World(Response(answer("a"))), scenario) == [("completed", None)]


def test_a_failure_ends_with_its_error(face):
    async def scenario(client):
        with pytest.raises(svir.TruncatedStreamError):
            await client.complete("hi")

    assert watched(face, World(Response(pieces("a"))), scenario) == [("failed", "truncated_stream")]


def test_a_failure_ends_with_its_error_though_who_is_shown_it_raises(face):
    def inspector(item):
        if isinstance(item, svir.Error):
            raise LookupError("mine")  # noqa: TRY004 (no check of types)

    async def scenario(client):
        async with client.stream("hi") as stream:
            stream.inspect(inspector)
            with pytest.raises(LookupError, match="mine"):
                [event async for event in stream]
            with pytest.raises(svir.TruncatedStreamError):
                await anext(stream)

    assert watched(face, World(Response(pieces("a"))), scenario) == [("failed", "truncated_stream")]


def test_a_stream_closed_early_is_closed(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            await anext(stream)

    assert watched(face, World(Response(pieces("a"), STALL)), scenario) == [("closed", None)]


def test_a_stream_that_is_dropped_is_told_when_it_is_collected(face):
    async def scenario(client):
        stream = client.stream("hi")
        await anext(stream)

    assert watched(face, World(Response(pieces("a"), STALL)), scenario) == [("dropped", None)]


def test_what_breaks_into_reading_interrupts_the_stream(face):
    async def scenario(client):
        stream = client.stream("hi")
        await anext(stream)
        with pytest.raises(KeyboardInterrupt):
            await anext(stream)

    class Interrupted(Response):
        def read(self, timeout):
            if not self.pieces:
                raise KeyboardInterrupt
            return super().read(timeout)

    assert watched(face, World(Interrupted(pieces("a"))), scenario) == [("interrupted", None)]


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_a_cancelled_stream_is_interrupted(face):
    """The world cancels its reader: what a cancelled task would see at its read."""
    import asyncio

    import trio

    async def scenario(client):
        if face.name == "asyncio":
            task = asyncio.create_task(client.complete("hi"))
            world.cancel = task.cancel
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with trio.CancelScope() as scope:
                world.cancel = scope.cancel
                await client.complete("hi")
            assert scope.cancelled_caught

    world = World(Response(pieces("a"), b": more\n\n", STALL))
    layer = Watch()

    class Backend:
        """Suspends in a read, as a network does."""

        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        async def send(self, request, **limits):
            response = await self.inner.send(request, **limits)
            read = response.read

            async def reading(timeout):  # noqa: ASYNC109 (the seam's contract)
                if len(response.inner.pieces) == 1:
                    world.cancel()
                    await face.sleep(0.001)
                return await read(timeout)

            response.read = reading
            return response

    async def whole():
        client = svir.AsyncClient.openai(
            "http://127.0.0.1:1", model="m", backend=Backend(face.backend(world)), layers=[layer]
        )
        await scenario(client)

    face.run(whole)
    assert layer.seen == [("interrupted", None)]


def test_a_watcher_of_a_reply_that_has_ended_is_told_at_once(face):
    async def read_ahead(request, following):
        stream = await following(request)
        await stream.complete()
        return stream

    async def scenario(client):
        await client.complete("hi")

    layer = Watch()
    run(face, World(Response(answer("a"))), scenario, layers=[layer, face.layer(read_ahead)])
    assert layer.seen == [("completed", None)]


def test_several_watchers_are_each_told_once(face):
    async def scenario(client):
        await client.complete("hi")

    layer, inner = Watch(), Watch()
    run(face, World(Response(answer("a"))), scenario, layers=[layer, inner])
    assert layer.seen == inner.seen == [("completed", None)]


# Headers of one call


class Headed:
    def __init__(self, **headers):
        self.headers = headers

    def steps(self, request, next, deadlines, server):  # noqa: A002 (the protocol's name)
        return (yield from next(request, deadlines.with_headers(self.headers)))


def sent(face, *layers, **options):
    async def scenario(client):
        await client.complete("hi")

    world = World(Response(answer("a")))
    run(face, world, scenario, layers=layers, **options)
    return [field for field in world.requests[0].headers if field[0].startswith(("x-", "trace"))]


def test_a_layer_may_add_headers_to_one_call_and_they_win(face):
    added = sent(face, Headed(Traceparent="1", tracestate="s"), Headed(traceparent="2"), headers={"x-t": "a"})
    assert added == [("x-t", "a"), ("tracestate", "s"), ("traceparent", "2")]
    assert sent(face, Headed(traceparent="2"), headers={"traceparent": "0"}) == [("traceparent", "2")]


@pytest.mark.parametrize(
    "headers", [{"host": "x"}, {"x-y": "a\r\nb"}, {"bad name": "x"}, {"authorization": "x"}, {"x-key": "k"}]
)
def test_a_header_that_is_not_the_layers_to_set_is_a_config_error(face, headers):
    with pytest.raises(svir.ConfigError, match="header"):
        sent(face, Headed(**headers), api_key="secret", api_key_header="x-key")


def test_a_layer_of_the_other_face_is_refused_when_the_client_is_built():
    class Bound:
        colour = "sync"

        def steps(self, request, next, deadlines, server):  # noqa: A002 (the protocol's name)
            return (yield from next(request, deadlines))

    assert svir.Client.openai("http://127.0.0.1:1", layers=[Bound()])
    with pytest.raises(svir.ConfigError, match="wrong colour: Bound is not for AsyncClient"):
        svir.AsyncClient.openai("http://127.0.0.1:1", layers=[Bound()])


def test_the_first_end_is_the_one_that_counts_also_for_who_comes_late(face):
    seen = []

    async def scenario(client):
        stream = client.stream("hi")
        await stream.complete()
        await stream.aclose()
        reply = (stream.inner if face.blocking else stream)._reply
        reply.on_end(lambda how, error: seen.append(how))

    run(face, World(Response(answer("a"))), scenario)
    assert seen == ["completed"]
