"""What the servers of the fault matrix do that no other server of the tests does."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field

from tests.support.loopback import Act, Gone, Peer, Serve, Unasked

MOST_BYTES = 32 * 1024 * 1024
"""More than a client with small limits takes, and the kernel keeps for it."""


class Over(Exception):  # noqa: N818 (it is no error)
    """The connection has ended, and so has its script."""


@dataclass
class Script(Act):
    """The acts of one connection, one after the other.

    Attributes:
        acts: What is done.
        done: Set when all is done: after acts that wait for the client, that is when it has gone.
        missed: Which request did not come whole, if one did not.
    """

    acts: list[Act]
    done: threading.Event = field(default_factory=threading.Event)
    missed: str = ""

    def perform(self, peer: Peer) -> None:
        try:
            for act in self.acts:
                act.perform(peer)
        except Unasked as error:
            self.missed = str(error)
        except Over:
            pass
        finally:
            self.done.set()


@dataclass
class Sound(Serve):
    """A sound server: it serves until the other side is gone, in whatever manner."""

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(AssertionError, OSError):
            super().perform(peer)


@dataclass
class Tls(Act):
    """Agrees on TLS; the script is over when the client does not."""

    context: ssl.SSLContext

    def perform(self, peer: Peer) -> None:
        try:
            peer.sock = self.context.wrap_socket(peer.sock, server_side=True)
        except OSError:
            raise Over from None


@dataclass
class Hello(Act):
    """Answers the beginning of a handshake as a server would, up to so many bytes."""

    context: ssl.SSLContext
    size: int

    def perform(self, peer: Peer) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.context.wrap_bio(incoming, outgoing, server_side=True)
        while not outgoing.pending:
            if not (data := peer.recv()):
                raise Over
            incoming.write(data)
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
        peer.sock.sendall(outgoing.read(self.size))


class CloseNotify(Act):
    """Ends TLS in an orderly way, and nothing below it."""

    def perform(self, peer: Peer) -> None:
        assert isinstance(peer.sock, ssl.SSLSocket)
        peer.sock.setblocking(False)
        with contextlib.suppress(ssl.SSLError):
            peer.sock.unwrap()  # does not wait for the client's
        peer.sock.setblocking(True)


@dataclass
class Raw(Act):
    """Sends bytes below TLS."""

    data: bytes

    def perform(self, peer: Peer) -> None:
        os.write(peer.sock.fileno(), self.data)


class HalfClose(Act):
    """Ends its own side, and goes on listening until the other side ends."""

    def perform(self, peer: Peer) -> None:
        peer.sock.shutdown(socket.SHUT_WR)
        Gone().perform(peer)


@dataclass
class Deaf(Act):
    """Takes nothing more in until the call is over."""

    over: threading.Event

    def perform(self, peer: Peer) -> None:
        self.over.wait(10)
        Gone().perform(peer)


@dataclass
class Sip(Act):
    """Takes in a little at a time, until the other side ends or the call is over."""

    over: threading.Event
    size: int
    every: float

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(OSError):
            while not self.over.is_set() and peer.sock.recv(self.size):
                time.sleep(self.every)
        Gone().perform(peer)


@dataclass
class Drip(Act):
    """Sends the same bytes one by one, again and again, until the other side is gone."""

    data: bytes
    every: float

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(OSError):
            while True:
                for index in range(len(self.data)):
                    peer.sock.sendall(self.data[index : index + 1])
                    time.sleep(self.every)


@dataclass
class Flood(Act):
    """Sends the same bytes again and again, until the other side is gone: soon, or the test fails."""

    data: bytes

    def perform(self, peer: Peer) -> None:
        sent = 0
        with contextlib.suppress(OSError):
            while sent < MOST_BYTES:
                peer.sock.sendall(self.data)
                sent += len(self.data)
        assert sent < MOST_BYTES, "the client takes in whatever comes"


@dataclass
class Relay(Act):
    """The network between: hands on what comes, both ways, to and from a server.

    Attributes:
        address: The server's.
        up: After so many bytes of the client, it hands on no more, and the next act is performed.
        down: The same for bytes of the server.
        every: Seconds between two bytes of the server, which then come one by one; 0: as they come.
    """

    address: tuple[str, int]
    up: int | None = None
    down: int | None = None
    every: float = 0.0

    def perform(self, peer: Peer) -> None:
        with socket.create_connection(self.address, 10) as server:
            left = {peer.sock: self.up, server: self.down}
            while all(size is None or size > 0 for size in left.values()):
                for source in select.select(list(left), [], [], 10)[0]:
                    self._hand_on(source, server if source is peer.sock else peer.sock, left)

    def _hand_on(
        self, source: socket.socket, target: socket.socket, left: dict[socket.socket, int | None]
    ) -> None:
        size = left[source]
        try:
            data = source.recv(65536 if size is None else min(size, 65536))
            if not data:
                raise Over
            paced = self.every and size is not None
            for start in range(0, len(data), 1 if paced else len(data)):
                target.sendall(data[start : start + 1] if paced else data)
                time.sleep(self.every if paced else 0)
        except OSError:
            raise Over from None
        if size is not None:
            left[source] = size - len(data)
