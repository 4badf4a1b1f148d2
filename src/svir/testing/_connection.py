"""One connection of a scripted server: requests read by h11, replies played as bytes.

h11 reads each request with a parser of its own, which is given what the one before left over. The replies go
around it: a server that could only send valid HTTP would be of no use here.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING

import h11

from svir.testing._acts import Cut, Pause, Send, Stall
from svir.testing._script import Received, Unscripted

if TYPE_CHECKING:
    import threading

    from svir.testing._acts import Act
    from svir.testing._script import Script

__all__ = ["Connection"]

READ_BYTES = 256 * 1024


class Connection:
    """One connection, served in a thread of its own until either side ends it.

    Args:
        sock: The connection.
        script: Where replies come from, and failures go.
        ended: Set when the server ends; a pause then ends too.
    """

    def __init__(self, sock: socket.socket, script: Script, ended: threading.Event) -> None:
        self._sock = sock
        self._script = script
        self._ended = ended
        self._left_over = b""
        self._last = False  # whether the client has said that there will be no further request

    def serve(self) -> None:
        """Answers requests, one after the other."""
        try:
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (request := self._request()) is not None:
                try:
                    reply = self._script.take(request)
                except Unscripted as unscripted:
                    reply = unscripted.reply()
                if not all(map(self._perform, reply.acts())):
                    break
        except h11.RemoteProtocolError as error:
            self._script.fail(f"what a client sent is no HTTP request: {error}")
        except OSError:
            pass  # the client left, as clients may; a test that needed the rest has seen that itself
        except Exception as error:  # noqa: BLE001 (whatever it is, it must fail the test and not only a thread)
            self._script.fail(f"the server failed: {type(error).__name__}: {error}")
        finally:
            self._sock.close()

    def end(self) -> None:
        """Ends the connection from another thread. What the client has sent until now is still read."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def _request(self) -> Received | None:
        """The next whole request; None when there is none."""
        if self._last:
            return None
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=READ_BYTES)
        if self._left_over:  # to h11, nothing is the end
            parser.receive_data(self._left_over)
        head: h11.Request | None = None
        content: list[bytes] = []
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                if parser.they_are_waiting_for_100_continue:
                    go_on = parser.send(h11.InformationalResponse(status_code=100, headers=[]))
                    self._sock.sendall(go_on or b"")
                data = self._sock.recv(READ_BYTES)
                if not data:
                    return None  # it ended between two requests, or gave up inside one
                parser.receive_data(data)
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                content.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                break
            else:
                return None
        self._left_over = parser.trailing_data[0]
        self._last = parser.their_state is not h11.DONE
        return _received(head, b"".join(content))

    def _perform(self, act: Act) -> bool:
        """Performs an act; False when the connection is over."""
        match act:
            case Send(data):
                self._sock.sendall(data)
            case Pause(seconds):
                self._ended.wait(seconds)
            case Stall():
                while self._sock.recv(READ_BYTES):
                    pass
                return False
            case Cut(reset):
                if reset:
                    self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    self._sock.shutdown(socket.SHUT_WR)
                return False
        return True


def _received(head: h11.Request, content: bytes) -> Received:
    fields: dict[str, str] = {}
    for name, value in head.headers:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    path, _, query = head.target.decode("latin-1").partition("?")
    return Received(head.method.decode("latin-1"), path, query, fields, content)
