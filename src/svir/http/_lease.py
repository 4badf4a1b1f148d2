"""Who owns a connection, and the place in the pool that it takes: one object, from the first moment on.

1. Whatever has the connection holds its lease. When nobody holds it any more, it ends: on the blocking face a
   signal handler may raise between any two steps, where no ``except`` stands yet.
2. The place is free when the lease is out of the pool's set. That is one step, done by whoever is first: the
   holder, or the interpreter, which drops the weak reference.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Lease"]


class Lease:
    """A place, and whatever stands in it: a name that is looked up, then a socket.

    Args:
        places: The places that are taken. It takes one more.
        freed: Is told when the place is free again; never waits.
    """

    __slots__ = ("__weakref__", "_asked", "_freed", "_places", "_ref", "_shut")

    def __init__(self, places: set[weakref.ref[Lease]], freed: Callable[[], object]) -> None:
        self._asked = False
        self._shut: Callable[[], object] | None = None
        self._freed = freed
        self._places = places
        self._ref: weakref.ref[Lease] = weakref.ref(self, places.discard)
        places.add(self._ref)

    def hold(self, shut: Callable[[], object]) -> None:
        """Says how to shut what stands in the place from now on: a plain call that never waits."""
        self._shut = shut
        if self._asked:
            shut()

    def shut(self) -> None:
        """Shuts what stands in the place, and whatever will; who waits for it is woken. From any thread."""
        self._asked = True
        if self._shut is not None:
            self._shut()

    def end(self) -> None:
        """Shuts the connection and gives the place back, once."""
        self.shut()
        try:
            self._places.remove(self._ref)
        except KeyError:
            return  # somebody did already
        self._freed()

    def __del__(self) -> None:
        if hasattr(self, "_ref"):  # else it was interrupted before it had a place
            self.end()
