"""A wait on somebody else's code, ended by a deadline that moves, or by this program from anywhere.

Ending it cancels what is awaited within, and that alone; the block is then left without an exception, and
``over`` says so. A cancellation from outside goes through as always. A scope is entered once, by one task.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from typing import TYPE_CHECKING, Any, Protocol, Self

from svir.http._loops import running_trio

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["AsyncioScope", "Scope", "TrioScope", "scope"]


class Scope(Protocol):
    """Both of them."""

    over: bool
    """Whether what was awaited was cancelled here."""
    ended: bool
    """Whether this program ended it."""

    def move(self, until: float | None) -> None:
        """Sets the deadline, on the loop's clock; ignored once the block is left."""
        ...

    def end(self) -> None:
        """Ends the wait now, from any thread; one that has not begun ends when it begins."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool: ...


class AsyncioScope:
    """Under asyncio."""

    def __init__(self, loop: asyncio.AbstractEventLoop, until: float | None) -> None:
        self.over = False
        self.ended = False
        self._loop = loop
        self._thread = threading.get_ident()
        self._limit = asyncio.timeout_at(until)
        self._inside = False

    def move(self, until: float | None) -> None:
        if self._inside and not self.ended and not self._limit.expired():
            self._limit.reschedule(until)

    def end(self) -> None:
        self.ended = True
        if threading.get_ident() == self._thread:
            self._expire()
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._expire)

    def _expire(self) -> None:
        if self._inside and not self._limit.expired():
            self._limit.reschedule(-math.inf)

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._inside = True
        if self.ended:
            self._expire()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._inside = False
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            self.over = True
        return self.over


class TrioScope:
    """Under trio."""

    def __init__(self, trio: Any, until: float | None) -> None:
        self.over = False
        self.ended = False
        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()
        self._thread = threading.get_ident()
        self._scope = trio.CancelScope(deadline=math.inf if until is None else until)

    def move(self, until: float | None) -> None:
        self._scope.deadline = math.inf if until is None else until

    def end(self) -> None:
        self.ended = True
        if threading.get_ident() == self._thread:
            self._scope.cancel()
        else:
            with contextlib.suppress(self._trio.RunFinishedError):
                self._token.run_sync_soon(self._scope.cancel)

    async def __aenter__(self) -> Self:
        self._scope.__enter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.over = bool(self._scope.__exit__(kind, error, trace)) and self._scope.cancelled_caught
        return self.over


def scope(until: float | None) -> Scope:
    """A scope for what runs here; None waits for ever."""
    if (trio := running_trio()) is not None:
        return TrioScope(trio, until)
    return AsyncioScope(asyncio.get_running_loop(), until)
