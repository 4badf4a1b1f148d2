"""Many calls at once on the asynchronous face: each in a task, under asyncio or trio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from svir.client._many import Many
from svir.errors import ConfigError, TransportError
from svir.http._loops import running_trio

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from svir.client._async_streams import AsyncStream
    from svir.errors import Error
    from svir.types import Completion

__all__ = ["AsyncCompletions"]


class AsyncCompletions:
    """Answers as they come, each with the number of its request; see ``AsyncClient.complete_all``.

    Use it in an ``async with`` block: leaving the block, in whatever way, cancels what is under way and waits
    for it.

    Example:
        >>> import asyncio
        >>> from svir.testing import MockServer
        >>> async def ask(questions):
        ...     async with MockServer(["Hello.", "Fine."]) as server:
        ...         async with server.async_client().complete_all(questions, concurrency=1) as outcomes:
        ...             async for index, outcome in outcomes:
        ...                 print(index, outcome.text)
        >>> asyncio.run(ask(["Hello", "And you?"]))
        0 Hello.
        1 Fine.
    """

    def __init__(self, streams: Iterator[AsyncStream], concurrency: int) -> None:
        self._many = Many(streams, concurrency)
        self._tasks: _Tasks | None = None

    async def __aenter__(self) -> Self:
        trio = running_trio()
        self._tasks = _AsyncioTasks() if trio is None else _TrioTasks(trio)
        await self._tasks.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._many.stop()
        tasks, self._tasks = self._tasks, None
        if tasks is not None:
            await tasks.end()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[int, Completion | Error]:
        many, tasks = self._many, self._tasks
        if tasks is None:
            raise ConfigError("use complete_all in an async with block")
        while (call := many.begin()) is not None:
            tasks.start(self._complete, *call)
        while (outcome := many.take()) is None:
            if many.over:
                raise StopAsyncIteration
            await tasks.wait()
        return outcome

    async def _complete(self, index: int, stream: AsyncStream) -> None:
        outcome: Completion | BaseException | None = None
        try:
            async with stream:
                outcome = await stream.complete()
        except Exception as error:  # noqa: BLE001 (handed out where the answers are taken)
            outcome = error.with_traceback(None)
        finally:
            # None: it was cancelled, by us or by something a layer or a key function awaited. Who takes the
            # answers must not wait for it for ever.
            cancelled = TransportError("the call was cancelled from within", retryable=False)
            self._many.end(index, cancelled if outcome is None else outcome)
            if self._tasks is not None:
                self._tasks.wake()


class _AsyncioTasks:
    """Tasks of an asyncio loop."""

    def __init__(self) -> None:
        import asyncio

        self._asyncio = asyncio
        self._running: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    async def begin(self) -> None:
        pass

    def start(self, function: Any, *args: object) -> None:
        task = self._asyncio.get_running_loop().create_task(function(*args))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def wait(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    def wake(self) -> None:
        self._changed.set()

    async def end(self) -> None:
        """Cancels what runs, and waits for it even when that is cancelled too."""
        running = list(self._running)
        for task in running:
            task.cancel()
        gathered = self._asyncio.gather(*running, return_exceptions=True)
        cancelled = None
        while not gathered.done():
            try:
                await self._asyncio.shield(gathered)
            except self._asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled


class _TrioTasks:
    """Tasks of a trio nursery."""

    def __init__(self, trio: Any) -> None:
        self._trio = trio
        self._manager = trio.open_nursery()
        self._changed = trio.Event()

    async def begin(self) -> None:
        self._nursery = await self._manager.__aenter__()

    def start(self, function: Any, *args: object) -> None:
        self._nursery.start_soon(function, *args)

    async def wait(self) -> None:
        await self._changed.wait()
        self._changed = self._trio.Event()

    def wake(self) -> None:
        self._changed.set()

    async def end(self) -> None:
        """Cancels what runs, and waits for it."""
        self._nursery.cancel_scope.cancel()
        await self._manager.__aexit__(None, None, None)


_Tasks = _AsyncioTasks | _TrioTasks
