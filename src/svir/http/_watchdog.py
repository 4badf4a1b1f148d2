"""Ends blocking waits of somebody else's code: one thread for all of a backend, begun with the first.

A wait on a socket that another library owns is ended by shutting the socket down. What the library then says
is nobody's business: ``expired`` and ``ended`` are set before, and decide what it means.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import ssl
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
        self.expired = False
        """Whether the time was up."""
        self.ended = False
        """Whether this program ended it."""
        self.shared = False
        """Whether other exchanges are on the same socket: then it is left alone."""
        self._watchdog = watchdog
        self._sock: Any = None
        self._copy: socket.socket | None = None
        self._pid = os.getpid()

    @property
    def mute(self) -> bool:
        """Whether nothing more can come: its socket has been shut down."""
        return self._sock is not None and not self.shared

    def hold(self, sock: Any) -> None:
        """Says which socket it is: one of Python's, or what an event loop has in its place."""
        copy, self._copy = self._copy, None
        self._sock = sock
        if copy is not None:
            copy.close()
        if self.ended or self.expired:
            self.shut()

    def hold_copy(self) -> None:
        """Says that TLS is about to take the socket over: its object is empty then, and a copy is held."""
        if isinstance(self._sock, socket.socket) and not isinstance(self._sock, ssl.SSLSocket):
            copy = self._sock.dup()
            self.hold(copy)
            self._copy = copy

    def let_go(self) -> None:
        """Shuts the socket down for good."""
        self.shut()
        self.hold(None)

    def wait(self, until: float | None) -> None:
        """Says that the wait that follows must be over by then, on the monotonic clock; None: never."""
        if until is None:
            self._watchdog.rest(self)
        else:
            self._watchdog.watch(self, until)

    def rest(self) -> None:
        """Says that nothing waits any more."""
        self._watchdog.rest(self)

    def end(self) -> None:
        """Ends it, from any thread."""
        self.ended = True
        self.shut()

    def expire(self) -> None:
        """Ends it because the time is up."""
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
    """Expires lines whose time is up.

    Deadlines are set, taken back and found passed under one lock: a wait is never forgotten, and never
    ended by the deadline of the one before.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())  # a finalizer may come in between
        self._until: dict[Line, float] = {}
        self._next = math.inf
        self._thread: threading.Thread | None = None

    def watch(self, line: Line, until: float) -> None:
        """Watches a line until it rests. Deadlines mostly move away, and then nobody need be woken."""
        with self._changed:
            self._until[line] = until
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="svir watchdog", daemon=True)
                self._thread.start()
            elif until < self._next:
                self._changed.notify()

    def rest(self, line: Line) -> None:
        """Watches it no longer."""
        with self._changed:
            self._until.pop(line, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for line in list(self._until):
                    if self._until.get(line, math.inf) <= now:
                        del self._until[line]
                        line.expire()
                self._next = min(self._until.values(), default=math.inf)
                idle = not self._until
                self._changed.wait(LINGER_SECONDS if idle else self._next - now)
                if idle and not self._until:
                    self._thread = None
                    return
