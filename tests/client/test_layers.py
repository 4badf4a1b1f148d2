"""A caller's own layers: plain functions under Client, async ones under AsyncClient."""

from __future__ import annotations

import functools
import time

import pytest

import svir
from svir.exchange import Deadlines
from svir.exchange._steps import Close, Sleep
from svir.layers import Retry, Timeout
from svir.testing import MockServer
from svir.types import TextDelta
from tests.client.test_streams import URL, client_of, run
from tests.support.chat import answer, pieces
from tests.support.world import STALL, Response, World


async def complete(client):
    return await client.complete("hi")


def test_the_first_layer_is_outermost_and_each_may_change_the_request(face):
    order = []

    def named(name):
        async def layer(request, following):
            order.append(f"> {name}")
            stream = await following(request.replace(system=f"{request.system or ''}{name}"))
            order.append(f"< {name}")
            return stream

        return face.layer(layer)

    world = World(Response(answer("a")))
    assert run(face, world, complete, layers=[named("a"), named("b"), named("c")]).text == "a"
    assert order == ["> a", "> b", "> c", "< c", "< b", "< a"]
    assert world.bodies[0]["messages"][0]["content"] == "abc"


def test_a_layer_knows_whom_the_call_goes_to(face):
    async def layer(request, following):
        seen.append((following.host, following.port, following.api))
        return await following(request)

    seen = []
    run(face, World(Response(answer("a"))), complete, layers=[face.layer(layer)])
    assert seen == [("127.0.0.1", 1234, "openai.chat")]


def test_a_layer_that_calls_twice_has_the_first_stream_closed(face):
    async def layer(request, following):
        await following(request)
        return await following(request)

    world = World(Response(pieces("lost"), STALL), Response(answer("kept")))
    assert run(face, world, complete, layers=[face.layer(layer)]).text == "kept"
    assert world.names[:4] == ["send", "send", "close", "read"]


def test_a_layer_may_try_again_after_a_failure(face):
    async def layer(request, following):
        try:
            return await following(request)
        except svir.TransportError:
            return await following(request)

    world = World(Response(status=503), Response(answer("a")))
    assert run(face, world, complete, layers=[face.layer(layer)]).text == "a"
    assert len(world.requests) == 2


def test_a_layer_that_raises_closes_what_it_opened(face):
    async def layer(request, following):
        await following(request)
        raise LookupError("mine")

    world = World(Response(pieces("a"), STALL))
    with pytest.raises(LookupError, match="mine"):
        run(face, world, complete, layers=[face.layer(layer)])
    assert world.responses[0].closed


@pytest.mark.parametrize("returned", [None, "a stream", 7])
def test_a_layer_that_returns_something_else_is_a_config_error_and_closes(face, returned):
    async def layer(request, following):
        await following(request)
        return returned

    world = World(Response(pieces("a"), STALL))
    with pytest.raises(svir.ConfigError, match="must return the stream"):
        run(face, world, complete, layers=[face.layer(layer)])
    assert world.responses[0].closed


def test_a_layer_may_refuse_without_asking_anyone(face):
    async def layer(request, following):
        raise svir.UnsupportedError("not today")

    world = World()
    with pytest.raises(svir.UnsupportedError, match="not today"):
        run(face, world, complete, layers=[face.layer(layer)])
    assert world.requests == []


def test_a_layer_may_answer_with_the_stream_of_another_client(face):
    elsewhere = World(Response(answer("from elsewhere")))

    async def scenario(client):
        other = client_of(face, elsewhere)

        async def fall_back(request, following):
            try:
                return await following(request)
            except svir.TransportError:
                return other.stream(request)

        with_fallback = client.with_options(layers=[face.layer(fall_back)])
        return await with_fallback.complete("hi")

    assert run(face, World(Response(status=502)), scenario).text == "from elsewhere"


def test_a_layer_may_read_ahead(face):
    async def layer(request, following):
        stream = await following(request)
        assert await anext(stream) == TextDelta("a")
        return stream

    async def scenario(client):
        async with client.stream("hi") as stream:
            return [text async for text in stream.text()], (await stream.complete()).text

    assert run(face, World(Response(answer("a", "b"))), scenario, layers=[face.layer(layer)]) == (["b"], "ab")


def test_a_layer_shapes_the_stream_through_its_methods(face):
    seen = []

    async def layer(request, following):
        stream = await following(request)
        stream.first_token_by(time.monotonic() + 60)
        stream.complete_by(time.monotonic() + 60)
        stream.idle_timeout(0.5)
        stream.inspect(seen.append)
        return stream

    world = World(Response(answer("a")))
    completion = run(face, world, complete, layers=[face.layer(layer)])
    assert [type(item).__name__ for item in seen] == ["TextDelta", "Completed"]
    assert seen[-1].completion is completion
    assert world.log[1] == ("read", 0.5)


@pytest.mark.parametrize("not_a_layer", ["a word", 7, object()])
def test_what_is_no_function_is_no_layer(not_a_layer):
    for make in (svir.Client.openai, svir.AsyncClient.openai):
        with pytest.raises(svir.ConfigError, match="must be a function"):
            make(URL, layers=[not_a_layer])


def test_a_class_is_no_layer():
    for make in (svir.Client.openai, svir.AsyncClient.openai):
        with pytest.raises(svir.ConfigError, match=r"Retry\(\.\.\.\), not the class"):
            make(URL, layers=[Retry])


@pytest.mark.parametrize("method", [Retry.connect, Retry.transient, Timeout.total, Timeout.first_token])
def test_what_makes_a_layer_is_none(method):
    name = f"{method.__self__.__name__}.{method.__name__}"
    for make in (svir.Client.openai, svir.AsyncClient.openai):
        with pytest.raises(
            svir.ConfigError, match=rf"made before it is used: {name}\(\.\.\.\), not the method"
        ):
            make(URL, layers=[method])


def test_a_method_of_a_class_that_makes_no_layers_is_one():
    class Brief:
        @classmethod
        def layer(cls, request, following):
            return following(request.replace(system="Be brief."))

    with MockServer(["Because."]) as server:
        assert server.client(layers=[Brief.layer]).complete("Why?").text == "Because."
    assert server.requests[0].body["messages"][0]["content"] == "Be brief."


def test_layers_are_given_as_a_list():
    for make in (svir.Client.openai, svir.AsyncClient.openai):
        with pytest.raises(TypeError, match="layers must be a list of layers, not Retry"):
            make(URL, layers=Retry.connect(1))


def test_the_wrong_colour_is_refused_when_the_client_is_built():
    def plain(request, following):
        return following(request)

    async def coloured(request, following):
        return await following(request)

    class Coloured:
        async def __call__(self, request, following):
            return await following(request)

    class Plain:
        def __call__(self, request, following):
            return following(request)

    plain_ones = [plain, functools.partial(plain), Plain(), Plain().__call__]
    for layer in plain_ones:
        assert svir.Client.openai(URL, layers=[layer])
        with pytest.raises(svir.ConfigError, match="wrong colour: it must be async def"):
            svir.AsyncClient.openai(URL, layers=[layer])
    for layer in [coloured, functools.partial(coloured), Coloured(), Coloured().__call__]:
        assert svir.AsyncClient.openai(URL, layers=[layer])
        with pytest.raises(svir.ConfigError, match="wrong colour: it must be def"):
            svir.Client.openai(URL, layers=[layer])
    client = svir.Client.openai(URL)
    with pytest.raises(svir.ConfigError, match="wrong colour"):
        client.with_options(layers=[coloured])


# Layers written as steps, once for both faces


class Twice:
    """Tries again after a pause."""

    def steps(self, request, next, deadlines, server):  # noqa: A002 (the protocol's name)
        self.server = server
        try:
            return (yield from next(request, deadlines.with_idle(9)))
        except svir.TransportError:
            pass
        yield Sleep(2.5)
        return (yield from next(request, deadlines.with_idle(7)))


def test_a_layer_of_steps_works_under_both_faces(face):
    layer = Twice()
    world = World(Response(status=503), Response(answer("a")))
    assert run(face, world, complete, layers=[layer]).text == "a"
    assert ("sleep", 2.5) in world.log
    assert [entry[2] for entry in world.log if entry[0] == "send"] == [9, 7]
    assert (layer.server.host, layer.server.port, layer.server.api) == ("127.0.0.1", 1234, "openai.chat")


def test_what_lies_below_a_callers_layer_is_closed_when_steps_around_it_fail(face):
    class Refuse:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            yield from next(request, deadlines)
            raise svir.UnsupportedError("not like this")

    async def inner(request, following):
        return await following(request)

    world = World(Response(pieces("a"), STALL))
    with pytest.raises(svir.UnsupportedError, match="not like this"):
        run(face, world, complete, layers=[Refuse(), face.layer(inner)])
    assert world.responses[0].closed


def test_steps_that_are_interrupted_are_left_in_order(face):
    left = []

    class Watch:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            try:
                return (yield from next(request, deadlines))
            finally:
                left.append("watch")

    with pytest.raises(KeyboardInterrupt) as caught:
        run(face, World(KeyboardInterrupt()), complete, layers=[Watch()])
    assert left == ["watch"]
    assert caught.value is not None


def test_a_response_is_closed_when_what_follows_is_interrupted(face):
    class Pause:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            reply = yield from next(request, deadlines)
            yield Sleep(1)
            return reply

    world = World(Response(answer("a")))

    def interrupted(seconds, abort=None):
        raise KeyboardInterrupt

    world.sleep = interrupted
    with pytest.raises(KeyboardInterrupt):
        run(face, world, complete, layers=[Pause()])
    assert world.responses[0].closed


def test_what_is_no_step_is_a_programming_error(face):
    class Odd:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            yield "not a step"

    with pytest.raises(TypeError, match="no step: str"):
        run(face, World(), complete, layers=[Odd()])


def test_steps_may_close_a_response_themselves(face):
    class CloseFirst:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            reply = yield from next(request, deadlines)
            yield Close(reply.response)
            return (yield from next(request, Deadlines()))

    world = World(Response(pieces("lost"), STALL), Response(answer("a")))
    assert run(face, world, complete, layers=[CloseFirst()]).text == "a"
    assert world.names[:3] == ["send", "close", "send"]
