"""Layers around toys in a scripted world, whose clock is the only one: no socket, and nothing waits."""

from __future__ import annotations

import pytest

import svir
from svir.client._async_streams import AsyncDriver, AsyncStream
from svir.client._sync_streams import Driver, Stream
from svir.exchange import Server, stack
from tests.support.faces import BlockingStream
from tests.support.world import exchange_of

WHOLE = b"+a\n.\n"
ASKED = svir.Request(messages="hi")


def stream_of(face, world, *layers, request=ASKED, **options):
    """A stream, in a face's colour, of a call that goes through layers to a world."""
    exchange = exchange_of(world, **options)
    origin = exchange.settings.base.origin
    server = Server(origin.host, origin.port, "toy", exchange.settings.model, world.clock)
    opening = stack(layers, exchange.open, server, colour="sync" if face.blocking else "async")

    def steps():
        return opening(request, exchange.deadlines())

    if face.blocking:
        return BlockingStream(Stream(Driver(world), steps))
    return AsyncStream(AsyncDriver(face.backend(world)), steps)


def call(face, world, *layers, **options):
    """The text of the answer to a call."""

    async def scenario():
        async with stream_of(face, world, *layers, **options) as stream:
            return (await stream.complete()).text

    return face.run(scenario)


def failing(face, world, *layers, **options):
    """The error a call fails with."""
    with pytest.raises(svir.Error) as caught:
        call(face, world, *layers, **options)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    return caught.value


def refused():
    """The failure of a connection that could not be made."""
    return svir.TransportError("no connection", unsent=True)


def pauses(world):
    """How long was slept."""
    return [entry[1] for entry in world.log if entry[0] == "sleep"]
