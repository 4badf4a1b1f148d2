"""The blocking face: performs the steps with a backend, and hands out events. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from svir.client._base import ClientBase, as_request, as_typed_request, require_no_pool_options
from svir.client._keys import resolve_key
from svir.errors import ConfigError, Error, TransportError
from svir.exchange import Compatibility, RawReply, Reply
from svir.exchange._steps import Call, Close, Read, Run, Send, Sleep
from svir.http._seam import Abort
from svir.types import TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType
    from typing import Unpack

    from typing_extensions import TypeForm

    from svir.exchange import Deadlines, Options, Server, Steps, StepsLayer
    from svir.http._seam import Backend, Headers, HttpResponse
    from svir.types import Completion, Event, ModelInfo, Request, Turn
    from svir.types._request import RequestFields

    Layer = Callable[[Request, "Next"], "Stream"] | StepsLayer

__all__ = ["Client", "Next", "RawStream", "Stream"]

T = TypeVar("T")
P = TypeVar("P", bound="RawReply[Any]")


class Driver:
    """Performs steps, blocking."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

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
                return backend.sleep(seconds)
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
            chosen = stream.open()
            return chosen._opened()
        finally:
            following.close_others(chosen)


class Next:
    """The rest of the stack, for a layer: ``next(request)`` opens the call and returns its stream.

    Attributes:
        host: The server's host.
        port: Its port.
        api: The wire API's name, for example ``openai.chat``.
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
        stream = Stream(self._driver, lambda: self._rest(request), self._abort).open()
        self._given.append(stream)
        return stream

    def close_others(self, chosen: Stream | None) -> None:
        """Closes every stream the layer asked for and did not return."""
        for stream in self._given:
            if stream is not chosen:
                stream.close()


class _Opened(Generic[P]):
    """A call that goes out once it is needed; shared by both kinds of streams."""

    def __init__(self, driver: Driver, steps: Callable[[], Steps[P]], abort: Abort | None = None) -> None:
        self._driver = driver
        self._steps = steps
        self._abort = Abort() if abort is None else abort
        self._reply: P | None = None
        self._failure: Error | None = None
        self._closed = False

    def open(self) -> Self:
        """Sends the request and waits for the response's head; does nothing the second time.

        Raises:
            svir.Error: The call failed; asked again, it raises the same error.
        """
        self._opened()
        return self

    def _opened(self) -> P:
        if self._reply is None:
            self._check()
            try:
                self._reply = self._driver.run(self._steps(), self._abort)
            except Error as error:
                self._failure = error
                raise
            if self._closed:  # by another thread, meanwhile
                self.close()
        return self._reply

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise TransportError("the stream was closed by this program", retryable=False, unsent=True)

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


class Stream(_Opened["Reply[HttpResponse]"]):
    """One answer as it arrives: an iterator of events that ends with ``Completed``, or raises.

    The request goes out when the block is entered, on ``open()``, or with the first event. A stream is not
    to be shared between threads; only ``close()`` may come from another one.
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
            if event is None:
                self._driver.run(reply.drain())
        except BaseException:
            reply.end("interrupted")  # unless it had ended before: by a failure, mostly
            reply.response.close()
            raise
        if event is None:
            raise StopIteration
        return event

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

    def first_token_by(self, when: float) -> None:
        """Something of the answer must come by ``when`` (``time.monotonic()``); tighter wins (D28)."""
        self._opened().first_token_by(when)

    def complete_by(self, when: float) -> None:
        """The answer must be whole by ``when`` (``time.monotonic()``); tighter wins (D28)."""
        self._opened().complete_by(when)

    def idle_timeout(self, seconds: float) -> None:
        """The server may be silent for ``seconds`` at most; tighter wins (D28)."""
        self._opened().idle_timeout(seconds)

    def inspect(self, watch: Callable[[Event | Error], object]) -> None:
        """Calls ``watch`` with every event handed out from now on, and the error that ends it."""
        self._opened().inspect(watch)

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
                    reply.over = not data
                    if data:
                        return data
            reply.check()
        except BaseException:
            reply.response.close()
            raise
        self.close()
        raise StopIteration


class Client(ClientBase):
    """A blocking client for one server. Safe to share between threads; streams are not.

    Example:
        >>> import svir
        >>> svir.Client.openai("http://127.0.0.1:1234", model="qwen3-27b")
        Client(openai.chat at 127.0.0.1:1234, model='qwen3-27b')
    """

    _colour: ClassVar[str] = "sync"
    _driver: Driver

    @classmethod
    def openai(
        cls,
        url: str,
        *,
        layers: Sequence[Layer] = (),
        backend: Backend | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """A client for a server that speaks OpenAI-compatible Chat Completions.

        Args:
            url: The base URL, with or without ``/v1``.
            layers: Functions ``layer(request, next) -> stream`` around every call; the first is outermost.
            backend: What sends HTTP requests; the built-in one when None.
            **options: As follows.

        Options:
            model: The model of requests that name none.
            api_key: The key, or a function that is asked for it before each request.
            api_key_env: The environment variable that holds the key, read now.
            api_key_file: The file that holds the key (at most 4096 bytes), read now.
            api_key_header: The header the key is sent in; default ``authorization``, with ``Bearer``.
            headers: Headers for every request; values are treated as secrets (D38).
            path: The path of requests below the URL, in place of ``/v1/chat/completions``.
            query: A query for every request; treated as a secret.
            allow_http: Allow plain HTTP to a host that is not loopback.
            ca_file: Trust the certificates in this PEM file instead of the system's.
            ssl_context: A TLS context to use as it is.
            include_usage: Ask for token counts; default true (D21).
            max_tokens_field: The wire's name for ``max_tokens``, for example ``max_completion_tokens``.
            mode: ``strict`` (default) or ``lenient``.
            limits: Limits on answers.
            think: ``split`` (default) or ``keep``.
            context_tokens: The context's size, to refuse what cannot fit before sending it (P14).
            connect_timeout: Seconds to connect; default 10.
            idle_timeout: Seconds of silence; default 300; None: no limit.
            timeout: Seconds for a whole call; default None.
            max_connections: Most connections at once; default None: no limit.
            compatibility: What was learned elsewhere, to be shared.

        Raises:
            svir.ConfigError: An option is not accepted; its text never holds a secret.
        """
        from svir.openai.chat import API

        client = cls.__new__(cls)
        client._configure(API, url, options, layers, resolve_key(options), Compatibility())
        if backend is not None:
            require_no_pool_options(options, "the built-in backend, which backend= replaces")
        else:
            from svir.http._builtin import Http11Backend

            backend = Http11Backend(
                max_connections=options.get("max_connections"),
                ca_file=options.get("ca_file"),
                ssl_context=options.get("ssl_context"),
            )
        client._driver = Driver(backend)
        return client

    def with_options(self, *, layers: Sequence[Layer] | None = None, **changes: Unpack[Options]) -> Self:
        """A client with other options that shares this one's connections, key and what was learned.

        Closing either closes the connections of both.

        Raises:
            svir.ConfigError: An option is not accepted, or concerns the shared connections.
        """
        client = type(self).__new__(type(self))
        client._derive(self, changes, layers)
        client._driver = self._driver
        return client

    def complete(
        self, request: Request | Turn | Iterable[Turn], /, **fields: Unpack[RequestFields]
    ) -> Completion:
        """Asks, and returns the whole answer.

        Args:
            request: A request, or turns (a string is a user's turn).
            **fields: Fields of the request.

        Raises:
            svir.Error: Any kind; what came before a stream failed is in ``partial``.
        """
        with self.stream(request, **fields) as stream:
            return stream.complete()

    def parse(
        self,
        type: TypeForm[T],  # noqa: A002 (the word says it best)
        request: Request | Turn | Iterable[Turn],
        /,
        *,
        strict: bool = False,
        **fields: Unpack[RequestFields],
    ) -> T:
        """Asks for an answer of a type, and returns it (D40, D41).

        The type's JSON Schema is sent as the response format: ``Schema.of(type, strict=strict)``. Whether a
        server keeps to it is the server's; what comes back is read into the type, or raises.

        Args:
            type: A dataclass, TypedDict, NamedTuple, attrs class, msgspec struct, pydantic model, or a list,
                dict, Literal or union; see ``Completion.parse``.
            request: A request, or turns (a string is a user's turn).
            strict: Write the schema as strict servers demand, and ask them to keep to it.
            **fields: Fields of the request, without ``response_format``.

        Raises:
            svir.AnswerError: The answer was refused, cut, withdrawn, made of calls, is no JSON or does not
                fit; ``error.completion`` is the answer, with its usage.
            svir.ConfigError: The type has no such schema, or the request asks for another form of answer.
            svir.Error: As ``complete``.
        """
        return self.complete(as_typed_request(type, request, fields, strict=strict)).parse(type)

    def stream(self, request: Request | Turn | Iterable[Turn], /, **fields: Unpack[RequestFields]) -> Stream:
        """Asks, and returns the answer as it arrives; use it in a ``with`` block.

        Example:
            .. code-block:: python

                with client.stream("Why do rivers meander?") as stream:
                    for text in stream.text():
                        print(text, end="", flush=True)
        """
        return self._stream(as_request(request, fields))

    def _stream(self, asked: Request, outer: Deadlines | None = None) -> Stream:
        """A stream that also keeps the limits of a call around it: what a layer falls back to."""
        exchange = self._exchange
        return Stream(self._driver, lambda: self._open(asked, exchange.deadlines().within(outer)))

    def send(self, request: Request | Turn | Iterable[Turn], /, **fields: Unpack[RequestFields]) -> RawStream:
        """Asks, and returns the server's bytes unchanged; layers do not see it (D20)."""
        asked = as_request(request, fields)
        exchange = self._exchange
        return RawStream(self._driver, lambda: exchange.open_raw(asked, exchange.deadlines()))

    def models(self) -> tuple[ModelInfo, ...]:
        """The models the server lists, unfiltered; layers do not see it.

        Raises:
            svir.Error: Any kind but those of a stream.
        """
        return self._driver.run(self._exchange.models(self._exchange.deadlines()))

    def close(self) -> None:
        """Closes every connection; a thread that waits for one gets ``TransportError``."""
        self._driver.backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
