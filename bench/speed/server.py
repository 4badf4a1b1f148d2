"""The load generator: answers from prepared bytes, with as little work as it can.

    python server.py        # prints its port; ends with its standard input

The first part of the path names the script. One event is one chunk, as model servers write them. What has no
pace is handed to the kernel as one piece, so that the client is what is measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

SCRIPTS = {
    # events, seconds between them
    "small": (20, 0.0),
    "long": (20_000, 0.0),
    "many": (200, 0.0),
    "paced": (200, 0.002),
    "thousand": (20, 0.25),
    "sent": (1, 0.0),
}

WORDS = (
    " the",
    " river",
    " turns",
    ", and",
    " the",
    " bank",
    ".\\n\\n",
    " It",
    " moves",
    " slow",
    "ly",
    " 4",
)

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def event(delta: str, finish: str = "null") -> bytes:
    """A chunk of the size and the shape that vLLM sends."""
    return (
        'data: {"id":"chatcmpl-7f3a9c51d2e84b06","object":"chat.completion.chunk","created":1796035131,'
        '"model":"qwen3-27b","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":'
        f'{{{delta}}},"logprobs":null,"finish_reason":{finish}}}]}}\n\n'
    ).encode()


def framed(data: bytes) -> bytes:
    """One chunk of the transfer coding."""
    return b"%x\r\n%b\r\n" % (len(data), data)


BEGIN = framed(event('"role":"assistant","content":""'))
END = framed(event("", '"stop"')) + framed(b"data: [DONE]\n\n") + LAST
TEXTS = [framed(event(f'"content":"{word}"')) for word in WORDS]


def whole(count: int) -> bytes:
    """An answer of so many pieces of text."""
    return b"".join([HEAD, BEGIN, *(TEXTS[n % len(TEXTS)] for n in range(count)), END])


PREPARED = {name: whole(count) for name, (count, pace) in SCRIPTS.items() if not pace}


class Connection(asyncio.Protocol):
    """Reads requests, counts the bytes of their bodies, and answers."""

    connections = 0
    requests = 0
    received = 0

    def __init__(self) -> None:
        self._head = b""
        self._left = -1  # bytes of the body that are still to come; -1 before its head is whole
        self._script = ""

    def connection_made(self, transport) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=64 * 1024 * 1024)
        Connection.connections += 1

    def data_received(self, data: bytes) -> None:
        Connection.received += len(data)
        if self._left >= 0:
            self._left -= len(data)
        else:
            self._head += data
            head, end, body = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            self._head = b""
            lines = head.decode("latin-1").lower().split("\r\n")
            self._script = lines[0].split()[1].split("/")[1]
            fields = dict(line.split(":", 1) for line in lines[1:])
            self._left = int(fields.get("content-length", 0)) - len(body)
            if "100-continue" in fields.get("expect", ""):
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if self._left <= 0:
            self._left = -1
            self._answer()

    def _answer(self) -> None:
        Connection.requests += 1
        if self._script == "stats":
            told = {
                "cpu": time.process_time(),
                "connections": Connection.connections,
                "requests": Connection.requests,
                "received": Connection.received,
            }
            text = json.dumps(told).encode()
            self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
        elif (ready := PREPARED.get(self._script)) is not None:
            self._transport.write(ready)
        else:
            self._transport.write(HEAD + BEGIN)
            count, pace = SCRIPTS[self._script]
            # Streams that begin together do not all speak in the same moment.
            first = pace * (Connection.requests % 97) / 97
            loop = asyncio.get_running_loop()
            loop.call_later(first, self._next, loop.time() + first, count, pace)

    def _next(self, due: float, left: int, pace: float) -> None:
        """Sends a piece that says when it was sent."""
        if self._transport.is_closing():
            return
        if not left:
            self._transport.write(END)
            return
        self._transport.write(framed(event(f'"content":"{time.monotonic():.6f} "')))
        asyncio.get_running_loop().call_at(due + pace, self._next, due + pace, left - 1, pace)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
