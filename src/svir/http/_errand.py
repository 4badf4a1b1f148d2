"""Work on an event loop that is done whether or not somebody waits for it.

A response that is dropped, or closed by a plain call, still owes its connection to somebody else's pool, and
that takes an ``await``. An errand is made on its loop, begins once, however often it is started, and may be
awaited by many: cancelling one of them ends only his waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Protocol

from svir.http._loops import running_trio

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

__all__ = ["Errand", "errand"]

_running: set[asyncio.Task[None]] = set()
"""Asyncio itself keeps only weak references to tasks."""


class Errand(Protocol):
    """Both of them."""

    def start(self) -> None:
        """Begins it at the loop's next turn, from any thread or finalizer, unless the loop is gone."""
        ...

    def __await__(self) -> Generator[Any, Any, None]: ...


class AsyncioErrand:
    """Under asyncio."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self._loop = loop
        self._work = work
        self._begun = False
        self._done = loop.create_future()

    def start(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._begun:
            return
        self._begun = True
        task = self._loop.create_task(self._work())
        _running.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        _running.discard(task)
        if not self._done.done():
            self._done.set_result(None)

    def __await__(self) -> Generator[Any, Any, None]:
        yield from asyncio.wait([self._done]).__await__()


class TrioErrand:
    """Under trio, as a system task: it must raise nothing."""

    def __init__(self, trio: Any, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()
        self._work = work
        self._begun = False
        self._done = trio.Event()

    def start(self) -> None:
        with contextlib.suppress(self._trio.RunFinishedError):
            self._token.run_sync_soon(self._begin)

    def _begin(self) -> None:
        if self._begun:
            return
        self._begun = True
        try:
            self._trio.lowlevel.spawn_system_task(self._run)
        except RuntimeError:  # the run is about to end, and takes no more
            self._done.set()

    async def _run(self) -> None:
        try:
            await self._work()
        finally:
            self._done.set()

    def __await__(self) -> Generator[Any, Any, None]:
        yield from self._done.wait().__await__()


def errand(work: Callable[[], Coroutine[Any, Any, None]]) -> Errand:
    """An errand for the loop that runs here."""
    if (trio := running_trio()) is not None:
        return TrioErrand(trio, work)
    return AsyncioErrand(asyncio.get_running_loop(), work)
