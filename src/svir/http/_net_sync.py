"""The blocking face: poll, and nothing that suspends."""

from __future__ import annotations

import contextlib
import math
import select
import threading
import time
from typing import TYPE_CHECKING, TypeVar

from svir.http._net import Watch

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Coroutine

    from svir.http._lease import Lease

__all__ = ["SyncNetwork", "run"]

T = TypeVar("T")


def run(coroutine: Coroutine[object, None, T]) -> T:
    """Runs a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise AssertionError("a coroutine of the blocking face suspended")


class SyncWatch(Watch):
    """Waits in ``poll``. Shutting the socket down, from another thread, wakes it."""

    async def _wait(
        self, attempt: Callable[[], T | None], until: float | None, read: bool, write: bool
    ) -> T | None:
        while True:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            _poll(self.sock, read, write, left)
            if (outcome := attempt()) is not None:
                return outcome


if hasattr(select, "poll"):

    def _poll(sock: socket.socket, read: bool, write: bool, seconds: float | None) -> None:
        poll = select.poll()
        poll.register(sock, (select.POLLIN if read else 0) | (select.POLLOUT if write else 0))
        poll.poll(None if seconds is None else math.ceil(seconds * 1000))

else:  # Windows

    def _poll(sock: socket.socket, read: bool, write: bool, seconds: float | None) -> None:
        # A failed connect shows itself there as an exceptional condition only.
        select.select([sock] if read else [], [sock] if write else [], [sock] if write else [], seconds)


class SyncBell:
    """A lock, held until it rings: which may be during a garbage collection, or in a signal's handler.

    No queue: where the time of a ``SimpleQueue.get`` is up before it has begun to wait, it waits for ever
    (in CPython before 3.13).
    """

    def __init__(self) -> None:
        self._silence = threading.Lock()
        self._silence.acquire()

    def ring(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has rung already
            self._silence.release()

    async def wait(self, until: float | None) -> None:
        self._silence.acquire(timeout=-1 if until is None else max(0.0, until - time.monotonic()))


class SyncNetwork:
    """The blocking face."""

    def clock(self) -> float:
        return time.monotonic()

    def watch(self, sock: socket.socket) -> Watch:
        return SyncWatch(sock, time.monotonic)

    def bell(self) -> SyncBell:
        return SyncBell()

    async def call(
        self, function: Callable[[], T], until: float | None = None, lease: Lease | None = None
    ) -> T:
        del until, lease  # a blocking call cannot be given up
        return function()

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)  # noqa: ASYNC251 (this is the blocking face)

    def here(self) -> bool:
        return True

    def ended(self) -> bool:
        return False
