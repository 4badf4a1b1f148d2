"""What a layer that tells about calls has in common with others of its kind: noticing every end, once.

1. A call ends while it is opened (an error, or a cancellation, which closes the steps), or with its reply.
2. What watches a reply must not hold it, or a dropped one could not be noticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from svir.errors import Error
from svir.types import Completed, Completion

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.exchange import Ending, Reply, Steps
    from svir.types import Event

__all__ = ["End", "Report"]


class End(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended; times are seconds from its start, None when there was no such moment.

    Attributes:
        how: The ending; an exception that is not svir's, from a layer below, is ``failed`` as well.
        error: What ended it, when something did.
        completion: The whole answer, when there is one.
        headers: When the response had begun.
        first: When something of the answer came.
        total: When all was over.
    """

    how: Ending
    error: BaseException | None
    completion: Completion | None
    headers: float | None
    first: float | None
    total: float


class Report:
    """Watches one call.

    Args:
        tell: Called once, when the call has ended.
        clock: What the time is.
        piece: Called with each piece of the answer but the first, and the seconds since the one before.
    """

    __slots__ = ("_began", "_clock", "_completion", "_first", "_headers", "_last", "_piece", "_tell")

    def __init__(
        self,
        tell: Callable[[End], object],
        clock: Callable[[], float],
        piece: Callable[[float], object] | None = None,
    ) -> None:
        self._tell = tell
        self._clock = clock
        self._piece = piece
        self._began = clock()
        self._headers: float | None = None
        self._first: float | None = None
        self._last: float | None = None
        self._completion: Completion | None = None

    def around(self, opening: Steps[Reply[Any]]) -> Steps[Reply[Any]]:
        """The steps of opening a call, watched."""
        try:
            reply: Reply[Any] = yield from opening
        except GeneratorExit:  # the driver was interrupted, and gives the steps up
            self._ended("interrupted", None)
            raise
        except BaseException as error:
            self._ended("failed" if isinstance(error, Exception) else "interrupted", error)
            raise
        self._headers = self._clock()
        reply.inspect(self._item)
        reply.on_end(self._ended)
        return reply

    def _item(self, item: Event | Error) -> None:
        if isinstance(item, Error):
            return
        if isinstance(item, Completed):
            self._completion = item.completion
            return
        now = self._clock()
        if self._last is None:
            self._first = now
        elif self._piece is not None:
            self._piece(now - self._last)
        self._last = now

    def _ended(self, how: Ending, error: BaseException | None) -> None:
        end = End(
            how=how,
            error=error,
            completion=self._completion,
            headers=self._since(self._headers),
            first=self._since(self._first),
            total=self._clock() - self._began,
        )
        self._tell(end)

    def _since(self, when: float | None) -> float | None:
        return None if when is None else when - self._began
