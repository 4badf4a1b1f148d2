"""The blocking client: what it is asked becomes steps, which a driver performs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from svir.client._base import ClientBase, as_many, as_request, as_typed_request
from svir.client._sync_streams import Driver, Next, RawStream, Stream
from svir.http._seam import withheld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType
    from typing import Unpack

    from typing_extensions import TypeForm

    from svir.client._sync_many import Completions
    from svir.exchange import Deadlines, Options, StepsLayer
    from svir.http._seam import Backend
    from svir.types import Completion, ModelInfo, Request, Turn
    from svir.types._request import RequestFields

    Layer = Callable[[Request, "Next"], "Stream"] | StepsLayer

__all__ = ["Client"]

T = TypeVar("T")


def _builtin(**options: Any) -> Backend:
    from svir.http._builtin import Http11Backend  # at a client's making, not at import

    return Http11Backend(**options)


class Client(ClientBase):
    """A blocking client for one server. Safe to share between threads; streams are not.

    Example:
        >>> import svir
        >>> svir.Client.openai("http://127.0.0.1:1234", model="qwen3-27b")
        Client(openai.chat at 127.0.0.1:1234, model='qwen3-27b')
    """

    _colour: ClassVar[str] = "sync"
    _builtin = staticmethod(_builtin)
    _driven_by = Driver
    _driver: Driver

    @classmethod
    @withheld
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

        return cls._built(API, url, options, layers, backend)

    @withheld
    def with_options(self, *, layers: Sequence[Layer] | None = None, **changes: Unpack[Options]) -> Self:
        """A client with other options that shares this one's connections, key and what was learned.

        Closing either closes the connections of both.

        Args:
            layers: In place of all of this one's; None keeps them.
            **changes: Options of ``openai``, but those of the connections: ``max_connections``, ``ca_file``,
                ``ssl_context``.

        Raises:
            svir.ConfigError: An option is not accepted, or concerns the shared connections.

        Example:
            >>> import svir
            >>> client = svir.Client.openai("http://127.0.0.1:1234", model="large")
            >>> client.with_options(model="small", timeout=60)
            Client(openai.chat at 127.0.0.1:1234, model='small')
        """
        return self._derived(changes, layers)

    def complete(
        self, request: Request | Turn | Iterable[Turn] = (), /, **fields: Unpack[RequestFields]
    ) -> Completion:
        """Asks, and returns the whole answer.

        Args:
            request: A request, or turns (a string is a user's turn); ``messages=`` may say them instead.
            **fields: Fields of the request.

        Raises:
            svir.Error: Any kind; what came before a stream failed is in ``partial``.

        Example:
            >>> from svir.testing import MockServer
            >>> with MockServer(["Because they can."]) as server:
            ...     server.client().complete("Why do rivers meander?", max_tokens=100).text
            'Because they can.'
        """
        with self.stream(request, **fields) as stream:
            return stream.complete()

    def parse(
        self,
        type: TypeForm[T],  # noqa: A002 (the word says it best)
        request: Request | Turn | Iterable[Turn] = (),
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
            request: A request, or turns (a string is a user's turn); ``messages=`` may say them instead.
            strict: Write the schema as strict servers demand, and ask them to keep to it.
            **fields: Fields of the request, without ``response_format``.

        Raises:
            svir.AnswerError: The answer was refused, cut, withdrawn, made of calls, is no JSON or does not
                fit; ``error.completion`` is the answer, with its usage.
            svir.ConfigError: The type has no such schema, or the request asks for another form of answer.
            svir.Error: As ``complete``.

        Example:
            >>> from svir.testing import MockServer
            >>> with MockServer(['{"Otra": 245, "Glomma": 621}']) as server:
            ...     server.client().parse(dict[str, int], "How long are the rivers of Norway, in km?")
            {'Otra': 245, 'Glomma': 621}
        """
        return self.complete(as_typed_request(type, request, fields, strict=strict)).parse(type)

    def stream(
        self, request: Request | Turn | Iterable[Turn] = (), /, **fields: Unpack[RequestFields]
    ) -> Stream:
        """Asks, and returns the answer as it arrives; use it in a ``with`` block.

        Args:
            request: A request, or turns (a string is a user's turn); ``messages=`` may say them instead.
            **fields: Fields of the request.

        Raises:
            svir.ConfigError: A field is not accepted. Whatever else fails does so when the block is entered,
                or while the stream is read.

        Example:
            >>> from svir.testing import MockServer
            >>> with MockServer(["Because they can."]) as server:
            ...     with server.client().stream("Why do rivers meander?") as stream:
            ...         for text in stream.text():
            ...             print(text, end="|")
            ...     print(stream.complete().finish)
            Because| they| can.|stop
        """
        return self._stream(as_request(request, fields))

    def _stream(self, asked: Request, outer: Deadlines | None = None) -> Stream:
        """A stream that also keeps the limits of a call around it: what a layer falls back to."""
        exchange = self._exchange
        return Stream(self._driver, lambda: self._open(asked, exchange.deadlines().within(outer)))

    def complete_all(
        self,
        requests: Iterable[Request | Turn | Iterable[Turn]],
        /,
        *,
        concurrency: int = 8,
        **fields: Unpack[RequestFields],
    ) -> Completions:
        """Asks many things at once, and gives each answer as it ends, with the number of its request.

        A failed call is an outcome, not an exception. The next request is asked for only when an answer was
        taken, so that ``requests`` may be endless. Calls under way are shut when the block is left.

        Args:
            requests: Requests, or what ``complete`` takes.
            concurrency: Most calls under way at once.
            **fields: Fields for all of the requests.

        Returns:
            An iterator of ``(index, Completion | svir.Error)``, in the order the calls end.

        Raises:
            svir.ConfigError: ``concurrency`` is less than 1.

        Example:
            >>> from svir.testing import MockServer
            >>> with MockServer(["Hello.", "Fine."]) as server:
            ...     with server.client().complete_all(["Hello", "And you?"], concurrency=1) as outcomes:
            ...         for index, outcome in outcomes:
            ...             print(index, outcome.text)
            0 Hello.
            1 Fine.
        """
        from svir.client._sync_many import Completions  # few clients need it

        return Completions((self.stream(request, **fields) for request in as_many(requests)), concurrency)

    def send(
        self, request: Request | Turn | Iterable[Turn] = (), /, **fields: Unpack[RequestFields]
    ) -> RawStream:
        """Asks, and returns the server's bytes unchanged; layers do not see it (D20).

        Args:
            request: A request, or turns (a string is a user's turn); ``messages=`` may say them instead.
            **fields: Fields of the request.

        Raises:
            svir.ConfigError: A field is not accepted. A failed status, or no connection, raises when the
                block is entered, before the first byte.

        Example:
            >>> from svir.testing import MockServer
            >>> with MockServer(["Because they can."]) as server:
            ...     with server.client().send("Why do rivers meander?") as raw:
            ...         b"data: [DONE]" in b"".join(raw)
            True
        """
        asked = as_request(request, fields)
        exchange = self._exchange
        return RawStream(self._driver, lambda: exchange.open_raw(asked, exchange.deadlines()))

    def models(self) -> tuple[ModelInfo, ...]:
        """The models the server lists, unfiltered; layers do not see it.

        Raises:
            svir.Error: Any kind but those of a stream.

        Example:
            >>> from svir.testing import MockServer, Reply
            >>> with MockServer([Reply(models=["small", "large"])]) as server:
            ...     [model.id for model in server.client().models()]
            ['small', 'large']
        """
        return self._driver.run(self._exchange.models(self._exchange.deadlines()))

    def close(self) -> None:
        """Closes every connection; a thread that waits for one, or pauses, gets ``TransportError``."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
