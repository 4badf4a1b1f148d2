"""A scripted server on loopback: plays one case, and notes what it was sent.

It knows no wire API. A reply is bytes and the way they end; the n-th request gets the n-th reply, and every
further one the last. Request bodies are counted, and only their beginning is kept.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

KEPT = 64 * 1024
"""Bytes of a request's body that are kept."""


@dataclass(frozen=True)
class Reply:
    """One response.

    Attributes:
        pieces: The body, each piece sent by itself.
        status: The status line's second half.
        media: The content type.
        headers: Further header lines; ``{other}`` in a value is the port of the other server.
        ends: ``in order`` (the body's announced end comes), ``cut`` (the connection is closed before it), or
            ``never`` (the last piece is sent again and again, until the client leaves).
        pause: Seconds between two pieces, so that they arrive apart.
    """

    pieces: tuple[bytes, ...] = ()
    status: str = "200 OK"
    media: str = "text/event-stream"
    headers: tuple[tuple[str, str], ...] = ()
    ends: str = "in order"
    pause: float = 0.0

    def head(self, other: int) -> bytes:
        """The response's head; the body follows in chunks."""
        fields = [("content-type", self.media), ("transfer-encoding", "chunked"), *self.headers]
        lines = [f"{name}: {value.replace('{other}', str(other))}" for name, value in fields]
        return "\r\n".join([f"HTTP/1.1 {self.status}", *lines, "", ""]).encode()


@dataclass
class Seen:
    """One request as it came.

    Attributes:
        target: What the request line asked for.
        headers: Names in lower case.
        length: Bytes of its body.
        body: The beginning of the body.
        sent: Bytes of the response that the network took.
    """

    target: str
    headers: dict[str, str]
    length: int
    body: bytes
    sent: int = 0

    def json(self) -> dict[str, object]:
        """The body; empty when it was too long to be kept, or is no JSON object."""
        with contextlib.suppress(ValueError):
            if self.length == len(self.body) and isinstance(body := json.loads(self.body), dict):
                return body
        return {}


@dataclass
class Server:
    """Listens from the beginning of its block to its end.

    Args:
        replies: To the first request, the second, ...; the last one also to those after it.
        other: The port of another server, which headers may name.
    """

    replies: tuple[Reply, ...]
    other: int = 0
    seen: list[Seen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._ended = False
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock, sock.makefile("rb") as file:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (request := _read(file)) is not None:
                with self._lock:
                    self.seen.append(request)
                    reply = self.replies[min(len(self.seen), len(self.replies)) - 1]
                if not self._answer(sock, request, reply):
                    return

    def _answer(self, sock: socket.socket, request: Seen, reply: Reply) -> bool:
        """Whether the connection may be used again."""

        def send(data: bytes) -> None:
            sock.sendall(data)
            request.sent += len(data)

        send(reply.head(self.other))
        for number, piece in enumerate(reply.pieces):
            if number and reply.pause:
                time.sleep(reply.pause)
            send(_chunk(piece))
        if reply.ends == "cut":
            sock.shutdown(socket.SHUT_WR)
            return False
        if reply.ends == "never":
            again = _chunk(reply.pieces[-1])
            while not self._ended:
                send(again)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        send(b"0\r\n\r\n")
        return True


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _read(file) -> Seen | None:
    """The next request; None when the client has left."""
    line = file.readline()
    if not line.endswith(b"\n"):
        return None
    headers: dict[str, str] = {}
    while (field_line := file.readline()) not in {b"\r\n", b"\n", b""}:
        name, _, value = field_line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    request = Seen(line.split()[1].decode("latin-1"), headers, 0, b"")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        while size := int(file.readline().split(b";")[0], 16):
            _take(file, size, request)
            file.readline()
        file.readline()
    else:
        _take(file, int(headers.get("content-length", 0)), request)
    return request


def _take(file, size: int, request: Seen) -> None:
    while size:
        data = file.read1(min(size, KEPT))
        if not data:
            raise ConnectionError
        request.body += data[: KEPT - len(request.body)]
        request.length += len(data)
        size -= len(data)
