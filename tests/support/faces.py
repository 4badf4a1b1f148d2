"""Both faces, under all that runs them, as one: a test is written once, as a coroutine.

``face.run(scenario)`` runs it: on the blocking face the coroutine never suspends, since every wrapped call
blocks; under asyncio and trio the clients are used as they are.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import trio

import svir
from tests.support.world import AsyncWorld


class Face:
    """One way to run svir.

    Attributes:
        name: ``sync``, ``asyncio`` or ``trio``.
    """

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    @property
    def blocking(self):
        return self.name == "sync"

    def run(self, scenario, *args):
        """Runs a coroutine function to its end."""
        if self.name == "trio":
            return trio.run(scenario, *args)
        if self.name == "asyncio":
            return asyncio.run(scenario(*args))
        return drive(scenario(*args))

    def client(self, url, **options):
        """A client of this face, wrapped where it blocks."""
        if not self.blocking:
            return svir.AsyncClient.openai(url, **options)
        return BlockingClient(svir.Client.openai(url, **options))

    def backend(self, world, **options):
        """A scripted world as a backend of this face's colour."""
        return world if self.blocking else AsyncWorld(world, **options)

    def layer(self, function):
        """A layer written as ``async def``, in this face's colour."""
        if not self.blocking:
            return function

        def layer(request, following):
            async def again(asked):
                return BlockingStream(following(asked))

            for name in ("host", "port", "api"):
                setattr(again, name, getattr(following, name))
            chosen = drive(function(request, again))
            return chosen.inner if isinstance(chosen, BlockingStream) else chosen

        return layer

    async def sleep(self, seconds):
        if self.name == "trio":
            await trio.sleep(seconds)
        elif self.name == "asyncio":
            await asyncio.sleep(seconds)


FACES = [Face("sync"), Face("asyncio"), Face("trio")]
ASYNC_FACES = FACES[1:]


def drive(coroutine):
    """Runs a coroutine that does not suspend."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise AssertionError("the blocking face suspended")


class BlockingIterator:
    def __init__(self, inner):
        self.inner = inner

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            item = next(self.inner)
        except StopIteration:
            pass
        else:
            return item
        raise StopAsyncIteration


class BlockingStream(BlockingIterator):
    def __getattr__(self, name):
        return getattr(self.inner, name)

    async def open(self):
        assert self.inner.open() is self.inner
        return self

    async def complete(self):
        return self.inner.complete()

    async def aclose(self):
        self.inner.close()

    def text(self):
        return BlockingIterator(self.inner.text())

    async def __aenter__(self):
        self.inner.__enter__()
        return self

    async def __aexit__(self, *exit_of):
        return self.inner.__exit__(*exit_of)


class BlockingClient:
    def __init__(self, inner):
        self.inner = inner

    def __repr__(self):
        return repr(self.inner)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def stream(self, *args, **fields):
        return BlockingStream(self.inner.stream(*args, **fields))

    def send(self, *args, **fields):
        return BlockingStream(self.inner.send(*args, **fields))

    def complete_all(self, *args, **fields):
        return BlockingStream(self.inner.complete_all(*args, **fields))

    def with_options(self, **changes):
        return BlockingClient(self.inner.with_options(**changes))

    async def complete(self, *args, **fields):
        return self.inner.complete(*args, **fields)

    async def models(self):
        return self.inner.models()

    async def aclose(self):
        self.inner.close()

    async def __aenter__(self):
        assert self.inner.__enter__() is self.inner
        return self

    async def __aexit__(self, *exit_of):
        return self.inner.__exit__(*exit_of)


@asynccontextmanager
async def closing(client):
    """Closes a client at the end of a block."""
    try:
        yield client
    finally:
        await client.aclose()
