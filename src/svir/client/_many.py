"""Many calls at once: which is to begin, and what has ended; the faces add threads or tasks.

1. At most ``concurrency`` calls are under way or wait to be taken: the next request is asked for only when an
   answer was taken, so that an endless iterator of requests is fine.
2. The requests are asked for where the answers are taken, never in another thread or task.
3. A failed call is an outcome like any other. What is no ``svir.Error``, a fault of a layer say, ends it all.
4. Once the answers are left, nothing is running any more: calls under way are shut, and waited for.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from svir.errors import ConfigError, Error
from svir.types._value import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svir.types import Completion

__all__ = ["Many"]

S = TypeVar("S")


class Many(Generic[S]):
    """The calls of one ``complete_all``.

    Args:
        streams: The calls, each not yet begun.
        concurrency: How many there may be at once.

    Raises:
        svir.ConfigError: ``concurrency`` is less than 1.
    """

    def __init__(self, streams: Iterator[S], concurrency: int) -> None:
        check(concurrency, int, "concurrency")
        if concurrency < 1:
            raise ConfigError("concurrency must be at least 1")
        self._streams = streams
        self._concurrency = concurrency
        self._begun = 0
        self._more = True
        self._ended: deque[tuple[int, Completion | BaseException]] = deque()
        self.under_way: dict[int, S] = {}

    def begin(self) -> tuple[int, S] | None:
        """The next call to begin, and its number; None when there are enough, or no more."""
        if not self._more or len(self.under_way) + len(self._ended) >= self._concurrency:
            return None
        stream = next(self._streams, None)
        if stream is None:
            self._more = False
            return None
        index = self._begun
        self._begun += 1
        self.under_way[index] = stream
        return index, stream

    def end(self, index: int, outcome: Completion | BaseException) -> None:
        """Notes how a call ended."""
        self._ended.append((index, outcome))
        del self.under_way[index]

    def take(self) -> tuple[int, Completion | Error] | None:
        """An outcome to hand out; None while there is none.

        Raises:
            BaseException: A call ended with something that is not svir's.
        """
        if not self._ended:
            return None
        index, outcome = self._ended.popleft()
        if isinstance(outcome, BaseException) and not isinstance(outcome, Error):
            raise outcome
        return index, outcome

    @property
    def over(self) -> bool:
        """Whether everything was handed out."""
        return not (self._more or self.under_way or self._ended)

    def stop(self) -> list[S]:
        """Begins no more; the calls under way, to be shut."""
        self._more = False
        return list(self.under_way.values())
