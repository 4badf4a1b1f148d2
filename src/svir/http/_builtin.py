"""The built-in backends: HTTP/1.1 over sockets, under no event loop, asyncio or trio.

Both are one engine in two colours: the engine's coroutines never suspend on the blocking face, where they are
run to their end on the spot. What costs time to import (h11, ssl, socket, a loop) is imported at the first
request.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from svir.errors import ConfigError
from svir.http._settings import Settings
from svir.http._waits import AsyncWaits, SyncWaits, running_loop

if TYPE_CHECKING:
    import os
    import ssl
    from collections.abc import Callable, Coroutine

    from svir.http._engine import Engine
    from svir.http._net import Network
    from svir.http._pool import Pool
    from svir.http._roundtrip import Roundtrip
    from svir.http._seam import Abort, Headers, HttpRequest

__all__ = ["AsyncHttp11Backend", "AsyncHttp11Response", "Http11Backend", "Http11Response"]

_BLOCKING = "blocking"  # the key of the only pool of a blocking backend


class _Engines(Settings):
    """What both backends are made with, and the engine made of it at the first request."""

    def __init__(
        self,
        *,
        max_connections: int | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(max_connections=max_connections, ca_file=ca_file, ssl_context=ssl_context)
        self._lock = threading.RLock()  # reentrant: a signal handler may close what is just being made
        self._made: Engine | None = None
        self._closed = False

    def _engine(self) -> Engine:
        if self._made is None:
            from svir.http._engine import Engine

            with self._lock:
                if self._made is None:
                    self._made = Engine(self._max_connections, self._ca_file, self._ssl_context)
                    if self._closed:
                        self._made.close()
        return self._made

    def close(self) -> None:
        """Shuts every connection, idle or not; readers that wait are woken with ``TransportError``.

        May be called from any thread, more than once, and never waits. A later ``send`` fails in the same
        way.
        """
        with self._lock:
            self._closed = True
        if self._made is not None:
            self._made.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Http11Response:
    """A response of ``Http11Backend``; see ``HttpResponse``."""

    __slots__ = ("_run", "_trip", "headers", "status")

    status: int
    headers: Headers

    def __init__(self, trip: Roundtrip, run: Callable[[Coroutine[object, None, bytes]], bytes]) -> None:
        self._trip = trip
        self._run = run
        self.status = trip.status
        self.headers = trip.headers

    def read(self, timeout: float | None) -> bytes:
        """The next bytes of the body, empty at its end; see ``HttpResponse.read``."""
        return self._run(self._trip.read(timeout))

    def close(self) -> None:
        """Ends the exchange, from any thread; see ``HttpResponse.close``."""
        self._trip.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status}, {self.headers!r})"


class AsyncHttp11Response:
    """A response of ``AsyncHttp11Backend``; see ``AsyncHttpResponse``. It belongs to its event loop."""

    __slots__ = ("_trip", "headers", "status")

    status: int
    headers: Headers

    def __init__(self, trip: Roundtrip) -> None:
        self._trip = trip
        self.status = trip.status
        self.headers = trip.headers

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract)
        """The next bytes of the body, empty at its end; cancelling it shuts the connection."""
        if not self._trip.network.here():
            raise ConfigError("a response can only be read under the event loop it was made under")
        return await self._trip.read(timeout)

    def close(self) -> None:
        """Ends the exchange by a plain call; see ``HttpResponse.close``."""
        self._trip.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status}, {self.headers!r})"


class Http11Backend(SyncWaits, _Engines):
    """Sends requests over HTTP/1.1, blocking. Threads may share it.

    Connections are kept and used again; at most 64 wait idle, for at most 120 seconds each. No proxy,
    redirect, cookie or netrc is known here, and no environment variable counts but OpenSSL's own
    SSL_CERT_FILE and SSL_CERT_DIR. A child process begins with no connections. The time of name lookups and
    of disk reads is outside the deadlines: Python cannot interrupt them.

    Args:
        max_connections: Most connections open at once, idle ones included (under each event loop); None: no
            limit. Waiting for one counts as connecting.
        ca_file: A PEM file of certificate authorities to trust instead of the system's.
        ssl_context: A context to use for TLS as it is; it must not negotiate anything but ``http/1.1``.

    Raises:
        svir.ConfigError: Both ``ca_file`` and ``ssl_context`` were given, or ``max_connections`` is under 1.
        TypeError: ``max_connections`` is no int, or ``ssl_context`` no ``ssl.SSLContext``.

    Example:
        >>> from svir.http import Http11Backend
        >>> backend = Http11Backend()
        >>> backend.call(lambda: 1 + 1)
        2
        >>> backend.close()
    """

    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> Http11Response:
        """Sends a request and waits for the response's head; see ``Backend.send``."""
        from svir.http._net_sync import SyncNetwork, run
        from svir.http._roundtrip import Deadlines

        engine = self._engine()
        pool = engine.pool(_BLOCKING, SyncNetwork)
        deadlines = Deadlines(pool.network.clock, connect, read, total)
        return Http11Response(run(engine.send(pool, request, deadlines, abort)), run)


class AsyncHttp11Backend(AsyncWaits, _Engines):
    """Sends requests over HTTP/1.1 under asyncio or trio, whichever is running.

    It may be used from several event loops, at once or one after the other: each has its own connections.
    Names are looked up, and bodies on disk are read, in worker threads, within the deadlines. Everything else
    is as with ``Http11Backend``.

    Args:
        max_connections: Most connections open at once, idle ones included (under each event loop); None: no
            limit. Waiting for one counts as connecting.
        ca_file: A PEM file of certificate authorities to trust instead of the system's.
        ssl_context: A context to use for TLS as it is; it must not negotiate anything but ``http/1.1``.

    Raises:
        svir.ConfigError: Both ``ca_file`` and ``ssl_context`` were given, or ``max_connections`` is under 1.
        TypeError: ``max_connections`` is no int, or ``ssl_context`` no ``ssl.SSLContext``.

    Example:
        >>> import asyncio
        >>> from svir.http import AsyncHttp11Backend
        >>> asyncio.run(AsyncHttp11Backend().call(lambda: 1 + 1))
        2
    """

    async def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> AsyncHttp11Response:
        """Sends a request and waits for the response's head; cancelling it shuts the connection.

        Raises:
            svir.ConfigError: No event loop is running, or one that cannot watch sockets.
        """
        from svir.http._roundtrip import Deadlines

        pool = self._pool()
        deadlines = Deadlines(pool.network.clock, connect, read, total)
        return AsyncHttp11Response(await self._engine().send(pool, request, deadlines, abort))

    def _network(self) -> Network:
        return self._pool().network

    def _pool(self) -> Pool:
        return self._engine().pool(*running_loop())
