"""The trio face: trio's own waits on a non-blocking socket. Loaded only under trio."""

from __future__ import annotations

import contextlib
import math
import threading
from typing import TYPE_CHECKING, Literal, TypeVar

import trio

from svir.http._net import Fault, Watch

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from svir.http._lease import Lease

__all__ = ["TrioNetwork"]

T = TypeVar("T")


class TrioWatch(Watch):
    """Waits in trio's ``wait_readable`` and ``wait_writable``. Shutting the socket down wakes them."""

    async def _wait(
        self, attempt: Callable[[], T | None], until: float | None, read: bool, write: bool
    ) -> T | None:
        with trio.CancelScope(deadline=math.inf if until is None else until):
            while True:
                await self._ready(read, write)
                if (outcome := attempt()) is not None:
                    return outcome
        return None

    async def _ready(self, read: bool, write: bool) -> None:
        if not write:
            await trio.lowlevel.wait_readable(self.sock)
        elif not read:
            await trio.lowlevel.wait_writable(self.sock)
        else:
            async with trio.open_nursery() as nursery:

                async def one(wait: Callable[[socket.socket], Awaitable[None]]) -> None:
                    await wait(self.sock)
                    nursery.cancel_scope.cancel()

                nursery.start_soon(one, trio.lowlevel.wait_readable)
                nursery.start_soon(one, trio.lowlevel.wait_writable)


class _Ringing:
    """Wakes somebody by a call in trio's own thread."""

    def __init__(self, token: trio.lowlevel.TrioToken, wake: Callable[[], object]) -> None:
        self._token = token
        self._thread = threading.get_ident()
        self._wake = wake

    def ring(self) -> None:
        with contextlib.suppress(trio.RunFinishedError):
            if threading.get_ident() == self._thread:
                self._wake()
            else:
                self._token.run_sync_soon(self._wake)


class TrioBell(_Ringing):
    """Rings by setting an event."""

    def __init__(self, token: trio.lowlevel.TrioToken) -> None:
        self._rung = trio.Event()
        super().__init__(token, self._rung.set)

    async def wait(self, until: float | None) -> None:
        with trio.CancelScope(deadline=math.inf if until is None else until):
            await self._rung.wait()


class TrioNetwork:
    """The trio face, of one run."""

    def __init__(self, token: trio.lowlevel.TrioToken) -> None:
        self._token = token
        self.clock = trio.current_time

    def watch(self, sock: socket.socket) -> Watch:
        return TrioWatch(sock, trio.current_time)

    def bell(self) -> TrioBell:
        return TrioBell(self._token)

    async def call(
        self, function: Callable[[], T], until: float | None = None, lease: Lease | None = None
    ) -> T | Literal[Fault.TIMEOUT]:
        with trio.CancelScope(deadline=math.inf if until is None else until) as scope:
            if lease is not None:
                lease.hold(_Ringing(self._token, scope.cancel).ring)
            return await trio.to_thread.run_sync(function, abandon_on_cancel=True)
        return Fault.TIMEOUT

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)

    def here(self) -> bool:
        return trio.lowlevel.in_trio_task() and trio.lowlevel.current_trio_token() is self._token

    def ended(self) -> bool:
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(_nothing, idempotent=True)
            return False
        return True


def _nothing() -> None:
    """Asked of a trio run only to learn whether it still goes on."""
