"""Backends that play scripted replies, without a socket: for tests that need no network.

They fill in the seam that every backend does, and understand the same replies as ``MockServer``. A request
that nothing is scripted for raises ``AssertionError`` on the spot, since here nothing stands between the
script and the test.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, TypeVar

from svir.errors import TransportError
from svir.http import AsyncHttp11Backend, Headers, Http11Backend
from svir.testing._playback import Playback
from svir.testing._script import Received, Scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from svir.http import Abort, HttpRequest
    from svir.testing._reply import Reply

__all__ = ["AsyncScriptedBackend", "ScriptedBackend"]

T = TypeVar("T")


class _Backend(Scripted):
    def __init__(self, replies: Iterable[Reply | str] = ()) -> None:
        super().__init__(replies)
        self._playing: list[Playback] = []
        self._closed = False

    def close(self) -> None:
        """Closes every response; a later ``send`` fails. As with any backend."""
        self._closed = True
        for playback in self._playing:
            playback.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self.script.check(error, type(self).__name__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _play(self, request: HttpRequest, content: bytes, abort: Abort | None) -> Playback:
        path, _, query = request.target.partition("?")
        fields = {name: request.headers.get(name) or "" for name, _ in request.headers}
        playback = Playback(self.script.take(Received(request.method, path, query, fields, content)))
        self._playing.append(playback)
        if abort is not None:
            abort.attach(playback.close)
        return playback

    def _require_open(self) -> None:
        if self._closed:
            raise TransportError("the client was closed by this program", retryable=False, unsent=True)


class _Response:
    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self.status: int = playback.parser.status or 0
        self.headers: Headers = playback.parser.headers

    def close(self) -> None:
        """Ends the response, from any thread; see ``svir.http.HttpResponse.close``."""
        self._playback.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status}, {self.headers!r})"


class ScriptedResponse(_Response):
    """A response of ``ScriptedBackend``."""

    def read(self, timeout: float | None) -> bytes:
        """The next piece of the body, empty at its end; see ``svir.http.HttpResponse.read``."""
        for seconds in self._playback.piece(timeout):
            time.sleep(seconds)
        return self._playback.take()


class AsyncScriptedResponse(_Response):
    """A response of ``AsyncScriptedBackend``."""

    def __init__(self, playback: Playback, loop: AsyncHttp11Backend) -> None:
        super().__init__(playback)
        self._loop = loop

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract)
        """The next piece of the body, empty at its end; cancelling it closes the response."""
        await _sleep_through(self._loop, self._playback, self._playback.piece(timeout))
        return self._playback.take()


class ScriptedBackend(_Backend):
    """A backend that plays replies, for ``Client(backend=...)``; delays and stalls take their time.

    In a ``with`` block it fails the test when the script was not followed, as ``MockServer`` does.

    Args:
        replies: The first replies: ``Reply`` values, or strings as their text.

    Raises:
        AssertionError: From a call: nothing is scripted for it. When the block is left: the script was not
            followed.

    Example:
        >>> import svir
        >>> from svir.testing import ScriptedBackend
        >>> with ScriptedBackend(["Because they can."]) as backend:
        ...     client = svir.Client.openai("http://127.0.0.1", model="m", backend=backend)
        ...     client.complete("Why do rivers meander?").text
        'Because they can.'
    """

    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,  # noqa: ARG002 (the seam's contract; nothing is connected here)
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> ScriptedResponse:
        """Takes the next reply and plays its head; see ``svir.http.Backend.send``."""
        self._require_open()
        content = b"" if request.body is None else bytes(request.body)
        playback = self._play(request, content, abort)
        for seconds in playback.head(read, total):
            time.sleep(seconds)
        return ScriptedResponse(playback)

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits; less when it is aborted."""
        Http11Backend().sleep(seconds, abort)

    def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block: here, at once."""
        return function()


class AsyncScriptedBackend(_Backend):
    """The same for ``AsyncClient(backend=...)``, under asyncio and trio; also for ``async with``.

    Example:
        >>> import asyncio, svir
        >>> from svir.testing import AsyncScriptedBackend, Reply
        >>> async def ask():
        ...     backend = AsyncScriptedBackend([Reply(text="Because they can.")])
        ...     async with svir.AsyncClient.openai("http://127.0.0.1", model="m", backend=backend) as client:
        ...         return (await client.complete("Why do rivers meander?")).text
        >>> asyncio.run(ask())
        'Because they can.'
    """

    def __init__(self, replies: Iterable[Reply | str] = ()) -> None:
        super().__init__(replies)
        self._loop = AsyncHttp11Backend()  # sends nothing here, but knows how to wait under either loop

    async def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,  # noqa: ARG002 (the seam's contract; nothing is connected here)
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> AsyncScriptedResponse:
        """Takes the next reply and plays its head; see ``svir.http.AsyncBackend.send``."""
        self._require_open()
        body = request.body
        if body is None or body.in_memory:
            content = b"" if body is None else bytes(body)
        else:
            content = await self.call(lambda: bytes(body))
        playback = self._play(request, content, abort)
        await _sleep_through(self._loop, playback, playback.head(read, total))
        return AsyncScriptedResponse(playback, self._loop)

    async def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits, under the loop that runs this."""
        await self._loop.sleep(seconds, abort)

    async def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block, in a worker thread."""
        return await self._loop.call(function)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


async def _sleep_through(loop: AsyncHttp11Backend, playback: Playback, waits: Iterable[float]) -> None:
    try:
        for seconds in waits:
            await loop.sleep(seconds)
    except BaseException as error:
        if not isinstance(error, Exception):  # it is being cancelled
            playback.close()
        raise
