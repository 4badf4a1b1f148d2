"""A scripted server on a loopback socket, for whole commands."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def chunk(delta: dict | None = None, finish: str | None = None, **more) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "r1", "model": "m", "choices": [choice], **more}).encode() + b"\n\n"


def answer(*texts: str, finish: str = "stop", usage: dict | None = None, deltas: tuple = ()) -> bytes:
    """A whole response that streams these pieces of text, after these other deltas."""
    pieces = [*deltas, *({"content": text} for text in texts)]
    counts = {} if usage is None else {"usage": usage}
    events = [chunk(piece) for piece in pieces] + [chunk(finish=finish, **counts)]
    return HEAD + b"".join(events) + b"data: [DONE]\n\n"


def reply(status: str, body: dict) -> bytes:
    """A whole JSON response."""
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + data


@dataclass
class Asked:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)


@dataclass
class Script:
    """Answers one connection after the other with the next response: bytes, or a function of the socket."""

    responses: list[bytes | Callable[[socket.socket], None]]
    asked: list[Asked] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    closed_by_client: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(20)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        try:
            for response in self.responses:
                connection, _ = self.listener.accept()
                with connection:
                    connection.settimeout(20)
                    self.asked.append(read_request(connection))
                    if callable(response):
                        response(connection)
                    else:
                        connection.sendall(response)
        except BaseException as error:
            self.failures.append(error)
        finally:
            self.listener.close()

    def await_close(self, connection: socket.socket) -> None:
        """Waits until the client hangs up."""
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        self.closed_by_client.set()

    def finish(self) -> None:
        self.thread.join(25)
        assert not self.thread.is_alive()
        assert not self.failures, self.failures


def read_request(connection: socket.socket) -> Asked:
    stream = connection.makefile("rb")
    line = stream.readline().decode().strip()
    headers = {}
    while field_line := stream.readline().decode().strip():
        name, _, value = field_line.partition(": ")
        headers[name.lower()] = value
    return Asked(line, headers, stream.read(int(headers.get("content-length", 0))))
