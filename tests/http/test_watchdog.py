from __future__ import annotations

import socket
import threading
import time

from svir.http._watchdog import Line, Watchdog

FAR = 3600.0


class Noted(Line):
    """Tells when its time is up, and may do something of its own then."""

    def __init__(self, watchdog, also=lambda: None):
        super().__init__(watchdog)
        self.over = threading.Event()
        self._also = also

    def expire(self):
        super().expire()
        self._also()
        self.over.set()


def soon(seconds=0.0):
    return time.monotonic() + seconds


def test_a_wait_ends_in_time():
    watchdog = Watchdog()
    line = Noted(watchdog)
    line.wait(soon(FAR))
    line.wait(soon(0.01))
    assert line.over.wait(5)
    assert line.expired
    assert not line.ended


def test_a_wait_that_rests_is_not_ended():
    watchdog = Watchdog()
    rests, after = Noted(watchdog), Noted(watchdog)
    rests.wait(soon(0.05))
    rests.rest()
    after.wait(soon(0.1))
    assert after.over.wait(5)
    assert not rests.expired


def test_a_deadline_never_ends_the_wait_after_its_own():
    """Both are due; while the first is ended, the second begins to wait for something else."""
    watchdog = Watchdog()
    second = Noted(watchdog)

    def go_on():
        second.rest()
        second.wait(soon(FAR))

    first = Noted(watchdog, go_on)
    with watchdog._changed:
        first.wait(soon())
        second.wait(soon())
    assert first.over.wait(5)
    with watchdog._changed:
        assert not second.expired


def test_no_wait_is_forgotten_while_others_end():
    """Waits begin while the thread goes through thousands of others."""
    watchdog = Watchdog()
    others = [Noted(watchdog) for _ in range(3000)]
    for other in others:
        other.wait(soon(FAR))
    line = Noted(watchdog)
    for turn in range(60):
        line.wait(soon(0.001))
        line.over.wait(0.0003 * (turn % 8))
        line.rest()
        line.over.clear()
        line.wait(soon(0.004))
        assert line.over.wait(5), turn
        line.rest()


def test_a_socket_that_comes_after_the_time_was_up_is_shut():
    """A connection that takes too long to be made is not used when it is there at last."""
    line = Line(Watchdog())
    line.expire()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line.hold(ours)
        theirs.settimeout(5)
        assert theirs.recv(1) == b""
