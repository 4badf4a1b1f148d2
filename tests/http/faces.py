"""The same test on three faces: a test body is a coroutine, which on the blocking face never suspends."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import httpx2
import trio
import trio.testing

import svir
from svir.http import (
    Abort,
    AiohttpBackend,
    AsyncHttp11Backend,
    AsyncHttpx2Backend,
    Headers,
    Http11Backend,
    HttpRequest,
    Httpx2Backend,
    Origin,
)
from svir.http._tls import TlsSettings
from tests.support.loopback import Loopback

FACES = ("sync", "asyncio", "trio", "asyncio:aiohttp", "sync:httpx2", "asyncio:httpx2", "trio:httpx2")
"""Each way to send; behind a colon the library whose backend it is."""


class Bytes:
    """The least a body must be."""

    def __init__(self, *blocks: bytes, in_memory: bool = True) -> None:
        self.blocks = blocks
        self.in_memory = in_memory

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.blocks)


def post(server: Loopback | Origin, body: Any = None, **headers: str) -> HttpRequest:
    """A request with a secret in it."""
    origin = server.origin if isinstance(server, Loopback) else server
    fields = [("authorization", "Bearer sk-secret"), *headers.items()]
    return HttpRequest(
        method="POST",
        origin=origin,
        target="/v1/chat?key=sk-query",
        headers=Headers(fields),
        body=Bytes(b"{}") if body is None else body,
    )


class Face:
    """Sends and reads under one of the faces.

    Args:
        name: ``sync``, ``asyncio`` or ``trio``, with a backend of another library behind a colon.
    """

    def __init__(self, name: str) -> None:
        self.name, _, self.library = name.partition(":")
        self.is_async = self.name != "sync"
        self._made: list[Any] = []
        self._clients: list[Any] = []
        self._closings: list[Any] = []

    def run(self, body: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return self._run(self._tidied(body) if self.library else body)

    def _run(self, body: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        if self.name == "asyncio":
            return asyncio.run(body())
        if self.name == "trio":
            return trio.run(body)
        coroutine = body()
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("a test of the blocking face suspended")

    def _tidied(self, body: Callable[[], Coroutine[Any, Any, Any]]) -> Callable[[], Coroutine[Any, Any, Any]]:
        """A built-in backend may be left open when its loop ends; others are closed before."""

        async def main() -> Any:
            try:
                return await body()
            finally:
                for made in self._made:
                    if (backend := made()) is not None:
                        backend.close()
                self._made.clear()
                if self.name == "asyncio":
                    await asyncio.sleep(0)
                while self._closings:
                    if (closing := self._closings.pop()) is not None:
                        await closing
                while self._clients:
                    client = self._clients.pop()
                    if self.is_async:
                        await client.aclose()
                    else:
                        client.close()

        return main

    def backend(self, **options: Any) -> Any:
        if self.library == "aiohttp":
            backend = AiohttpBackend(**options)
            self._made.append(weakref.ref(backend))
            return backend
        if self.library == "httpx2":
            return self._httpx2(**options)
        return AsyncHttp11Backend(**options) if self.is_async else Http11Backend(**options)

    def _httpx2(self, max_connections: int | None = None, **tls: Any) -> Any:
        """A backend round a client that is set up as the built-in one is."""
        context = TlsSettings(tls.get("ca_file"), tls.get("ssl_context")).context() if tls else False
        limits = httpx2.Limits(max_connections=max_connections)
        kind = httpx2.AsyncClient if self.is_async else httpx2.Client
        client = kind(verify=context, limits=limits, trust_env=False)
        backend = AsyncHttpx2Backend(client) if self.is_async else Httpx2Backend(client)
        self._made.append(weakref.ref(backend))
        self._clients.append(client)
        return backend

    async def send(
        self,
        backend: Any,
        request: HttpRequest,
        *,
        connect: float | None = 5,
        read: float | None = 5,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> Any:
        sent = backend.send(request, connect=connect, read=read, total=total, abort=abort)
        response = await sent if self.is_async else sent
        if self.is_async and self.library == "httpx2":
            kept, real = weakref.ref(response), type(response).close
            # What it returns is awaited when the test is over; a client does so at once.
            response.close = lambda: self._closings.append(real(kept()))
        return response

    async def read(self, response: Any, seconds: float | None = 5) -> bytes:
        data = response.read(seconds)
        return await data if self.is_async else data

    async def rest(self, response: Any, seconds: float | None = 5) -> bytes:
        pieces = []
        while piece := await self.read(response, seconds):
            pieces.append(piece)
        return b"".join(pieces)

    async def exchange(self, backend: Any, request: HttpRequest) -> bytes:
        """A whole exchange; the body's bytes."""
        response = await self.send(backend, request)
        body = await self.rest(response)
        response.close()
        return body

    async def beside(self, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
        """Lets the first wait, runs the second, and returns what the first returned (or its error)."""
        outcome: list[Any] = []

        async def noted() -> None:
            try:
                outcome.append(await first())
            except svir.Error as error:
                outcome.append(error)

        if self.name == "asyncio":
            task = asyncio.create_task(noted())
            await asyncio.sleep(0.02)
            await second()
            await task
        elif self.name == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(noted)
                await trio.testing.wait_all_tasks_blocked(0.02)
                await second()
        else:
            thread = threading.Thread(target=lambda: self._run(noted))
            thread.start()
            thread.join(0.02)
            await second()
            thread.join(5)
        return outcome[0]

    async def until(self, event: threading.Event) -> bool:
        """Waits for the server. A built-in backend needs no turn of its loop meanwhile; others do."""
        return await self.call(lambda: event.wait(5)) if self.library else event.wait(5)

    def open(self, backend: Any) -> int:
        """How many connections a backend has."""
        if self.library == "aiohttp":
            return sum(len(session.client.connector._acquired) for session in backend._sessions.values())
        if self.library == "httpx2":
            return len(backend._client._transport._pool._requests)
        return sum(len(pool.live) for pool in backend._engine()._pools.values())

    async def call(self, function: Callable[[], Any]) -> Any:
        """Waits for something of the test's own, without holding up a loop."""
        if self.name == "asyncio":
            return await asyncio.to_thread(function)
        if self.name == "trio":
            return await trio.to_thread.run_sync(function)
        return function()


class Timed:
    """Asserts that a block ends at a moment, or soon after it."""

    LATE = 3.0
    """Seconds, since a machine may be busy. What waits for the wrong thing in these tests waits longer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        self.begin = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None or issubclass(kind, svir.Error):
            took = time.monotonic() - self.begin
            assert self.seconds - 0.01 <= took < self.seconds + self.LATE, took


LIBRARIES = {"h11", "ssl", "socket", "truststore", "aiohttp", "httpx2", "httpcore2", "anyio"}


def assert_clean(error: BaseException) -> None:
    """Nothing of the request's secrets, the URL or the server's words is reachable from an error."""
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = f"{error} {error!r} {error.args!r} {vars(error)!r}"
    for word in ("sk-secret", "sk-query", "127.0.0.1", "localhost", "/v1/chat", "evil"):
        assert word not in shown
    trace = error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        assert module.partition(".")[0] not in LIBRARIES, module
        if module.startswith("svir."):
            for name, value in trace.tb_frame.f_locals.items():
                assert "sk-secret" not in repr(value), (module, name)
        trace = trace.tb_next
