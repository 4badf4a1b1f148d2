"""Raw scripted servers on loopback, for tests of everything that talks HTTP.

A server follows one script per connection, in the order the connections come::

    with Loopback(
        [Request(), Send(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok"), Cut()]
    ) as server:
        ...  # talk to server.origin
    assert server.requests[0].body == b"{}"

A script is a list of acts. Each act is performed on the connection, in a thread of its own; an act that
cannot be performed, or a connection without a script, fails the test when the block is left. Nothing here
knows HTTP beyond ``Request``, which reads one request by its content-length. ``tls=`` puts TLS of trustme in
front of the acts.

Waiting is done on the other side's doing, or on an event the test sets: never by the clock alone, except for
``Pause``, which paces bytes where a test is about pace.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from svir.http import Origin

PATIENCE = 10.0
"""Seconds after which a server gives up waiting: a test that gets here has failed."""


@dataclass
class Received:
    """A request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int


@dataclass
class Peer:
    """One connection, while its script runs."""

    sock: socket.socket
    server: Loopback
    number: int
    left_over: bytes = b""
    open: bool = True

    @property
    def last(self) -> Received:
        """The last request on this connection; others may have come on other ones since."""
        return next(one for one in reversed(self.server.requests) if one.connection == self.number)

    def recv(self) -> bytes:
        if self.left_over:
            data, self.left_over = self.left_over, b""
            return data
        data = self.sock.recv(65536)
        self.server.taken += len(data)
        return data


class Unasked(AssertionError):  # noqa: N818 (what the client did not do)
    """A request did not come, or not whole."""


class Act:
    def perform(self, peer: Peer) -> None:
        raise NotImplementedError


@dataclass
class Request(Act):
    """Reads one request, head and body, and records it. ``body=False`` leaves the body unread."""

    body: bool = True

    def perform(self, peer: Peer) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = peer.recv()
            if not more:
                raise Unasked(f"connection {peer.number} ended before a request came ({len(data)} bytes)")
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)}
        chunks = [rest]
        length = int(headers.get("content-length", 0)) if self.body else 0
        have = len(rest)
        while have < length:
            chunk = peer.recv()
            if not chunk:
                raise Unasked(f"connection {peer.number} ended inside a request's body")
            chunks.append(chunk)
            have += len(chunk)
        whole = b"".join(chunks)
        if self.body:
            peer.left_over = whole[length:]
            whole = whole[:length]
        peer.server.record(Received(line, headers, whole, peer.number))


@dataclass
class Serve(Act):
    """Answers each request with the next of the answers, round and round, until the other side ends."""

    answers: tuple[bytes, ...]

    def perform(self, peer: Peer) -> None:
        for answer in itertools.cycle(self.answers):
            first = peer.recv()
            if not first:
                return
            peer.left_over = first
            Request().perform(peer)
            peer.sock.sendall(answer)


@dataclass
class Send(Act):
    """Sends bytes."""

    data: bytes

    def perform(self, peer: Peer) -> None:
        peer.sock.sendall(self.data)


@dataclass
class Trickle(Act):
    """Sends bytes one by one, until all are sent or the other side is gone."""

    data: bytes
    every: float = 0.02

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(OSError):
            for index in range(len(self.data)):
                peer.sock.sendall(self.data[index : index + 1])
                time.sleep(self.every)


@dataclass
class Flood(Act):
    """Sends the same bytes again and again, until the other side is gone."""

    data: bytes

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer.sock.sendall(self.data)


@dataclass
class Pause(Act):
    """Waits a moment."""

    seconds: float

    def perform(self, peer: Peer) -> None:
        time.sleep(self.seconds)


@dataclass
class Await(Act):
    """Waits until the test sets the event."""

    event: threading.Event = field(default_factory=threading.Event)

    def perform(self, peer: Peer) -> None:
        if not self.event.wait(PATIENCE):
            raise AssertionError("the test never set the event")


@dataclass
class Signal(Act):
    """Sets an event for the test."""

    event: threading.Event = field(default_factory=threading.Event)

    def perform(self, peer: Peer) -> None:
        self.event.set()


@dataclass
class Take(Act):
    """Takes in at least so many bytes of whatever comes."""

    size: int

    def perform(self, peer: Peer) -> None:
        have = 0
        while have < self.size:
            data = peer.recv()
            if not data:
                raise Unasked(f"connection {peer.number} ended early")
            have += len(data)


@dataclass
class Gone(Act):
    """Waits until the other side ends the connection (what comes before that is thrown away)."""

    event: threading.Event = field(default_factory=threading.Event)

    def perform(self, peer: Peer) -> None:
        stays = False
        try:
            while peer.recv():
                pass
        except TimeoutError:
            stays = True
        except OSError:
            pass
        if stays or peer.server.cut.is_set():
            peer.server.failures.append(f"connection {peer.number} was not ended by the other side")
        else:
            self.event.set()


@dataclass
class Stall(Act):
    """Does nothing until the other side ends the connection or the test ends."""

    def perform(self, peer: Peer) -> None:
        while not peer.server.ended.is_set():
            with contextlib.suppress(OSError, ValueError):
                if select.select([peer.sock], [], [], 0.05)[0] and not peer.sock.recv(65536):
                    return


class Cut(Act):
    """Ends the connection in an orderly way (FIN)."""

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(OSError):
            peer.sock.shutdown(socket.SHUT_WR)
        peer.sock.close()
        peer.open = False


class Reset(Act):
    """Breaks the connection (RST)."""

    def perform(self, peer: Peer) -> None:
        peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw = socket.socket(fileno=peer.sock.detach()) if isinstance(peer.sock, ssl.SSLSocket) else peer.sock
        raw.close()
        peer.open = False


@dataclass
class Call(Act):
    """Does anything else."""

    function: Callable[[Peer], None]

    def perform(self, peer: Peer) -> None:
        self.function(peer)


class Loopback:
    """A server on loopback that plays scripts, one per connection.

    Args:
        scripts: The acts for the first connection, the second, ...
        tls: A server-side context, or None for plain TCP.
        repeat: The acts for every connection beyond those.
        host: The address to listen at.
    """

    def __init__(
        self,
        *scripts: Iterable[Act],
        tls: ssl.SSLContext | None = None,
        repeat: Iterable[Act] | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self._scripts = [list(script) for script in scripts]
        self._repeat = None if repeat is None else list(repeat)
        self._tls = tls
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._peers: list[Peer] = []
        self.requests: list[Received] = []
        self.failures: list[str] = []
        self.opened = 0
        self.closed = 0
        self.taken = 0
        """Bytes that acts took in."""
        self.ended = threading.Event()
        """Set when the block is left."""
        self.cut = threading.Event()
        """Set when the server then ends what is still open."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=64)
        self.host = host
        self.port: int = self._listener.getsockname()[1]

    @property
    def origin(self) -> Origin:
        host = "localhost" if self._tls is not None else self.host
        return Origin("http" if self._tls is None else "https", host, self.port)

    @property
    def url(self) -> str:
        origin = self.origin
        return f"{origin.scheme}://{origin.authority}"

    def refuse(self) -> None:
        """Listens no more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self) -> Loopback:
        self._spawn(self._accept)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        patience = time.monotonic() + 0.5
        while kind is None and self.opened < len(self._scripts):
            if time.monotonic() > patience:
                self.failures.append(f"{len(self._scripts)} connections were expected, {self.opened} came")
                break
            time.sleep(0.001)
        self.ended.set()
        self.refuse()
        deadline = time.monotonic() + PATIENCE
        for thread in self._threads:
            # A script that waits for the other side is let go once the test is over; failures before that
            # count.
            thread.join(0.5 if kind is None else 0.05)
        self.cut.set()
        for peer in self._peers:
            with contextlib.suppress(OSError):
                peer.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                self.failures.append("a script did not come to its end")
        if kind is None and self.failures:
            raise AssertionError("; ".join(self.failures))

    def record(self, request: Received) -> None:
        with self._lock:
            self.requests.append(request)

    def _spawn(self, target: Callable[..., None], *args: object) -> None:
        def run() -> None:
            sys.settrace(None)  # nothing of svir runs here for coverage to count
            target(*args)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()  # first: one that is not running cannot be joined
        self._threads.append(thread)

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                number = self.opened
                self.opened += 1
            self._spawn(self._play, sock, number)

    def _play(self, sock: socket.socket, number: int) -> None:
        script = self._scripts[number] if number < len(self._scripts) else self._repeat
        if script is None:
            self.failures.append(f"connection {number} was not expected")
            sock.close()
            return
        sock.settimeout(PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = Peer(sock, self, number)
        self._peers.append(peer)
        try:
            if self._tls is not None:
                try:
                    peer.sock = self._tls.wrap_socket(sock, server_side=True)
                except OSError:
                    return  # the client refused the handshake: what the test is about
            for act in script:
                act.perform(peer)
        except Exception as error:
            if not self.cut.is_set():
                self.failures.append(f"connection {number}: {type(error).__name__}: {error}")
        finally:
            peer.sock.close()
            with self._lock:
                self.closed += 1


def ok(body: bytes = b"ok", *, head: bytes = b"") -> bytes:
    """A whole answer of known length."""
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n%s\r\n%s" % (len(body), head, body)


def chunked(*pieces: bytes, end: bool = True, head: bytes = b"") -> bytes:
    """A chunked answer, one chunk a piece."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n%s\r\n" % head
        + body
        + (b"0\r\n\r\n" if end else b"")
    )
