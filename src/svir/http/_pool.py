"""The connections of one event loop: those in use, those idle, and the places for more.

1. ``live`` has the lease of every connection, weakly: it owns none. See ``Lease``.
2. Sets, lists and deques are changed by single operations only, without a lock: a place may be given back by
   the garbage collector, which must not wait for one.
3. Who waits for a place is woken by each one that comes free and by each connection that becomes idle, then
   looks again: somebody else may have been faster.
4. A server that ended a connection soon after an answer does so again: for a while none is kept there after
   answers of that kind (S121).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from svir.http._idle import IdleList
from svir.http._lease import Lease
from svir.http._net import Fault

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable

    from svir.http._net import Bell, Network, Stream
    from svir.http._seam import Abort, Origin

__all__ = ["Pool"]

SETTLE_SECONDS = 0.005
"""How long a connection must have stayed open after its first answer before a request goes out on it."""

HASTY_SECONDS = 1.0
"""A server that ends a connection sooner than that after an answer is hasty."""

APART_SECONDS = 60.0
"""How long connections to a hasty server are not kept."""


class Pool:
    """Connections under one event loop.

    Args:
        network: The loop's network.
        most: Most connections at once, or None.
    """

    def __init__(self, network: Network, most: int | None) -> None:
        self.network = network
        self.live: set[weakref.ref[Lease]] = set()
        self._idle: IdleList[Stream] = IdleList()
        self._most = most
        self._waiting: deque[Bell] = deque()
        self._hasty: dict[tuple[Origin, bool], float] = {}  # until when, by the kind of answer
        self._closed = False

    async def take(self, origin: Origin, abort: Abort) -> Stream | None:
        """An idle connection that is still open and quiet."""
        while True:
            stream, dead = self._idle.take(origin, self.network.clock(), _quiet)
            for one in dead:
                self.broke(origin, one)
            self._drop(dead)
            if stream is None or stream.streamed in stream.proved:
                return stream
            # llama.cpp announces keep-alive, keeps it after a list of models, and closes some 50 us after a
            # streamed answer all the same: a request that goes out at once would be lost. So a connection
            # shows once for each kind of answer that it stays open.
            try:
                abort.attach(stream.watch.shut)
                settled = await stream.read(stream.rested + SETTLE_SECONDS) is Fault.TIMEOUT
            except BaseException:
                self.drop(stream)
                raise
            if settled:
                stream.proved.add(stream.streamed)
                return stream
            self.drop(stream)
            if abort.asked:
                return None
            self.broke(origin, stream)

    def keeper(self, origin: Origin) -> Callable[[Stream, bool], None]:
        """Takes back a connection to a server: to be used again, or else shut."""

        def take_back(stream: Stream, reuse: bool) -> None:
            if not reuse or stream.watch.closed or self._is_hasty(origin, stream):
                self.drop(stream)
                return
            stream.watch.rest()
            stream.rested = self.network.clock()
            self._drop(self._idle.put(origin, stream, self.network.clock()))
            self._ring()

        return take_back

    def reserve(self) -> Lease | None:
        """Takes a place for a new connection, an idle one's if there is no other."""
        while True:
            if self._free():
                lease = Lease(self.live, self._ring)
                if self._most is None or len(self.live) <= self._most:
                    return lease
                lease.end()  # another thread took the last one at the same time: both look again
            elif (victim := self._idle.evict()) is not None:
                self.drop(victim)
            else:
                return None

    async def room(self, until: float | None, abort: Abort) -> bool:
        """Waits until there may be a place or an idle connection, or none is wanted any more.

        Returns:
            False when the time is up.
        """
        bell = self.network.bell()
        self._waiting.append(bell)
        waited = False
        try:
            abort.attach(bell.ring)
            if not (self._closed or self._free() or len(self._idle)):  # nothing changed just now
                await bell.wait(until)
            waited = until is None or self.network.clock() < until
        finally:
            try:
                self._waiting.remove(bell)
            except ValueError:
                if not waited:
                    self._ring()  # it rang for us, and we leave: it is the next one's
        return waited

    def broke(self, origin: Origin, stream: Stream) -> None:
        """Learns from a connection that was idle, and turned out to be of no use."""
        now = self.network.clock()
        if now < stream.rested + HASTY_SECONDS:
            self._hasty[origin, stream.streamed] = now + APART_SECONDS

    def _is_hasty(self, origin: Origin, stream: Stream) -> bool:
        until = self._hasty.get((origin, stream.streamed))
        if until is None:
            return False
        if self.network.clock() < until:
            return True
        self._hasty.pop((origin, stream.streamed), None)
        return False

    def drop(self, stream: Stream) -> None:
        """Shuts a connection and gives back its place."""
        stream.lease.end()

    def shut_idle(self) -> None:
        """Shuts the idle connections."""
        self._drop(self._idle.clear())

    def close(self) -> None:
        """Shuts every connection, and wakes who waits for one."""
        self._closed = True
        self.shut_idle()
        for found in list(self.live):
            if (lease := found()) is not None:
                lease.shut()  # its user gives the place back
        while self._ring():
            pass

    def abandon(self) -> None:
        """In a child process: closes the child's copies of idle connections."""
        for stream in self._idle.abandon():
            stream.watch.shut()

    def _drop(self, streams: list[Stream]) -> None:
        for stream in streams:
            self.drop(stream)

    def _free(self) -> bool:
        return self._most is None or len(self.live) < self._most

    def _ring(self) -> bool:
        try:
            bell = self._waiting.popleft()
        except IndexError:
            return False
        bell.ring()
        return True


def _quiet(stream: Stream) -> bool:
    return stream.quiet()
