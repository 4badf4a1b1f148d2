"""The connections below aiohttp: what can be done to one by a plain call, and how one ended.

A transport is aborted: its ``close`` would wait for what the server does not take. Since the loop does that
in its next turn, the socket is shut down before: so the server hears of it at once, whichever thread says so,
and even when the loop is gone.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import TYPE_CHECKING

from svir.http._net import Fault

if TYPE_CHECKING:
    import asyncio
    from weakref import WeakKeyDictionary

    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection

    Sockets = WeakKeyDictionary[ResponseHandler, socket.socket]

__all__ = ["Wire", "broken", "shut_down"]


class Wire:
    """The connection below a request.

    Args:
        connection: As aiohttp has it.
        sockets: Where its socket is noted.
    """

    def __init__(self, connection: Connection, sockets: Sockets) -> None:
        protocol, transport = connection.protocol, connection.transport
        self.lost = None if protocol is None else protocol.closed
        """Done when the connection has ended."""
        self._transport = transport
        self._sock: socket.socket | None = None
        if transport is not None and protocol is not None:
            self._sock = sockets[protocol] = transport.get_extra_info("socket")
        if self.lost is not None:
            self.lost.remove_done_callback(_seen)  # once a connection
            self.lost.add_done_callback(_seen)

    @property
    def speaks_http_1(self) -> bool:
        """Whether TLS, if any, agreed on that."""
        agreed = None if self._transport is None else self._transport.get_extra_info("ssl_object")
        return agreed is None or agreed.selected_alpn_protocol() in {None, "http/1.1"}

    def abort(self) -> None:
        """Ends it; in its loop's thread."""
        self.end()
        ended = self.lost is None or self.lost.done()
        if self._transport is not None and not ended:  # asyncio fails on one that has ended: anyio#1250
            self._transport.abort()

    def end(self) -> None:
        """Ends it for the server, from any thread."""
        if self._sock is not None:
            shut_down(self._sock)


def shut_down(sock: socket.socket) -> None:
    """Ends a connection for both sides, if it has not ended yet."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def broken(error: BaseException) -> Fault:
    """What broke a connection."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return Fault.TLS_BROKEN
        cause = cause.__cause__
    return Fault.LOST


def _seen(lost: asyncio.Future[None]) -> None:
    """Else asyncio complains that nobody asked why the connection ended."""
    if not lost.cancelled():
        lost.exception()
