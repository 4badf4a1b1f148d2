"""Several calls at once, under asyncio and under trio, without a library in between.

1. Workers take the next call from one iterator, so calls begin in their order and results are put in place.
2. One call at a time needs no task at all, and works under whatever runs the coroutine.
3. What a call raises leaves as itself, never inside a group: the worker notes it and stops the others.
4. Cancellation from outside is the library's own business, and passes untouched.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from svir.errors import ConfigError
from svir.types import Completion, ToolCall
from svir.types._value import check

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from svir.types import ToolResult

__all__ = ["answer_all", "calls_of", "in_thread"]

T = TypeVar("T")


def calls_of(given: Completion | Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls to answer. Those of an answer that was cut are none of them (D5)."""
    calls = given.calls if isinstance(given, Completion) else tuple(given)
    for call in calls:
        check(call, ToolCall, "a call")
    return calls


async def answer_all(
    calls: Sequence[ToolCall], answer: Callable[[ToolCall], Awaitable[ToolResult]], concurrency: int
) -> tuple[ToolResult, ...]:
    """The results in the order of the calls, at most ``concurrency`` being worked on at once.

    Raises:
        svir.ConfigError: ``concurrency`` is below 1.
    """
    check(concurrency, int, "concurrency")
    if concurrency < 1:
        raise ConfigError("concurrency must be at least 1")
    results: dict[int, ToolResult] = {}
    waiting = iter(enumerate(calls))

    async def work() -> None:
        for place, call in waiting:
            results[place] = await answer(call)

    workers = min(concurrency, len(calls))
    if workers <= 1:
        await work()
    elif (trio := running_trio()) is not None:
        await _under_trio(trio, work, workers)
    else:
        await _under_asyncio(work, workers)
    return tuple(results[place] for place in range(len(calls)))


async def _under_trio(trio: Any, work: Callable[[], Awaitable[None]], workers: int) -> None:
    failures: list[BaseException] = []

    async def worker() -> None:
        try:
            await work()
        except trio.Cancelled:
            raise
        except BaseException as error:  # noqa: BLE001 (raised again below)
            failures.append(error)
            nursery.cancel_scope.cancel()

    try:
        async with trio.open_nursery() as nursery:
            for _ in range(workers):
                nursery.start_soon(worker)
    finally:
        _raise_first(failures)  # also when a cancellation came at the same time


class _Stop(Exception):  # noqa: N818 (a signal, not an error)
    """Makes a task group cancel its other tasks."""


async def _under_asyncio(work: Callable[[], Awaitable[None]], workers: int) -> None:
    import asyncio

    failures: list[BaseException] = []

    async def worker() -> None:
        try:
            await work()
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            # A KeyboardInterrupt must not leave a task: it would stop the loop in the middle of everything.
            failures.append(error)
        if failures:
            raise _Stop

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(worker())
    except BaseExceptionGroup:
        pass  # of _Stop only; what was the matter is in failures
    _raise_first(failures)


def _raise_first(failures: list[BaseException]) -> None:
    if not failures:
        return
    failure = failures[0]
    failures.clear()
    try:
        raise failure
    finally:
        del failure  # it holds this frame, and this frame must not hold it


async def in_thread(function: Callable[[], T]) -> T:
    """Runs a function in a worker thread."""
    if (trio := running_trio()) is not None:
        result: T = await trio.to_thread.run_sync(function)
        return result
    import asyncio

    return await asyncio.to_thread(function)


def running_trio() -> Any:
    """The module, if this runs under trio; it is never imported for that."""
    trio = sys.modules.get("trio")
    return trio if trio is not None and trio.lowlevel.in_trio_task() else None
