"""The asynchronous client, under asyncio and trio: the same names, awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from svir.client._async_streams import AsyncDriver, AsyncNext, AsyncRawStream, AsyncStream
from svir.client._base import ClientBase, as_many, as_request, as_typed_request
from svir.http._seam import withheld

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from types import TracebackType
    from typing import Unpack

    from typing_extensions import TypeForm

    from svir.client._async_many import AsyncCompletions
    from svir.exchange import Deadlines, Options, StepsLayer
    from svir.http._seam import AsyncBackend
    from svir.types import Completion, ModelInfo, Request, Turn
    from svir.types._request import RequestFields

    AsyncLayer = Callable[[Request, "AsyncNext"], Awaitable["AsyncStream"]] | StepsLayer

__all__ = ["AsyncClient"]

T = TypeVar("T")


def _builtin(**options: Any) -> AsyncBackend:
    from svir.http._builtin import AsyncHttp11Backend  # at a client's making, not at import

    return AsyncHttp11Backend(**options)


class AsyncClient(ClientBase):
    """An asynchronous client for one server, under asyncio or trio. Tasks may share it, but not a stream.

    Example:
        >>> import svir
        >>> svir.AsyncClient.openai("http://127.0.0.1:1234", model="qwen3-27b")
        AsyncClient(openai.chat at 127.0.0.1:1234, model='qwen3-27b')
    """

    _colour: ClassVar[str] = "async"
    _builtin = staticmethod(_builtin)
    _driven_by = AsyncDriver
    _driver: AsyncDriver

    @classmethod
    @withheld
    def openai(
        cls,
        url: str,
        *,
        layers: Sequence[AsyncLayer] = (),
        backend: AsyncBackend | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """A client for a server that speaks OpenAI-compatible Chat Completions.

        Args:
            url: The base URL, with or without ``/v1``.
            layers: Functions ``async layer(request, next) -> stream`` around every call; the first is
                outermost.
            backend: What sends HTTP requests; the built-in one when None.
            **options: Those of ``svir.Client.openai``; ``api_key`` may be an ``async`` function here.

        Raises:
            svir.ConfigError: An option is not accepted; its text never holds a secret.
        """
        from svir.openai.chat import API

        return cls._built(API, url, options, layers, backend)

    @withheld
    def with_options(self, *, layers: Sequence[AsyncLayer] | None = None, **changes: Unpack[Options]) -> Self:
        """A client with other options that shares this one's connections, key and what was learned.

        Closing either closes the connections of both. Arguments and errors are those of
        ``svir.Client.with_options``.

        Raises:
            svir.ConfigError: An option is not accepted, or concerns the shared connections.
        """
        return self._derived(changes, layers)

    async def complete(
        self, request: Request | Turn | Iterable[Turn] = (), /, **fields: Unpack[RequestFields]
    ) -> Completion:
        """Asks, and returns the whole answer; as ``svir.Client.complete``.

        Cancelling it ends the call at the server, too.

        Raises:
            svir.Error: Any kind; what came before a stream failed is in ``partial``.

        Example:
            >>> import asyncio
            >>> from svir.testing import MockServer
            >>> async def ask():
            ...     async with MockServer(["Because they can."]) as server:
            ...         return (await server.async_client().complete("Why do rivers meander?")).text
            >>> asyncio.run(ask())
            'Because they can.'
        """
        async with self.stream(request, **fields) as stream:
            return await stream.complete()

    async def parse(
        self,
        type: TypeForm[T],  # noqa: A002 (the word says it best)
        request: Request | Turn | Iterable[Turn] = (),
        /,
        *,
        strict: bool = False,
        **fields: Unpack[RequestFields],
    ) -> T:
        """Asks for an answer of a type, and returns it; as ``svir.Client.parse``.

        Raises:
            svir.AnswerError: The answer cannot be read as the type.
            svir.ConfigError: The type has no such schema, or the request asks for another form of answer.
            svir.Error: As ``complete``.
        """
        asked = as_typed_request(type, request, fields, strict=strict)
        return (await self.complete(asked)).parse(type)

    def stream(
        self, request: Request | Turn | Iterable[Turn] = (), /, **fields: Unpack[RequestFields]
    ) -> AsyncStream:
        """Asks, and returns the answer as it arrives; use it in an ``async with`` block.

        Arguments and errors are those of ``svir.Client.stream``.

        Example:
            >>> import asyncio
            >>> from svir.testing import MockServer
            >>> async def ask():
            ...     async with MockServer(["Because they can."]) as server:
            ...         async with server.async_client().stream("Why do rivers meander?") as stream:
            ...             async for text in stream.text():
            ...                 print(text, end="|")
            >>> asyncio.run(ask())
            Because| they| can.|
        """
        return self._stream(as_request(request, fields))

    def _stream(self, asked: Request, outer: Deadlines | None = None) -> AsyncStream:
        """A stream that also keeps the limits of a call around it: what a layer falls back to."""
        exchange = self._exchange
        return AsyncStream(self._driver, lambda: self._open(asked, exchange.deadlines().within(outer)))

    def complete_all(
        self,
        requests: Iterable[Request | Turn | Iterable[Turn]],
        /,
        *,
        concurrency: int = 8,
        **fields: Unpack[RequestFields],
    ) -> AsyncCompletions:
        """Asks many things at once; as ``svir.Client.complete_all``, in an ``async with`` block.

        Raises:
            svir.ConfigError: ``concurrency`` is less than 1.
        """
        from svir.client._async_many import AsyncCompletions  # few clients need it

        return AsyncCompletions(
            (self.stream(request, **fields) for request in as_many(requests)), concurrency
        )

    def send(
        self, request: Request | Turn | Iterable[Turn] = (), /, **fields: Unpack[RequestFields]
    ) -> AsyncRawStream:
        """Asks, and returns the server's bytes unchanged; as ``svir.Client.send`` (D20)."""
        asked = as_request(request, fields)
        exchange = self._exchange
        return AsyncRawStream(self._driver, lambda: exchange.open_raw(asked, exchange.deadlines()))

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models the server lists, unfiltered; as ``svir.Client.models``.

        Raises:
            svir.Error: Any kind but those of a stream.
        """
        return await self._driver.run(self._exchange.models(self._exchange.deadlines()))

    async def aclose(self) -> None:
        """Closes every connection; a task that waits for one, or pauses, gets ``TransportError``."""
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
