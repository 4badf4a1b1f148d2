"""Streams of the blocking face, and the driver that performs the steps. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from svir.client._opening import Opening
from svir.client._pauses import Pauses
from svir.client._shape import Shaped
from svir.errors import ConfigError, Error
from svir.exchange._steps import Call, Close, Read, Run, Send, Sleep
from svir.http._seam import Abort
from svir.types import Request, TextDelta
from svir.types._value import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from svir.exchange import RawReply, Reply, Server, Steps
    from svir.http._seam import Backend, Headers, HttpResponse
    from svir.types import Completion, Event


__all__ = ["Driver", "Next", "RawStream", "Stream"]

T = TypeVar("T")
P = TypeVar("P", bound="RawReply[Any]")


class Driver:
    """Performs steps, blocking."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._pauses = Pauses()

    def close(self) -> None:
        """Closes the backend, and ends every pause."""
        self._pauses.close()
        self.backend.close()

    def run(self, steps: Steps[T], abort: Abort | None = None) -> T:
        """Performs steps to their end; whatever was opened is closed when they fail."""
        opened: list[HttpResponse] = []
        abort = Abort() if abort is None else abort
        answer: Any = None
        failure: Exception | None = None
        try:
            while True:
                step = steps.send(answer) if failure is None else steps.throw(failure)
                answer = failure = None
                try:
                    answer = self._perform(step, abort)
                except Exception as error:  # noqa: BLE001 (given to the steps, which know what it means)
                    failure = error
                else:
                    if isinstance(step, (Send, Run)):
                        opened.append(answer if isinstance(step, Send) else answer.response)
                        abort.attach(opened[-1].close)
        except StopIteration as stop:
            value: T = stop.value
            return value
        except BaseException:
            for response in opened:
                response.close()
            steps.close()
            raise
        finally:
            abort.detach()
            answer = failure = None  # a failure holds this frame, and this frame must not hold it

    def _perform(self, step: Any, abort: Abort) -> Any:
        backend = self.backend
        match step:
            case Read(response, timeout):
                return response.read(timeout)
            case Send(request, connect, read, total):
                return backend.send(request, connect=connect, read=read, total=total, abort=abort)
            case Close(response):
                return response.close()
            case Call(function):
                return backend.call(function)
            case Sleep(seconds):
                with self._pauses.one(abort) as pause:
                    return backend.sleep(seconds, pause)
            case Run():
                return self._run_layer(step, abort)
            case _:
                raise TypeError(f"no step: {type(step).__name__}")

    def _run_layer(self, step: Run, abort: Abort) -> Reply[HttpResponse]:
        following = Next(self, step, abort)
        chosen: Stream | None = None
        try:
            stream: object = step.layer(step.request, following)
            if not isinstance(stream, Stream):
                raise ConfigError("a layer must return the stream that next(request) gave")
            with abort.child() as own:  # it may be another client's, and not be under way yet
                own.attach(stream.close)
                chosen = stream.open()
            return chosen._opened()
        finally:
            following.close_others(chosen)


class Next:
    """The rest of the stack, for a layer: ``next(request)`` opens the call and returns its stream.

    Attributes:
        host (str): The server's host.
        port (int): Its port.
        api (str): The wire API's name, for example ``openai.chat``.

    Example:
        >>> from svir.testing import MockServer
        >>> def brief(request, next):
        ...     return next(request.replace(system="Be brief."))
        >>> with MockServer(["Because."]) as server:
        ...     server.client(layers=[brief]).complete("Why do rivers meander?").text
        'Because.'
        >>> server.requests[0].body["messages"][0]["content"]
        'Be brief.'
    """

    def __init__(self, driver: Driver, step: Run, abort: Abort) -> None:
        self._driver = driver
        self._abort = abort
        self._rest = step.rest
        self._given: list[Stream] = []
        server: Server = step.server
        self.host, self.port, self.api = server.host, server.port, server.api

    def __call__(self, request: Request) -> Stream:
        """Opens the call; may be made again with the same or another request."""
        check(request, Request, "what a layer passes to next()")
        with self._abort.child() as abort:
            stream = Stream(self._driver, lambda: self._rest(request), abort).open()
        self._given.append(stream)
        return stream

    def close_others(self, chosen: Stream | None) -> None:
        """Closes every stream the layer asked for and did not return."""
        given, self._given = self._given, []  # they lead back here, and would wait for the collector
        for stream in given:
            if stream is not chosen:
                stream.close()


class _Opened(Opening[P]):
    """A call that goes out once it is needed; shared by both kinds of streams."""

    def __init__(self, driver: Driver, steps: Callable[[], Steps[P]], abort: Abort | None = None) -> None:
        super().__init__(steps, abort)
        self._driver = driver

    def open(self) -> Self:
        """Sends the request and waits for the response's head; does nothing the second time.

        Raises:
            svir.Error: The call failed; asked again, it raises the same error.
        """
        self._opened()
        return self

    def _opened(self) -> P:
        if self._reply is not None:
            return self._reply
        steps = self._begin()
        try:
            reply = self._reply = self._driver.run(steps(), self._abort)
        except Error as error:
            failure = self._failed(error)
        except BaseException:
            self._interrupted()
            raise
        else:
            if self._closed:  # by another thread, meanwhile
                self.close()
            return reply
        raise failure

    @property
    def headers(self) -> Headers:
        """The response's headers; opens the call if need be. Their values are withheld from ``repr``."""
        headers: Headers = self._opened().response.headers
        return headers

    @property
    def request_id(self) -> str | None:
        """The server's name for the request, when it gave one; opens the call if need be."""
        return self._opened().request_id

    def close(self) -> None:
        """Ends the call; a connection not read to its end is shut. Any thread may, at any time."""
        self._closed = True
        if self._reply is not None:
            self._reply.closed = True
            self._reply.end("closed")
            self._reply.response.close()
        else:
            self._abort()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Stream(_Opened["Reply[HttpResponse]"], Shaped):
    """One answer as it arrives: an iterator of events that ends with ``Completed``, or raises.

    The request goes out when the block is entered, on ``open()``, or with the first event. A stream is not
    to be shared between threads; only ``close()`` may come from another one.

    Example:
        >>> from svir.testing import MockServer
        >>> with MockServer(["Because they can."]) as server:
        ...     with server.client().stream("Why do rivers meander?") as stream:
        ...         for event in stream:
        ...             print(type(event).__name__)
        TextDelta
        TextDelta
        TextDelta
        Completed
    """

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        reply = self._opened()
        try:
            while (event := reply.take()) is None and not reply.over:
                try:
                    data = reply.response.read(reply.left())
                except Error as error:
                    reply.fail(error)
                else:
                    reply.feed(data)
                    data = b""  # a frame shown with its locals shows no words of the server
            if event is None:
                self._driver.run(reply.drain())
        except BaseException:
            reply.end("interrupted")  # unless it had ended before: by a failure, mostly
            reply.response.close()
            raise
        if event is None:
            raise StopIteration
        return event

    def _known(self) -> Reply[HttpResponse]:
        return self._opened()

    def text(self) -> Texts:
        """The pieces of the answer's text alone; ``complete()`` afterwards gives the whole answer."""
        return Texts(self)

    def complete(self) -> Completion:
        """Reads the rest and returns the whole answer.

        Raises:
            svir.Error: What iterating would raise.
        """
        for _ in self:
            pass
        completion = self._opened().completion
        if completion is None:
            raise AssertionError("a decoder ended without a completion")
        return completion

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        reply = self._reply
        try:
            if kind is None and reply is not None and reply.over and not self._closed:
                self._driver.run(reply.drain())
        finally:
            self.close()


class Texts:
    """The text of a stream, piece by piece."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        for event in self._stream:
            if isinstance(event, TextDelta):
                return event.text
        raise StopIteration


class RawStream(_Opened["RawReply[HttpResponse]"]):
    """The server's bytes, unchanged, as they arrive (D20); only a decoder tells whether they are whole."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        reply = self._opened()
        reply.check()
        try:
            if not reply.over:
                try:
                    data = reply.response.read(reply.left())
                except Error as error:
                    reply.fail(error)
                else:
                    reply.feed(data)
                    if data:
                        return data
            reply.check()
        except BaseException:
            reply.response.close()
            raise
        self.close()
        raise StopIteration
