"""Many calls at once on the blocking face: each in a thread of a pool."""

from __future__ import annotations

from queue import SimpleQueue
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
        # What ended, from the threads: no Condition, which Ctrl-C at a wrong moment leaves without its lock.
        self._ended: SimpleQueue[tuple[int, Completion | BaseException]] = SimpleQueue()
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
        while (outcome := many.take()) is None:
            if many.over:
                raise StopIteration
            many.end(*self._ended.get())
        return outcome

    def _submit(self, index: int, stream: Stream) -> None:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="svir")
        # The threads know the calls, and not this object: it can be collected while they run.
        interrupted: BaseException | None
        try:
            self._pool.submit(_complete, self._ended, index, stream)
        except RuntimeError as error:
            # Starting a thread waits with a Condition: after Ctrl-C all that it tells of may be its lock.
            interrupted = error.__context__
            if not isinstance(interrupted, KeyboardInterrupt):
                raise
        else:
            return
        raise interrupted.with_traceback(None)

    def close(self) -> None:
        """Shuts the calls under way, and waits until they have ended."""
        self._shut()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _shut(self) -> None:
        for stream in self._many.stop():
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


def _complete(ended: SimpleQueue[tuple[int, Completion | BaseException]], index: int, stream: Stream) -> None:
    outcome: Completion | BaseException
    try:
        with stream:
            outcome = stream.complete()
    except BaseException as error:  # noqa: BLE001 (handed out where the answers are taken)
        outcome = error.with_traceback(None)
    ended.put((index, outcome))
