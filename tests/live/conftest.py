"""One real server for all of the live tests, and the three faces that ask it.

The model is tiny and its text is not reproducible: no test looks at what it says, only at what the server and
svir must do whatever it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
import trio

import svir
from svir.cli._local import LocalServer


@pytest.fixture(scope="session")
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        assert running.wait(120)
        yield running


class Sync:
    """The blocking face."""

    def __init__(self, connect: Callable[..., svir.Client]) -> None:
        self.connect = connect

    def complete(self, request, **options) -> svir.Completion:
        with self.connect(svir.Client, **options) as client:
            return client.complete(request)

    def events(self, request, **options) -> list[svir.Event]:
        with self.connect(svir.Client, **options) as client, client.stream(request) as stream:
            return list(stream)

    def raw(self, request, **options) -> bytes:
        with self.connect(svir.Client, **options) as client, client.send(request) as stream:
            return b"".join(stream)

    def models(self, **options):
        with self.connect(svir.Client, **options) as client:
            return client.models()

    def leave_after_one_event(self, request) -> svir.Event:
        with self.connect(svir.Client) as client, client.stream(request) as stream:
            return next(stream)

    def cancel_within(self, request, seconds: float) -> None:
        """The blocking face's way to stop a call that takes too long."""
        with pytest.raises(svir.RequestTimeoutError):
            self.complete(request, timeout=seconds)


class Async:
    """The asynchronous face under one of the two libraries."""

    def __init__(self, connect: Callable[..., svir.AsyncClient], run: Callable[..., object]) -> None:
        self.connect = connect
        self.run = run

    def complete(self, request, **options) -> svir.Completion:
        async def main():
            async with self.connect(svir.AsyncClient, **options) as client:
                return await client.complete(request)

        return self.run(main)

    def events(self, request, **options) -> list[svir.Event]:
        async def main():
            async with self.connect(svir.AsyncClient, **options) as client, client.stream(request) as stream:
                return [event async for event in stream]

        return self.run(main)

    def raw(self, request, **options) -> bytes:
        async def main():
            async with self.connect(svir.AsyncClient, **options) as client, client.send(request) as stream:
                return b"".join([data async for data in stream])

        return self.run(main)

    def models(self, **options):
        async def main():
            async with self.connect(svir.AsyncClient, **options) as client:
                return await client.models()

        return self.run(main)

    def leave_after_one_event(self, request) -> svir.Event:
        async def main():
            async with self.connect(svir.AsyncClient) as client, client.stream(request) as stream:
                return await anext(stream)

        return self.run(main)

    def cancel_within(self, request, seconds: float) -> None:
        async def main():
            async with self.connect(svir.AsyncClient) as client:
                if self.run is trio.run:
                    with trio.move_on_after(seconds) as scope:
                        await client.complete(request)
                    assert scope.cancelled_caught
                else:
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(seconds):
                            await client.complete(request)

        self.run(main)


def run_asyncio(main: Callable[[], object]) -> object:
    return asyncio.run(main())


@pytest.fixture(params=["sync", "asyncio", "trio"])
def face(request, server) -> Sync | Async:
    def connect(kind, **options):
        return kind.openai(server.url, **({"model": server.model, "api_key": server.api_key} | options))

    if request.param == "sync":
        return Sync(connect)
    return Async(connect, trio.run if request.param == "trio" else run_asyncio)
