"""The asyncio face: the loop's own reader and writer callbacks on a non-blocking socket.

1. The attempt is made inside the loop's callback, so that a level-triggered selector never sees the same
   bytes twice.
2. The reader stays registered between reads. When data comes while nobody waits, it is taken out: the bytes
   stay in the kernel, which slows the server down, and the loop does not spin.
3. One timer a connection, moved only when it fires: a read costs no timer.
4. A socket leaves the loop before it is closed, in the loop's own thread. From another thread it is only shut
   down, which makes it readable: the callback closes it, or, when the loop does not know it, its watch's end
   does.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from svir.errors import ConfigError
from svir.http._net import Fault, Watch

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from svir.http._lease import Lease

__all__ = ["AsyncioNetwork"]

LOOK_SECONDS = 0.2
"""How often a socket is looked at under a loop that does not tell of a reset."""

T = TypeVar("T")


class AsyncioWatch(Watch):
    """Waits in a future that the loop's callbacks set."""

    def __init__(self, sock: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(sock, loop.time)
        self._loop = loop
        self._thread = threading.get_ident()
        self._fd = sock.fileno()
        self._reading = False
        self._writing = False
        self._wants_read = False
        self._attempt: Callable[[], object] | None = None
        self._waiter: asyncio.Future[Any] | None = None  # Any: each wait has its own type
        self._until: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tells_all = isinstance(loop, asyncio.SelectorEventLoop)
        self._look: asyncio.TimerHandle | None = None

    async def _wait(
        self, attempt: Callable[[], T | None], until: float | None, read: bool, write: bool
    ) -> T | None:
        waiter: asyncio.Future[T | None] = self._loop.create_future()
        self._waiter, self._attempt, self._wants_read, self._until = waiter, attempt, read, until
        try:
            self._register(read, write)
            if until is not None and (self._timer is None or self._timer.when() > until):
                self._arm(until)
            if not self._tells_all and self._look is None:
                self._look = self._loop.call_later(LOOK_SECONDS, self._on_look)
            return await waiter
        finally:
            self._waiter = self._attempt = self._until = None
            if self._writing:
                self._writing = False
                if not self._loop.is_closed():
                    self._loop.remove_writer(self._fd)

    def rest(self) -> None:
        for timer in (self._timer, self._look):
            if timer is not None:
                timer.cancel()
        self._timer = self._look = None

    def _register(self, read: bool, write: bool) -> None:
        unable = False
        try:
            if read and not self._reading:
                self._loop.add_reader(self._fd, self._on_readable)
                self._reading = True
            if write:
                self._loop.add_writer(self._fd, self._on_ready)
                self._writing = True
        except NotImplementedError:
            unable = True
        if unable:
            raise ConfigError(
                "this event loop cannot watch sockets; on Windows use asyncio.SelectorEventLoop"
            )

    def _on_readable(self) -> None:
        if self.closed and self._waiter is None:
            self._close()
        elif self._waiter is None or not self._wants_read:
            self._loop.remove_reader(self._fd)
            self._reading = False
        else:
            self._on_ready()

    def _on_ready(self) -> None:
        waiter, attempt = self._waiter, self._attempt
        if waiter is not None and attempt is not None and not waiter.done():
            outcome = attempt()
            if outcome is not None:
                waiter.set_result(outcome)

    def _on_look(self) -> None:
        """Looks by the clock: uvloop stops watching a socket that was reset, without calling back."""
        self._look = None
        if self._waiter is not None:
            self._look = self._loop.call_later(LOOK_SECONDS, self._on_look)
            self._on_ready()

    def _arm(self, until: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(until, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        waiter, until = self._waiter, self._until
        if waiter is None or until is None or waiter.done():
            return
        if until > self._loop.time():
            self._arm(until)
        else:
            waiter.set_result(None)

    def _held(self) -> bool:
        elsewhere = threading.get_ident() != self._thread
        return (self.busy or elsewhere) and not self._loop.is_closed()

    def _close(self) -> None:
        """Takes the socket out of the loop and closes it; in the loop's thread."""
        self.rest()
        with self._lock:
            if self._reading and not self._loop.is_closed():
                self._loop.remove_reader(self._fd)
            self._reading = False
            self.sock.close()


class AsyncioBell:
    """Rings by setting a future, in the loop's own thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self.rung: asyncio.Future[None] = loop.create_future()

    def ring(self) -> None:
        if threading.get_ident() == self._thread:
            self._set()
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._set)

    async def wait(self, until: float | None) -> None:
        left = None if until is None else max(0.0, until - self._loop.time())
        await asyncio.wait([self.rung], timeout=left)

    def _set(self) -> None:
        if not self.rung.done() and not self._loop.is_closed():
            self.rung.set_result(None)


class AsyncioNetwork:
    """The asyncio face, of one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.clock = loop.time

    def watch(self, sock: socket.socket) -> Watch:
        return AsyncioWatch(sock, self.loop)

    def bell(self) -> AsyncioBell:
        return AsyncioBell(self.loop)

    async def call(
        self, function: Callable[[], T], until: float | None = None, lease: Lease | None = None
    ) -> T | Literal[Fault.TIMEOUT]:
        future = self.loop.run_in_executor(None, contextvars.copy_context().run, function)
        # What it raises after it was given up is nobody's business.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        left = None if until is None else max(0.0, until - self.loop.time())
        bell = self.bell()
        if lease is not None:
            lease.hold(bell.ring)
        either: list[asyncio.Future[T] | asyncio.Future[None]] = [future, bell.rung]
        await asyncio.wait(either, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        return future.result() if future.done() else Fault.TIMEOUT

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def ended(self) -> bool:
        return self.loop.is_closed()
