"""Network streams: everything but the waiting, which is all that the three faces differ in.

1. Every socket is non-blocking, and every operation is an *attempt*: a plain function that returns None when
   the kernel has nothing to say yet. A face gives one thing, ``Watch._wait``: repeat an attempt whenever the
   socket is ready, until it says something or the time is up. So connecting, sending, the look at what comes
   in while sending, and receiving are written once.
2. Failures are values (``Fault``), not exceptions: a foreign exception is translated where it is caught, and
   none can hang on an error of ours as its context.
3. The functions are ``async def`` on both faces. On the blocking one nothing ever suspends: ``_net_sync.run``
   runs such a coroutine to its end with a single ``send``.
4. Closing is a plain call, from any thread. ``closed`` is set first and decides what a failure means; while
   somebody waits, the socket is only shut down, and whoever waited closes it: else its number could be
   another's by then.
5. A child process only closes its copy of a socket: shutting it down would end the parent's connection, and
   taking it out of an event loop's selector would blind the parent's loop.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import threading
from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.http._lease import Lease
    from svir.http._seam import Origin

__all__ = [
    "Bell",
    "Fault",
    "Network",
    "Stream",
    "Tcp",
    "Watch",
    "connect_fault",
    "connect_tcp",
    "is_localhost",
    "is_loopback",
]

T = TypeVar("T")

READ_BYTES = 64 * 1024
"""Most bytes taken from the kernel at once."""


class Fault(Enum):
    """What went wrong on the network, in svir's words."""

    TIMEOUT = "the time is up"
    CLOSED = "closed by this program"
    LOST = "it was reset"
    NO_NAME = "the server's name was not found"
    NOT_LOCAL = "the server's name stands for this machine, and leads to none of its loopback addresses"
    REFUSED = "nothing accepts connections at the server's address and port"
    UNREACHABLE = "the server's address cannot be reached"
    NO_SOCKET = "this process could not open a socket"
    TLS_UNTRUSTED = "the server's certificate is not trusted here (ca_file= names an authority to trust)"
    TLS_EXPIRED = "the server's certificate has expired"
    TLS_EARLY = "the server's certificate is not valid yet"
    TLS_HOST = "the server's certificate was made for another host"
    TLS_INVALID = "the server's certificate is not valid"
    TLS_NONE = "the server does not speak TLS (its URL may have to begin with http:)"
    TLS_FAILED = "the TLS handshake failed"
    TLS_SILENT = "the TLS handshake took too long"
    TLS_PROTOCOL = "the TLS handshake chose another protocol than http/1.1 (see ssl_context=)"
    TLS_BROKEN = "the TLS connection broke"


class Watch(ABC):
    """Owns a socket: waits for it, and closes it. A face says how to wait.

    Args:
        sock: A non-blocking socket.
        clock: The face's clock.
    """

    def __init__(self, sock: socket.socket, clock: Callable[[], float]) -> None:
        self.sock = sock
        self.closed = False
        """Whether this program closed the connection."""
        self.busy = False
        """Whether somebody waits, or is about to."""
        self._clock = clock
        self._pid = os.getpid()
        self._lock = threading.RLock()  # reentrant: a garbage collection may come in between

    async def until(
        self, attempt: Callable[[], T | None], until: float | None, *, read: bool = True, write: bool = False
    ) -> T | None:
        """Repeats an attempt whenever the socket is ready, until it returns something.

        Args:
            attempt: What to do; returns None to wait on. Never raises.
            until: The moment on the face's clock to give up. When it has passed, one attempt is made.
            read: Whether being readable is being ready.
            write: Whether being writable is. Mostly it is, so the first attempt is made before waiting; what
                is to be read is mostly not there yet.

        Returns:
            What the attempt returned, or None when the time is up.
        """
        self.busy = True  # before ``closed`` is looked at: who closes looks at the two the other way round
        try:
            expired = until is not None and until <= self._clock()
            if write or expired or self.closed:
                outcome = attempt()
                if outcome is not None or expired:
                    return outcome
            return await self._wait(attempt, until, read, write)
        finally:
            self.busy = False
            if self.closed:
                self._close()

    def shut(self) -> None:
        """Closes the connection, at once and from anywhere; who waits for it is woken."""
        self.closed = True
        with self._lock:
            if not self.ours:
                self.sock.close()
            elif self._held():
                self._shutdown()
            else:
                self._close()

    def rest(self) -> None:  # noqa: B027 (only an event loop has something to undo)
        """Says that nobody will wait for a while."""

    @property
    def ours(self) -> bool:
        """Whether this is still the process that opened the socket."""
        return os.getpid() == self._pid

    def __del__(self) -> None:
        if hasattr(self, "sock"):  # else it was interrupted while it was made
            self.sock.close()  # shut down already, or not wanted any more

    @abstractmethod
    async def _wait(
        self, attempt: Callable[[], T | None], until: float | None, read: bool, write: bool
    ) -> T | None:
        """Waits for the socket and attempts, again and again."""

    def _held(self) -> bool:
        """Whether somebody else is to close the socket, now or later."""
        return self.busy

    def _shutdown(self) -> None:
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # not connected any more: whoever waits is woken all the same

    def _close(self) -> None:
        with self._lock:
            self.sock.close()


class Bell(Protocol):
    """Wakes the one who waits for it."""

    def ring(self) -> None:
        """Wakes the waiter, now or as soon as it waits; from any thread, and without a lock."""
        ...

    async def wait(self, until: float | None) -> None:
        """Waits until it rings or the time is up."""
        ...


class Network(Protocol):
    """What a face gives besides watching sockets."""

    def clock(self) -> float:
        """Seconds on the clock that deadlines are told in."""
        ...

    def watch(self, sock: socket.socket) -> Watch:
        """A watch for a new socket."""
        ...

    def bell(self) -> Bell:
        """A new bell."""
        ...

    async def call(
        self, function: Callable[[], T], until: float | None = None, lease: Lease | None = None
    ) -> T | Literal[Fault.TIMEOUT]:
        """Runs something that may block.

        The async faces do so in a worker thread, and give up in time or when the lease is shut.
        """
        ...

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        ...

    def here(self) -> bool:
        """Whether the caller runs under its event loop."""
        ...

    def ended(self) -> bool:
        """Whether its event loop is gone, so that nothing of it can be used again."""
        ...


class Stream(Protocol):
    """A connection as the exchange sees it: plain or over TLS."""

    sent: int
    """Bytes of the request that were handed to the network."""
    streamed: bool
    """Whether its last answer was of unknown length."""
    proved: set[bool]
    """After which kind of answers it has stayed open: those of known length (false), and streamed ones."""
    rested: float
    """When it became idle."""
    watch: Watch
    lease: Lease
    """Owns the connection."""

    async def read(self, until: float | None) -> bytes | Fault:
        """What comes next; empty when the server has ended its side."""
        ...

    async def write(self, data: memoryview, until: float | None, *, look: bool) -> int | bytes | Fault:
        """Sends some of it.

        Returns:
            How many bytes were taken (0 is progress too), or, with ``look``, what the server said meanwhile;
            then call again with the same data to go on.
        """
        ...

    def quiet(self) -> bool:
        """Whether the connection is open and nothing has come in: one that may be used again."""
        ...


class Tcp:
    """A plain connection."""

    def __init__(self, watch: Watch, lease: Lease) -> None:
        lease.hold(watch.shut)
        self.watch = watch
        self.lease = lease
        self.sent = 0
        self.streamed = False
        self.proved: set[bool] = set()
        self.rested = 0.0
        # A memoryview is a local of these functions, never bytes: what is sent holds the key.

    def take(self) -> bytes | Fault | None:
        """What has come in, without waiting."""
        try:
            return self.watch.sock.recv(READ_BYTES) if not self.watch.closed else Fault.CLOSED
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return self._lost()

    def give(self, data: memoryview) -> int | Fault | None:
        """How many bytes the kernel takes, without waiting."""
        try:
            taken = self.watch.sock.send(data)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return self._lost()
        self.sent += taken
        return taken

    async def read(self, until: float | None) -> bytes | Fault:
        got: bytes | Fault | None = await self.watch.until(self.take, until)
        if got is None:
            return Fault.TIMEOUT
        if self.watch.closed:
            return Fault.CLOSED
        return got

    async def write(self, data: memoryview, until: float | None, *, look: bool) -> int | bytes | Fault:
        def attempt() -> int | bytes | Fault | None:
            # Look first: a write after the server has answered and closed may be the one that loses the
            # answer.
            if look and (got := self.take()) is not None:
                return got
            return self.give(data)

        outcome: int | bytes | Fault | None = await self.watch.until(attempt, until, read=look, write=True)
        if outcome is None:
            return Fault.TIMEOUT
        if self.watch.closed:
            return Fault.CLOSED
        return outcome

    def quiet(self) -> bool:
        return not self.watch.closed and self.take() is None

    def _lost(self, fault: Fault = Fault.LOST) -> Fault:
        """What a failure means: nothing but a close, once this program has closed the connection."""
        return Fault.CLOSED if self.watch.closed else fault

    async def connect(self, address: tuple[object, ...], until: float | None) -> Fault | None:
        """Connects the socket; None when that worked."""

        def attempt() -> Fault | Literal[True] | None:
            if self.watch.closed:  # before all: a socket that was shut down would connect again
                return Fault.CLOSED
            try:
                code = self.watch.sock.connect_ex(address)
            except OSError:
                return self._lost(Fault.UNREACHABLE)
            if code in _UNDER_WAY:
                return None
            return True if code in _CONNECTED else _CONNECT_FAULTS.get(code, Fault.UNREACHABLE)

        outcome = await self.watch.until(attempt, until, read=False, write=True)
        if outcome is None:
            return Fault.TIMEOUT
        if isinstance(outcome, Fault):
            return outcome
        return Fault.REFUSED if _to_itself(self.watch.sock) else None


_UNDER_WAY = {errno.EINPROGRESS, errno.EALREADY, errno.EWOULDBLOCK, errno.EAGAIN, errno.EINTR}
_CONNECTED = {0, errno.EISCONN}
_NO_MORE_SOCKETS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_CONNECT_FAULTS = {errno.ECONNREFUSED: Fault.REFUSED, errno.ECONNRESET: Fault.REFUSED}


def _to_itself(sock: socket.socket) -> bool:
    """Whether the kernel joined the socket to itself, as it may when a free local port is asked."""
    try:
        return bool(sock.getsockname() == sock.getpeername())
    except OSError:
        return False


_LOCALHOST = re.compile(r"(?:^|\.)localhost\.?$", re.ASCII | re.IGNORECASE)
_LOOPBACK = re.compile(r"127\.|::1$|::ffff:127\.")


def is_localhost(host: str) -> bool:
    """Whether a name stands for this machine."""
    return _LOCALHOST.search(host) is not None


def is_loopback(address: object) -> bool:
    """Whether an address is one of this machine's own."""
    return _LOOPBACK.match(str(address)) is not None


def connect_fault(error: OSError) -> Fault:
    """Why a connection could not be made."""
    if error.errno in _NO_MORE_SOCKETS:
        return Fault.NO_SOCKET
    return _CONNECT_FAULTS.get(error.errno or 0, Fault.UNREACHABLE)


Address = tuple[int, tuple[object, ...]]


def _resolve(origin: Origin, flags: int = 0) -> list[Address]:
    """Family and address of each way to the server; none when there is none."""
    # As bytes: a string goes through Python's idna codec, whose import alone costs milliseconds.
    host = origin.host.encode("ascii", "replace")
    try:
        found = socket.getaddrinfo(host, origin.port, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, ValueError, OverflowError):
        return []
    return [(family, address) for family, _, _, _, address in found]


async def connect_tcp(network: Network, origin: Origin, until: float | None, lease: Lease) -> Tcp | Fault:
    """Connects to a server, trying each of its addresses.

    Args:
        network: The face.
        origin: The server.
        until: The moment to give up. An address gets its share of the time that is left, so that a dead one
            leaves some for the next.
        lease: Holds each socket before it connects, so that it can be shut meanwhile; ended by the caller.
    """
    fault = Fault.NO_NAME
    addresses = _resolve(origin, socket.AI_NUMERICHOST)
    if not addresses:  # a name, not a number: looking that up may block
        found = await network.call(lambda: _resolve(origin), until, lease)
        if isinstance(found, Fault):
            return found
        addresses = found
        if found and origin.scheme == "http" and is_localhost(origin.host):
            # RFC 6761, 6.3: what is sent there in plain text must not leave the machine.
            addresses = [way for way in found if is_loopback(way[1][0])]
            fault = Fault.NOT_LOCAL
    for index, (family, address) in enumerate(addresses):
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            fault = Fault.NO_SOCKET
            continue
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tcp = Tcp(network.watch(sock), lease)
        share = until
        if until is not None:
            now = network.clock()
            share = now + (until - now) / (len(addresses) - index)
        outcome = await tcp.connect(address, share)
        if outcome is None:
            return tcp
        tcp.watch.shut()
        if outcome is Fault.CLOSED:
            return outcome
        fault = outcome
    return fault
