"""Ends blocking waits of somebody else's code: one thread for all of a backend, begun with the first.

A wait on a socket that another library owns is ended by shutting the socket down. What the library then says
is nobody's business: ``expired`` and ``ended`` are set before, and decide what it means.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
from typing import Any

__all__ = ["Line", "Watchdog"]

LINGER_SECONDS = 5.0
"""How long the thread stays when there is nothing to watch."""


class Line:
    """What one exchange waits on.

    Args:
        watchdog: Who ends what takes too long.
    """

    def __init__(self, watchdog: Watchdog) -> None:
        self.until: float | None = None
        """When to end the wait, on the monotonic clock; None: never."""
        self.expired = False
        """Whether the time was up."""
        self.ended = False
        """Whether this program ended it."""
        self.shared = False
        """Whether other exchanges are on the same socket: then it is left alone."""
        self._watchdog = watchdog
        self._sock: Any = None
        self._pid = os.getpid()

    @property
    def mute(self) -> bool:
        """Whether nothing more can come: its socket has been shut down."""
        return self._sock is not None and not self.shared

    def hold(self, sock: Any) -> None:
        """Says which socket it is: one of Python's, or what an event loop has in its place."""
        self._sock = sock
        if self.ended:
            self.shut()

    def wait(self, until: float | None) -> None:
        """Says that the wait that follows must be over by then."""
        self.until = until
        if until is not None:
            self._watchdog.watch(self, until)

    def rest(self) -> None:
        """Says that nothing waits any more."""
        self.until = None

    def end(self) -> None:
        """Ends it, from any thread."""
        self.ended = True
        self.shut()

    def expire(self) -> None:
        """Ends it because the time is up."""
        self.until = None
        self.expired = True
        self.shut()

    def shut(self) -> None:
        """Shuts the socket down, so that whoever waits on it is woken."""
        if self._sock is not None and not self.shared and self._pid == os.getpid():
            with contextlib.suppress(OSError):
                if isinstance(self._sock, socket.socket):
                    # The socket's own: TLS on top of it would take itself apart under the one who waits.
                    socket.socket.shutdown(self._sock, socket.SHUT_RDWR)
                else:
                    self._sock.shutdown(socket.SHUT_RDWR)


class Watchdog:
    """Expires lines whose time is up."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._lines: set[Line] = set()
        self._next = math.inf
        self._thread: threading.Thread | None = None

    def watch(self, line: Line, until: float) -> None:
        """Watches a line until it rests. Deadlines mostly move away, and then nobody need be woken."""
        if line in self._lines and until >= self._next:
            return
        with self._changed:
            self._lines.add(line)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="svir watchdog", daemon=True)
                self._thread.start()
            elif until < self._next:
                self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                waiting = {line: line.until for line in self._lines}
                for line, until in waiting.items():
                    if until is not None and until <= now:
                        line.expire()
                self._lines = {line for line in self._lines if line.until is not None}
                self._next = min((line.until or math.inf for line in self._lines), default=math.inf)
                idle = not self._lines
                self._changed.wait(LINGER_SECONDS if idle else max(0.0, self._next - time.monotonic()))
                if idle and not self._lines:
                    self._thread = None
                    return
