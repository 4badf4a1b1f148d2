"""Which connection a request goes out on: one engine for every face.

1. Connections belong to a pool, and a pool to one event loop (the blocking face has one). A pool whose loop
   is gone is cleared at the next request; its loop is not asked for anything, since it is closed.
2. A request goes out again, once and on a fresh connection, only when a *reused* connection failed before a
   byte of it was handed over. Anything else may have been read by the server.
3. A child process begins anew and closes its copies of idle sockets.
4. Errors come back as values and are raised here, outside every handler: none has a context.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

from svir.errors import Error, TransportError
from svir.http._connection import Connection
from svir.http._net import Fault, connect_tcp
from svir.http._pool import Pool
from svir.http._roundtrip import Deadlines, Roundtrip, closed_error
from svir.http._seam import Abort
from svir.http._tls import TlsSettings, TlsStream

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Hashable

    from svir.http._lease import Lease
    from svir.http._net import Network, Stream
    from svir.http._seam import HttpRequest, Origin

__all__ = ["Engine"]


class Engine:
    """Sends requests on any face.

    Args:
        max_connections: Most connections of a pool, or None.
        ca_file: A file of certificate authorities to trust instead of the system's.
        ssl_context: A context to use as it is.
    """

    def __init__(
        self,
        max_connections: int | None,
        ca_file: str | os.PathLike[str] | None,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self._max_connections = max_connections
        self._tls = TlsSettings(ca_file, ssl_context)
        self._pools: dict[Hashable, Pool] = {}
        self._pid = os.getpid()
        self._lock = threading.RLock()  # reentrant, for a signal handler that asks something itself
        self._closed = False
        # Runs at exit too, before modules are torn down: an idle socket gives no warning there.
        weakref.finalize(self, _shut_idle, self._pools)

    def pool(self, key: Hashable, network: Callable[[], Network]) -> Pool:
        """The pool of a loop, made at its first request.

        Args:
            key: The loop.
            network: Makes its network.
        """
        if self._pid != os.getpid():
            self._begin_anew()
        pool = self._pools.get(key)
        if pool is None:
            with self._lock:
                for old in [old for old, pool in self._pools.items() if pool.network.ended()]:
                    self._pools.pop(old).close()
                pool = self._pools.setdefault(key, Pool(network(), self._max_connections))
        return pool

    async def send(
        self, pool: Pool, request: HttpRequest, deadlines: Deadlines, abort: Abort | None = None
    ) -> Roundtrip:
        """Sends a request and waits for the response's head; see ``Backend.send``."""
        connection = Connection(request)
        abort = Abort() if abort is None else abort
        found = await self._stream(pool, request.origin, deadlines, abort)
        while not isinstance(found, Error):
            stream, reused = found
            abort.attach(stream.watch.shut)
            trip = Roundtrip(connection, stream, pool.network, pool.keeper(request.origin))
            failure = await trip.open(request.body, deadlines)
            if failure is None:
                return trip
            lost = reused and failure.retryable and isinstance(failure, TransportError)
            if lost:
                pool.broke(request.origin, stream)
            if not (lost and failure.unsent):
                raise failure
            connection = Connection(request)
            found = await self._stream(pool, request.origin, deadlines, abort, fresh=True)
        raise found

    def close(self) -> None:
        """Shuts every connection of this process; requests after that are refused."""
        self._closed = True
        if self._pid == os.getpid():
            for pool in list(self._pools.values()):
                pool.close()

    async def _stream(
        self, pool: Pool, origin: Origin, deadlines: Deadlines, abort: Abort, *, fresh: bool = False
    ) -> tuple[Stream, bool] | Error:
        """A connection and whether it was used before, or why there is none."""
        until = deadlines.connecting()
        while True:
            if self._ended(abort):
                return closed_error(unsent=True, client=self._closed)
            if not fresh and (idle := await pool.take(origin, abort)) is not None:
                return idle, True
            if (lease := pool.reserve()) is not None:
                break
            if not await pool.room(until, abort):
                return deadlines.over(connecting=True)
        try:
            made = await self._connect(pool, origin, until, lease, abort)
        except BaseException:
            lease.end()  # at once: the traceback holds it still
            raise
        if not isinstance(made, Fault):
            return made, False
        lease.end()
        if made is Fault.CLOSED or self._ended(abort):
            return closed_error(unsent=True, client=self._closed)
        if made in {Fault.TIMEOUT, Fault.TLS_SILENT}:
            return deadlines.over(connecting=True, handshake=made is Fault.TLS_SILENT)
        return TransportError(made.value, unsent=True)

    async def _connect(
        self, pool: Pool, origin: Origin, until: float | None, lease: Lease, abort: Abort
    ) -> Stream | Fault:
        if self._ended(abort):  # meanwhile
            return Fault.CLOSED
        context = self._tls.context() if origin.scheme == "https" else None
        abort.attach(lease.shut)
        tcp = await connect_tcp(pool.network, origin, until, lease)
        if isinstance(tcp, Fault):
            return tcp
        stream: Stream | Fault = tcp
        if context is not None:
            secure = TlsStream(tcp, context, origin.host)
            fault = await secure.handshake(until)
            stream = fault or secure
            if fault is Fault.TIMEOUT:
                stream = Fault.TLS_SILENT  # the server is there: its address and port are right
        return Fault.CLOSED if self._ended(abort) else stream

    def _ended(self, abort: Abort) -> bool:
        return self._closed or abort.asked

    def _begin_anew(self) -> None:
        """Forgets the parent's connections: in a child process ``shut`` closes its copies only."""
        self._lock = threading.RLock()  # the old one may be held by a thread that the child does not have
        self._pid = os.getpid()
        for pool in self._pools.values():
            pool.abandon()
        self._pools.clear()


def _shut_idle(pools: dict[Hashable, Pool]) -> None:
    for pool in list(pools.values()):
        pool.shut_idle()
