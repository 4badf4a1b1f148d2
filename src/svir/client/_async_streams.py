"""Streams of the asynchronous face, and the driver that awaits the steps. Nothing is decided here.

No deadline or cancel scope is entered in one call and left in another, streams are classes and not
generators, and ``__del__`` schedules nothing: a stream may be dropped, cancelled or handed to another task.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from svir.client._opening import Opening
from svir.client._pauses import Pauses
from svir.client._shape import Shaped
from svir.errors import ConfigError, Error, RequestTimeoutError
from svir.exchange._stack import is_async
from svir.exchange._steps import Call, Close, Read, Run, Send, Sleep
from svir.http._loops import running_trio
from svir.http._seam import Abort
from svir.types import Request, TextDelta
from svir.types._value import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from svir.exchange import RawReply, Reply, Server, Steps
    from svir.http._seam import AsyncBackend, AsyncHttpResponse, Headers
    from svir.types import Completion, Event


__all__ = ["AsyncDriver", "AsyncNext", "AsyncRawStream", "AsyncStream", "closed"]

T = TypeVar("T")
P = TypeVar("P", bound="RawReply[Any]")


async def closed(closing: object) -> None:
    """Waits for what a foreign backend's ``close`` may have returned, shielded from cancellation."""
    if not isinstance(closing, Awaitable):
        return
    if (trio := running_trio()) is not None:
        with trio.CancelScope(shield=True):
            await closing
        return
    import asyncio

    await asyncio.shield(cast("Awaitable[object]", closing))


async def within(seconds: float | None, working: Awaitable[T]) -> T:
    """Awaits something of the caller's or of the disk, for so long at most.

    Raises:
        svir.RequestTimeoutError: The time is up, and it was cancelled.
    """
    if seconds is None:
        return await working
    if (trio := running_trio()) is not None:
        with trio.move_on_after(seconds):
            return await working
    else:
        import asyncio

        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await working
        except TimeoutError:
            if not limit.expired():
                raise
    raise RequestTimeoutError("what was called took too long", unsent=True)


class AsyncDriver:
    """Performs steps, awaiting them."""

    def __init__(self, backend: AsyncBackend) -> None:
        self.backend = backend
        self._pauses = Pauses()

    async def close(self) -> None:
        """Closes the backend, and ends every pause."""
        for closing in [*self._pauses.close(), self.backend.close()]:
            await closed(closing)

    async def run(self, steps: Steps[T], abort: Abort | None = None) -> T:
        """Performs steps to their end; whatever was opened is closed when they fail or are cancelled."""
        opened: list[AsyncHttpResponse] = []
        abort = Abort() if abort is None else abort
        answer: Any = None
        failure: Exception | None = None
        try:
            while True:
                step = steps.send(answer) if failure is None else steps.throw(failure)
                answer = failure = None
                try:
                    answer = await self._perform(step, abort)
                except Exception as error:  # noqa: BLE001 (given to the steps, which know what it means)
                    failure = error
                else:
                    if isinstance(step, (Send, Run)):
                        opened.append(answer if isinstance(step, Send) else answer.response)
                        await closed(abort.attach(opened[-1].close))
        except StopIteration as stop:
            value: T = stop.value
            return value
        except BaseException:
            for response in opened:
                await closed(response.close())
            steps.close()
            raise
        finally:
            abort.detach()
            answer = failure = None  # a failure holds this frame, and this frame must not hold it

    async def _perform(self, step: Any, abort: Abort) -> Any:
        backend = self.backend
        match step:
            case Read(response, timeout):
                # A backend's responses have its own colour; the steps only carry them.
                return await cast("AsyncHttpResponse", response).read(timeout)
            case Send(request, connect, read, total):
                return await backend.send(request, connect=connect, read=read, total=total, abort=abort)
            case Close(response):
                return await closed(response.close())
            case Call(function, timeout):
                return await within(timeout, self._call(function))
            case Sleep(seconds):
                with self._pauses.one(abort) as pause:
                    return await backend.sleep(seconds, pause)
            case Run():
                return await self._run_layer(step, abort)
            case _:
                raise TypeError(f"no step: {type(step).__name__}")

    async def _call(self, function: Callable[[], Any]) -> Any:
        # An async function belongs on the loop: called in a thread, its coroutine could get lost.
        result = function() if is_async(function) else await self.backend.call(function)
        return await result if isinstance(result, Awaitable) else result  # pyright: ignore[reportUnknownVariableType]  (the caller's own)

    async def _run_layer(self, step: Run, abort: Abort) -> Reply[AsyncHttpResponse]:
        following = AsyncNext(self, step, abort)
        chosen: AsyncStream | None = None
        try:
            stream: object = await step.layer(step.request, following)
            if not isinstance(stream, AsyncStream):
                raise ConfigError("a layer must return the stream that next(request) gave")
            with abort.child() as own:  # it may be another client's, and not be under way yet
                await closed(own.attach(stream.aclose))
                chosen = await stream.open()
            return await chosen._opened()
        finally:
            await following.close_others(chosen)


class AsyncNext:
    """The rest of the stack, for a layer: ``await next(request)`` opens the call and returns its stream.

    Attributes:
        host (str): The server's host.
        port (int): Its port.
        api (str): The wire API's name, for example ``openai.chat``.
    """

    def __init__(self, driver: AsyncDriver, step: Run, abort: Abort) -> None:
        self._driver = driver
        self._abort = abort
        self._rest = step.rest
        self._given: list[AsyncStream] = []
        server: Server = step.server
        self.host, self.port, self.api = server.host, server.port, server.api

    async def __call__(self, request: Request) -> AsyncStream:
        """Opens the call; may be made again with the same or another request."""
        check(request, Request, "what a layer passes to next()")
        with self._abort.child() as abort:
            stream = await AsyncStream(self._driver, lambda: self._rest(request), abort).open()
        self._given.append(stream)
        return stream

    async def close_others(self, chosen: AsyncStream | None) -> None:
        """Closes every stream the layer asked for and did not return."""
        given, self._given = self._given, []  # they lead back here, and would wait for the collector
        for stream in given:
            if stream is not chosen:
                await stream.aclose()


class _AsyncOpened(Opening[P]):
    """A call that goes out once it is needed; shared by both kinds of streams."""

    def __init__(
        self, driver: AsyncDriver, steps: Callable[[], Steps[P]], abort: Abort | None = None
    ) -> None:
        super().__init__(steps, abort)
        self._driver = driver

    async def open(self) -> Self:
        """Sends the request and waits for the response's head; does nothing the second time.

        Raises:
            svir.Error: The call failed; asked again, it raises the same error.
        """
        await self._opened()
        return self

    async def _opened(self) -> P:
        if self._reply is not None:
            return self._reply
        steps = self._begin()
        try:
            reply = self._reply = await self._driver.run(steps(), self._abort)
        except Error as error:
            failure = self._failed(error)
        except BaseException:
            self._interrupted()
            raise
        else:
            if self._closed:  # by another task, meanwhile
                await self.aclose()
            return reply
        raise failure

    def _known(self) -> P:
        if self._reply is None:
            raise ConfigError("the stream is not open yet: enter its block, or await stream.open()")
        return self._reply

    @property
    def headers(self) -> Headers:
        """The response's headers, once the stream is open. Their values are withheld from ``repr``."""
        headers: Headers = self._known().response.headers
        return headers

    @property
    def request_id(self) -> str | None:
        """The server's name for the request, when it gave one, once the stream is open."""
        return self._known().request_id

    async def aclose(self) -> None:
        """Ends the call; a connection not read to its end is shut."""
        self._closed = True
        if self._reply is not None:
            self._reply.closed = True
            self._reply.end("closed")
            await closed(self._reply.response.close())
        else:
            for closing in self._abort():
                await closed(closing)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class AsyncStream(_AsyncOpened["Reply[AsyncHttpResponse]"], Shaped):
    """One answer as it arrives: an asynchronous iterator of events that ends with ``Completed``, or raises.

    The request goes out when the block is entered, on ``await open()``, or with the first event.
    """

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        reply = self._reply
        if reply is None:
            reply = await self._opened()
        try:
            while (event := reply.take()) is None and not reply.over:
                try:
                    data = await reply.response.read(reply.left())
                except Error as error:
                    reply.fail(error)
                else:
                    reply.feed(data)
                    data = b""  # a frame shown with its locals shows no words of the server
            if event is None:
                await self._driver.run(reply.drain())
        except BaseException:
            reply.end("interrupted")  # unless it had ended before: by a failure, mostly
            await closed(reply.response.close())
            raise
        if event is None:
            raise StopAsyncIteration
        return event

    def text(self) -> AsyncTexts:
        """The pieces of the answer's text alone; ``complete()`` afterwards gives the whole answer."""
        return AsyncTexts(self)

    async def complete(self) -> Completion:
        """Reads the rest and returns the whole answer.

        Raises:
            svir.Error: What iterating would raise.
        """
        async for _ in self:
            pass
        completion = self._known().completion
        if completion is None:
            raise AssertionError("a decoder ended without a completion")
        return completion

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        reply = self._reply
        try:
            if kind is None and reply is not None and reply.over and not self._closed:
                await self._driver.run(reply.drain())
        finally:
            await self.aclose()


class AsyncTexts:
    """The text of a stream, piece by piece."""

    def __init__(self, stream: AsyncStream) -> None:
        self._stream = stream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        async for event in self._stream:
            if isinstance(event, TextDelta):
                return event.text
        raise StopAsyncIteration


class AsyncRawStream(_AsyncOpened["RawReply[AsyncHttpResponse]"]):
    """The server's bytes, unchanged, as they arrive (D20); only a decoder tells whether they are whole."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        reply = await self._opened()
        reply.check()
        try:
            if not reply.over:
                try:
                    data = await reply.response.read(reply.left())
                except Error as error:
                    reply.fail(error)
                else:
                    reply.feed(data)
                    if data:
                        return data
            reply.check()
        except BaseException:
            await closed(reply.response.close())
            raise
        await self.aclose()
        raise StopAsyncIteration
