"""One event loop's connections of aiohttp, and what aiohttp is made to do through its own hooks.

1. aiohttp is given nothing to decide: no time-outs, redirects, cookies, proxies, decompression or headers of
   its own, and no limit of connections (its queue forgets whose turn it is when one in it is cancelled).
2. It shows the connection it took to the class of its requests (``_Asking.send``) before it sends. One on
   which something came while it was idle, the end included, is left for another: aiohttp would take that for
   the answer. The kernel is asked too, since the loop may not have read it yet.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, Self
from weakref import WeakKeyDictionary

import aiohttp

from svir.http._aiohttp_wire import shut_down
from svir.http._idle import IDLE_SECONDS
from svir.http._net import is_localhost, is_loopback

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult
    from aiohttp.connector import Connection

    from svir.http._aiohttp_wire import Sockets

__all__ = ["NotLocal", "Sender", "Session", "Stale", "current"]

FIELD_BYTES = 64 * 1024
"""Most bytes of a line of a head."""

FIELDS = 256
"""Most fields of a head: aiohttp bounds each, and how many there are, and takes in all of them first."""


class Sender(Protocol):
    """Who sends."""

    plain: bool
    """Whether that goes without TLS."""

    def knows(self, connection: Connection) -> bool:
        """Whether a request has gone out on it before."""
        ...

    def connected(self, connection: Connection) -> None:
        """Says that the request is about to go out."""
        ...


Looking = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""Looks at one socket; on Windows there is no better one."""

current: ContextVar[Sender] = ContextVar("svir_aiohttp_sender")
"""Who sends, where aiohttp is at work."""


class Session:
    """The connections of one event loop, which must be running.

    Args:
        max_connections: Most in use at once, or None.
    """

    def __init__(self, max_connections: int | None) -> None:
        self.sockets: Sockets = WeakKeyDictionary()
        """Those in use, and those that wait idle."""
        self.places = None if max_connections is None else asyncio.Semaphore(max_connections)
        """What a request needs one of."""
        self.client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=IDLE_SECONDS, resolver=_Resolver(), use_dns_cache=False
            ),
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_read=None, sock_connect=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            request_class=_Asking,
            response_class=_Answer,
            skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
            auto_decompress=False,
            trust_env=False,
            max_line_size=FIELD_BYTES,
            max_field_size=FIELD_BYTES,
            max_headers=FIELDS,
        )
        # It would send a GET again that the server may have read; there is no other switch.
        self.client._retry_connection = False  # noqa: SLF001

    def end(self) -> None:
        """Ends all of them for their servers, from any thread."""
        for sock in list(self.sockets.values()):
            shut_down(sock)

    def close(self) -> None:
        """Shuts all of them, in the loop's thread, or when the loop is gone."""
        self.end()
        if self.client.connector is not None:
            # The base's, a plain call. What it returns waits for the transports' last words, which need
            # nobody to wait; but aiohttp warns of what is never awaited.
            aiohttp.BaseConnector.close(self.client.connector, abort_ssl=True).__await__()


class Stale(Exception):  # noqa: N818 (a turn, not a failure)
    """Something has come on an idle connection: nothing may be sent there."""


class NotLocal(OSError):  # noqa: N818 (a value that aiohttp hands back)
    """A name that stands for this machine leads elsewhere."""


class _Asking(aiohttp.ClientRequest):
    """Shows who sends which connection it is, before a byte goes out."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        sender = current.get()
        if sender.knows(conn) and not _quiet(conn):
            raise Stale
        sender.connected(conn)
        return await super().send(conn)


def _quiet(connection: Connection) -> bool:
    """Whether a connection is open and nothing has come on it."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or protocol.should_close:
        return False
    with Looking() as looking:
        looking.register(transport.get_extra_info("socket"), selectors.EVENT_READ)
        return not looking.select(0)


class _Answer(aiohttp.ClientResponse):
    """Lets no connection be used again after an error: many servers close then, some without saying so."""

    async def start(self, connection: Connection) -> Self:
        protocol = connection.protocol
        await super().start(connection)
        if self.status >= 400 and protocol is not None:
            if self.connection is None:  # the whole answer has come: it waits idle, where nobody saw it yet
                protocol.close()
            else:
                protocol.force_close()
        return self


class _Resolver(aiohttp.ThreadedResolver):
    """Looks names up in a thread, whether or not aiodns is installed."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        if is_localhost(host) and current.get().plain:
            # RFC 6761, 6.3: what is sent there in plain text must not leave the machine.
            found = [way for way in found if is_loopback(way["host"])]
            if not found:
                raise NotLocal
        return found
