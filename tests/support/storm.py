"""A server on loopback that answers, refuses, stalls, cuts and complains at random, from a seed.

It runs an event loop in a thread of its own, so that thousands of calls are cheap. What a connection gets is
drawn when a request has come on it; now and then the server is not there at all for a moment, so that
connections are truly refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections import Counter

from tests.support.chat import answer, chunk, pieces

WORDS = ("rivers ", "meander ", "because ", "of ", "their ", "banks")
TEXT = "".join(WORDS)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
QUOTA = b'{"error": {"message": "no credit", "code": "insufficient_quota", "type": "insufficient_quota"}}'

# What may happen to a request, and how often.
WEATHER = {
    "answer": 50,
    "answer and close": 8,
    "stall": 3,
    "reset": 4,
    "hang up": 4,
    "429": 4,
    "429 soon": 4,
    "429 late": 2,
    "429 quota": 1,
    "500": 4,
    "503": 4,
    "stall inside": 3,
    "cut inside": 5,
    "reset inside": 4,
}
STATUSES = {
    "429": (429, "", b""),
    "429 soon": (429, "retry-after-ms: 4\r\n", b""),
    "429 late": (429, "retry-after: 60\r\n", b""),
    "429 quota": (429, "", QUOTA),
    "500": (500, "", b"oops"),
    "503": (503, "", b""),
}


def piece(data):
    """One chunk of a body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


WHOLE = HEAD + b"".join(piece(pieces(word)) for word in WORDS) + piece(answer()) + b"0\r\n\r\n"
BEGUN = HEAD + piece(pieces(*WORDS[:3])) + piece(chunk({"content": WORDS[3]}))


class Storm:
    """The server; a context manager.

    Attributes:
        seen: How often each thing happened.
        open: How many connections are open.
    """

    def __init__(self, seed, *, pause_every=60, pause=0.01):
        self.random = random.Random(seed)
        self.pause_every, self.pause = pause_every, pause
        self.seen = Counter()
        self.open = 0
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *exit_of):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    async def _main(self):
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._tasks = set()
        await self._listen()
        self._ready.set()
        await self._stop.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._hide()

    async def _listen(self):
        """Listens below the ports that clients get, or one could come to be connected to itself."""
        while True:
            port = self.port or self.random.randrange(20000, 30000)
            try:
                self._listener = socket.create_server(("127.0.0.1", port), backlog=512)
            except OSError:
                await asyncio.sleep(0.001)
                continue
            self.port = port
            self._listener.setblocking(False)
            # Not asyncio's own server, which loses what it has just accepted when it is closed.
            self._loop.add_reader(self._listener, self._accept)
            return

    def _hide(self):
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener)
            self._listener.close()

    async def _vanish(self):
        self._hide()
        await asyncio.sleep(self.pause)
        await self._listen()

    def _accept(self):
        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            self.open += 1
            self.seen["connections"] += 1
            self._spawn(self._connected(sock))
            if self.seen["connections"] % self.pause_every == 0:
                self._spawn(self._vanish())

    def _spawn(self, coroutine):
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connected(self, sock):
        try:
            reader, writer = await asyncio.open_connection(sock=sock)
            try:
                with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                    while await self._serve(reader, writer):
                        pass
            finally:
                writer.close()
        finally:
            self.open -= 1

    async def _serve(self, reader, writer):
        """One request; whether the connection may bring another."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        what = self.random.choices(list(WEATHER), WEATHER.values())[0]
        self.seen[what] += 1
        if what in STATUSES:
            status, fields, body = STATUSES[what]
            writer.write(
                f"HTTP/1.1 {status} No\r\ncontent-length: {len(body)}\r\n{fields}\r\n".encode() + body
            )
        elif what.startswith("answer"):
            writer.write(WHOLE)
        elif what.endswith("inside"):
            writer.write(BEGUN)
        await writer.drain()
        if what.startswith("stall"):
            await reader.read()  # until the client has had enough
        if what.startswith("reset"):
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        return what in {"answer", *STATUSES}
