"""Backends round a client of httpx2, set up by its maker: with proxies, certificates, HTTP/2, or limits.

The client stays its maker's. What goes through it is decided here (see ``_httpx2_exchange``), how it gets
there is the client's.
"""

from __future__ import annotations

import os
import time
import weakref
from typing import TYPE_CHECKING, Any

from svir.errors import ConfigError, Error, ProtocolError
from svir.http._connection import NO_HTTP, complaint
from svir.http._roundtrip import Deadlines, closed_error
from svir.http._scopes import scope
from svir.http._waits import AsyncWaits, SyncWaits, running_loop
from svir.http._watchdog import Line, Watchdog

try:
    import httpx2

    from svir.http._httpx2_exchange import Exchange
    from svir.http._httpx2_response import AsyncHttpx2Response, Httpx2Response
except ModuleNotFoundError:
    raise ImportError('Httpx2Backend needs a package: pip install "svir[httpx2]"') from None

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Hashable, Iterator, Mapping

    from svir.http._net import Network
    from svir.http._scopes import Scope
    from svir.http._seam import Abort, HttpRequest

__all__ = ["AsyncHttpx2Backend", "Httpx2Backend"]


class _Body(httpx2.SyncByteStream):
    def __init__(self, exchange: Exchange) -> None:
        self._upload = exchange.upload

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._upload)


class _AsyncBody(httpx2.AsyncByteStream):
    def __init__(self, exchange: Exchange, network: Network) -> None:
        self._upload = exchange.upload
        self._network = network

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._upload.pieces(self._network)


class Httpx2Backend(SyncWaits):
    """Sends requests through a client of httpx2, blocking. Threads may share it.

    The client decides how: proxies, certificates, HTTP/2, limits of connections. What it would add to a
    request (headers, cookies, authorization) is left out, and redirects are not followed. **It reads proxies
    from the environment unless it was made with** ``trust_env=False``. On a connection that was used before,
    httpx2 tells only with the head which socket it is: until then a deadline ends the silence between two
    bytes, or the sending at its next 64 KiB, and not a head that trickles. Closing the backend ends its
    exchanges; the client, and its idle connections, are closed by who made it. What differs from the built-in
    backend is in a table of the page on backends.

    Args:
        client: The client.

    Raises:
        TypeError: It is none.
        ImportError: httpx2 is not installed (by the import, already): ``pip install "svir[httpx2]"``.

    Example:
        >>> import httpx2
        >>> from svir.http import Httpx2Backend
        >>> with httpx2.Client(proxy="http://127.0.0.1:3128", trust_env=False) as client:
        ...     Httpx2Backend(client).call(lambda: 1 + 1)
        2
    """

    def __init__(self, client: httpx2.Client) -> None:
        if not isinstance(client, httpx2.Client):
            raise TypeError(f"client must be an httpx2.Client, not {type(client).__name__}")
        self._client = client
        self._watchdog = Watchdog()
        self._lines: weakref.WeakSet[Line] = weakref.WeakSet()
        self._responses: weakref.WeakSet[Httpx2Response] = weakref.WeakSet()
        self._pid = os.getpid()
        self._closed = False

    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> Httpx2Response:
        """Sends a request and waits for the response's head; see ``Backend.send``."""
        _check(request, self._pid, closed=self._closed or self._client.is_closed)
        deadlines = Deadlines(time.monotonic, connect, read, total)
        line = Line(self._watchdog)
        self._lines.add(line)
        if abort is not None:
            abort.attach(line.end)
        connecting, silence = _nearest(connect, total), _nearest(read, total)
        timeouts = {"connect": connecting, "pool": connecting, "read": silence, "write": silence}

        def progress() -> None:
            line.wait(deadlines.end())
            exchange.upload.wanted = not (line.ended or line.expired)

        def asked() -> None:
            line.wait(deadlines.silence())

        exchange = Exchange(request, deadlines, timeouts, progress, asked, line)
        response: httpx2.Response | None = None
        failure: Error | type[httpx2.TimeoutException] = ProtocolError(NO_HTTP)
        try:
            exchange.upload.begin()
            line.wait(deadlines.connecting())
            if not line.ended:
                response = self._client.send(
                    exchange.message(_Body(exchange), exchange.traced),
                    stream=True,
                    auth=None,
                    follow_redirects=False,
                )
        except BaseException as error:
            line.let_go()
            if not isinstance(error, Exception):
                raise
            failure = exchange.head_failure(error)
        finally:
            line.rest()
        if response is not None and response.status_code != 101 and not line.expired:
            answer = Httpx2Response(response, exchange, line)
            self._responses.add(answer)
            return answer
        if response is not None:
            response.close()
        raise exchange.failed(failure, ended=line.ended, over=line.expired)

    def close(self) -> None:
        """Ends every exchange; readers that wait are woken with ``TransportError``.

        May be called from any thread, more than once, and never waits. The client stays open. A later
        ``send`` fails in the same way. One that waits for a place in the client's pool or for a TCP
        connection fails so when ``connect`` is over; for a head on a connection that was used before, when
        the server speaks, or ``read`` is over.
        """
        self._closed = True
        for response in list(self._responses):
            response.close()
        for line in list(self._lines):
            line.end()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class AsyncHttpx2Backend(AsyncWaits):
    """Sends requests through an asynchronous client of httpx2, under asyncio or trio.

    It belongs to the event loop it is first used under, as the client does. Everything else is as with
    ``Httpx2Backend``.

    Args:
        client: The client.

    Raises:
        TypeError: It is none.
        ImportError: httpx2 is not installed (by the import, already): ``pip install "svir[httpx2]"``.

    Example:
        >>> import asyncio, httpx2
        >>> from svir.http import AsyncHttpx2Backend
        >>> async def main():
        ...     async with httpx2.AsyncClient(trust_env=False) as client:
        ...         return await AsyncHttpx2Backend(client).call(lambda: 1 + 1)
        >>> asyncio.run(main())
        2
    """

    def __init__(self, client: httpx2.AsyncClient) -> None:
        if not isinstance(client, httpx2.AsyncClient):
            raise TypeError(f"client must be an httpx2.AsyncClient, not {type(client).__name__}")
        self._client = client
        self._watchdog = Watchdog()  # never begun: here every wait is a scope
        self._scopes: weakref.WeakSet[Any] = weakref.WeakSet()
        self._responses: weakref.WeakSet[AsyncHttpx2Response] = weakref.WeakSet()
        self._pid = os.getpid()
        self._loop: Hashable = None
        self._closed = False

    async def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> AsyncHttpx2Response:
        """Sends a request and waits for the response's head; cancelling it shuts the connection.

        Raises:
            svir.ConfigError: No event loop is running, or it is another than before.
        """
        _check(request, self._pid, closed=self._closed or self._client.is_closed)
        loop, make = running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise ConfigError("an httpx2 client belongs to the event loop of its first use", unsent=True)
        network = make()
        deadlines = Deadlines(network.clock, connect, read, total)
        line = Line(self._watchdog)
        waiting = scope(deadlines.end())
        self._scopes.add(waiting)
        if abort is not None:
            abort.attach(waiting.end)
        timeouts = {"connect": None, "pool": None, "read": read, "write": read}
        exchange = Exchange(
            request,
            deadlines,
            timeouts,
            lambda: waiting.move(deadlines.end()),
            lambda: waiting.move(deadlines.silence()),
            line,
        )

        async def trace(name: str, info: Mapping[str, Any]) -> None:
            exchange.traced(name, info)

        response: httpx2.Response | None = None
        failure: Error | type[httpx2.TimeoutException] = ProtocolError(NO_HTTP)
        try:
            async with waiting:
                await exchange.upload.begin_in(network)
                waiting.move(deadlines.connecting())
                response = await self._client.send(
                    exchange.message(_AsyncBody(exchange, network), trace),
                    stream=True,
                    auth=None,
                    follow_redirects=False,
                )
        except BaseException as error:
            await exchange.drop()
            if not isinstance(error, Exception):
                raise
            failure = exchange.head_failure(error)
        if response is not None and response.status_code != 101:
            answer = AsyncHttpx2Response(response, exchange, line, network)
            self._responses.add(answer)
            return answer
        await exchange.drop()
        if response is not None:
            await response.aclose()
        raise exchange.failed(failure, ended=waiting.ended, over=waiting.over)

    def close(self) -> None:
        """Ends every exchange by a plain call, from any thread; see ``Httpx2Backend.close``."""
        self._closed = True
        waiting: Scope
        for waiting in list(self._scopes):
            waiting.end()
        for response in list(self._responses):
            response.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _check(request: HttpRequest, pid: int, *, closed: bool) -> None:
    if (wrong := complaint(request)) is not None:
        raise ConfigError(wrong, unsent=True)
    if pid != os.getpid():
        raise ConfigError(
            "an httpx2 client's connections are its process's: make another in this one", unsent=True
        )
    if closed:
        raise closed_error(unsent=True, client=True)


def _nearest(seconds: float | None, total: float | None) -> float | None:
    return min((one for one in (seconds, total) if one is not None), default=None)
