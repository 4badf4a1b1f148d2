"""Which idle connection to use again. No I/O: whether one is still good is asked of the caller.

1. The one used last is tried first: it is the least likely to have been closed by the server.
2. A connection is taken out before it is checked, so that no two requests can have it.
3. What is not kept is handed back to be closed: this list closes nothing, since closing may wait for a lock.
4. A list belongs to one process, and on the async face to one loop. After a fork the child begins a new list
   (the old one's lock may be held by a thread that is gone).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.http._seam import Origin

__all__ = ["IDLE_CONNECTIONS", "IDLE_SECONDS", "IdleList"]

IDLE_CONNECTIONS = 64
"""Most connections kept idle, over all servers."""

IDLE_SECONDS = 120.0
"""Longest time a connection is kept idle. Middleboxes forget quiet connections after some minutes without
telling; a request sent on one of those would wait for its idle time-out."""

C = TypeVar("C")


class IdleList(Generic[C]):
    """Connections waiting to be used again.

    Args:
        most: How many are kept; the one idle longest gives way.
        seconds: How long one is kept.
    """

    def __init__(self, most: int = IDLE_CONNECTIONS, seconds: float = IDLE_SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._lock = threading.RLock()  # reentrant: a signal handler may close everything at any moment
        self._waiting: list[tuple[Origin, float, C]] = []  # the longest idle first

    def put(self, origin: Origin, connection: C, now: float) -> list[C]:
        """Keeps a connection; returns those that the caller must close."""
        with self._lock:
            self._waiting.append((origin, now, connection))
            return self._outdated(now)

    def take(self, origin: Origin, now: float, usable: Callable[[C], bool]) -> tuple[C | None, list[C]]:
        """The connection to use again, if any, and those that the caller must close.

        Args:
            origin: The server.
            now: The time on the caller's clock.
            usable: Whether a connection is still open and quiet; asked without holding the lock.
        """
        with self._lock:
            dead = self._outdated(now)
        while (candidate := self._pop(origin)) is not None:
            if usable(candidate):
                return candidate, dead
            dead.append(candidate)
        return None, dead

    def evict(self) -> C | None:
        """Takes out the connection idle longest, to any server."""
        with self._lock:
            return self._waiting.pop(0)[2] if self._waiting else None

    def clear(self) -> list[C]:
        """Takes out all; the caller must close them."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        return [connection for _, _, connection in waiting]

    def abandon(self) -> list[C]:
        """As ``clear``, in a child process: its lock may be held by a thread that is the parent's only."""
        self._lock = threading.RLock()
        return self.clear()

    def __len__(self) -> int:
        return len(self._waiting)

    def _pop(self, origin: Origin) -> C | None:
        with self._lock:
            for index in range(len(self._waiting) - 1, -1, -1):
                if self._waiting[index][0] == origin:
                    return self._waiting.pop(index)[2]
        return None

    def _outdated(self, now: float) -> list[C]:
        waiting = self._waiting
        gone = max(0, len(waiting) - self._most)
        while gone < len(waiting) and now - waiting[gone][1] > self._seconds:
            gone += 1
        self._waiting = waiting[gone:]
        return [connection for _, _, connection in waiting[:gone]]
