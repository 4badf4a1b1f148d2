"""Many calls at once on the blocking face: each in a thread of a pool."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from svir.client._many import Many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ThreadPoolExecutor
    from types import TracebackType

    from svir.client._sync_streams import Stream
    from svir.errors import Error
    from svir.types import Completion

__all__ = ["Completions"]


class Completions:
    """Answers as they come, each with the number of its request; see ``Client.complete_all``.

    Leave it through its ``with`` block, or read it to its end: otherwise what is under way is shut when it is
    garbage collected.
    """

    def __init__(self, streams: Iterator[Stream], concurrency: int) -> None:
        self._many = Many(streams, concurrency)
        self._concurrency = concurrency
        self._changed = threading.Condition()
        self._pool: ThreadPoolExecutor | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, Completion | Error]:
        try:
            return self._next()
        except BaseException:
            self.close()
            raise

    def _next(self) -> tuple[int, Completion | Error]:
        many = self._many
        while (call := many.begin()) is not None:
            self._submit(*call)
        with self._changed:
            while True:
                outcome = many.take()
                if outcome is not None:
                    return outcome
                if many.over:
                    raise StopIteration
                self._changed.wait()

    def _submit(self, index: int, stream: Stream) -> None:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="svir")
        # The threads know the calls, and not this object: it can be collected while they run.
        self._pool.submit(_complete, self._many, self._changed, index, stream)

    def close(self) -> None:
        """Shuts the calls under way, and waits until they have ended."""
        self._shut()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _shut(self) -> None:
        with self._changed:
            streams = self._many.stop()
        for stream in streams:
            stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)
        if pool is not None:
            self._shut()
            pool.shutdown(wait=False, cancel_futures=True)  # a collection may happen anywhere


def _complete(many: Many[Stream], changed: threading.Condition, index: int, stream: Stream) -> None:
    outcome: Completion | BaseException
    try:
        with stream:
            outcome = stream.complete()
    except BaseException as error:  # noqa: BLE001 (handed out where the answers are taken)
        outcome = error.with_traceback(None)
    with changed:
        many.end(index, outcome)
        changed.notify()
