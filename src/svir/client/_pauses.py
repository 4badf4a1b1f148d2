"""The pauses of a client's calls, which end when the client is closed.

1. A backend knows its connections, and a pause has none. So a driver wakes who pauses, whatever its backend
   is, with an ``Abort``, as closing a stream does (S125).
2. No lock of our own guards them: a signal handler may close a client. A child process has none of its
   parent's threads, which may have held an abort's lock: it leaves their pauses alone.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from svir.http._seam import Abort

__all__ = ["Pauses"]


class Pauses:
    """Those of all calls through one driver."""

    def __init__(self) -> None:
        self._under_way: set[tuple[int, Abort]] = set()  # changed by single operations only
        self._closed = False

    @contextmanager
    def one(self, abort: Abort) -> Generator[Abort]:
        """Around a pause of a call; what ends it, be it the call's end or the client's.

        Raises:
            svir.TransportError: The client was closed, before or meanwhile.
        """
        with abort.child() as own:
            entry = (os.getpid(), own)
            self._under_way.add(entry)
            try:
                self._require_open()  # once it is among them: closing looks at them after it has noted itself
                yield own
            finally:
                self._under_way.discard(entry)
        self._require_open()

    def _require_open(self) -> None:
        if self._closed:
            from svir.http._roundtrip import closed_error

            raise closed_error(unsent=True, client=True)

    def close(self) -> list[object]:
        """Ends all of them, and those to come; what ending them returned is handed on."""
        self._closed = True
        here = os.getpid()
        return [result for pid, abort in list(self._under_way) if pid == here for result in abort()]
