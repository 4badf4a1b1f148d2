"""A backend over aiohttp, for asyncio: faster where aiohttp's parser in C is, and at home in its programs.

aiohttp is given nothing to decide: no time-outs, redirects, cookies, proxies, decompression or headers of its
own. Sessions belong to an event loop, and die with it.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from svir.errors import ConfigError, Error
from svir.http._connection import complaint
from svir.http._net_asyncio import AsyncioNetwork
from svir.http._roundtrip import Deadlines, closed_error
from svir.http._settings import Settings
from svir.http._tls import TlsSettings
from svir.http._waits import AsyncWaits, running_loop

try:
    from svir.http._aiohttp_sending import Sending
    from svir.http._aiohttp_session import Session
except ModuleNotFoundError:
    raise ImportError('AiohttpBackend needs a package: pip install "svir[aiohttp]"') from None

if TYPE_CHECKING:
    import asyncio
    import ssl

    from svir.http._aiohttp_response import AiohttpResponse
    from svir.http._seam import Abort, HttpRequest

__all__ = ["AiohttpBackend"]

Sessions = dict["asyncio.AbstractEventLoop", Session]

_PARENTS: list[Sessions] = []
"""In a child process: what belongs to its parent. Kept, since letting go of it would close it."""


class AiohttpBackend(AsyncWaits, Settings):
    """Sends requests through aiohttp, under asyncio.

    Every event loop has its own connections. Close the backend before its loop ends: else the sockets that
    wait idle are left to the garbage collector, with a ``ResourceWarning``. A child process begins with no
    connections. No proxy, redirect, cookie or netrc is known here. What differs from the built-in backend is
    in a table of the page on backends.

    Args:
        max_connections: Most connections in use at once under each event loop; None: no limit. Waiting for
            one counts as connecting.
        ca_file: A PEM file of certificate authorities to trust instead of the system's.
        ssl_context: A context to use for TLS as it is; it must not negotiate anything but ``http/1.1``.

    Raises:
        svir.ConfigError: Both ``ca_file`` and ``ssl_context`` were given, or ``max_connections`` is under 1.
        TypeError: ``max_connections`` is no int, or ``ssl_context`` no ``ssl.SSLContext``.
        ImportError: aiohttp is not installed (by the import, already): ``pip install "svir[aiohttp]"``.

    Example:
        >>> import asyncio
        >>> from svir.http import AiohttpBackend
        >>> backend = AiohttpBackend(max_connections=20)
        >>> asyncio.run(backend.call(lambda: 1 + 1))
        2
        >>> backend.close()
    """

    def __init__(
        self,
        *,
        max_connections: int | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(max_connections=max_connections, ca_file=ca_file, ssl_context=ssl_context)
        self._tls = TlsSettings(ca_file, ssl_context)
        self._lock = threading.RLock()  # reentrant: a signal handler may close at any moment
        self._sessions: Sessions = {}
        self._sending: weakref.WeakSet[Sending] = weakref.WeakSet()
        self._responses: weakref.WeakSet[AiohttpResponse] = weakref.WeakSet()
        self._pid = os.getpid()
        self._closed = False
        weakref.finalize(self, _close_all, self._sessions)

    async def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> AiohttpResponse:
        """Sends a request and waits for the response's head; cancelling it shuts the connection.

        Raises:
            svir.ConfigError: No event loop is running, or it is not asyncio's.
        """
        if (wrong := complaint(request)) is not None:
            raise ConfigError(wrong, unsent=True)
        network = running_loop()[1]()
        if not isinstance(network, AsyncioNetwork):
            raise ConfigError("aiohttp runs under asyncio only", unsent=True)
        if self._closed:
            raise closed_error(unsent=True, client=True)
        context = self._tls.context() if request.origin.scheme == "https" else None
        deadlines = Deadlines(network.clock, connect, read, total)
        sending = Sending(request, network, self._session(network.loop), deadlines)
        self._sending.add(sending)
        if abort is not None:
            abort.attach(sending.scope.end)
        outcome = await sending.perform(context)
        if isinstance(outcome, Error):
            raise outcome
        outcome.backend = self
        self._responses.add(outcome)
        return outcome

    def close(self) -> None:
        """Shuts every connection, idle or not; readers that wait are woken with ``TransportError``.

        May be called from any thread, more than once, and never waits. A later ``send`` fails in the same
        way.
        """
        self._closed = True
        if self._pid != os.getpid():
            return
        for sending in list(self._sending):
            sending.scope.end()
        for response in list(self._responses):
            response.close()
        with self._lock:
            _close_all(self._sessions)

    def _session(self, loop: asyncio.AbstractEventLoop) -> Session:
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                _PARENTS.append(self._sessions.copy())
                self._sessions.clear()
            for old in [old for old in self._sessions if old.is_closed()]:
                _close(old, self._sessions.pop(old))
            if loop not in self._sessions:
                self._sessions[loop] = Session(self._max_connections)
            return self._sessions[loop]


def _close_all(sessions: Sessions) -> None:
    while sessions:
        _close(*sessions.popitem())


def _close(loop: asyncio.AbstractEventLoop, session: Session) -> None:
    """Closes a session, or has its loop do so."""
    if not loop.is_closed() and not AsyncioNetwork(loop).here():
        session.end()
        with suppress(RuntimeError):  # it was closed meanwhile
            loop.call_soon_threadsafe(session.close)
            return
    session.close()
