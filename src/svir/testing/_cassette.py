"""Answers of a real server, recorded once and replayed ever after.

A cassette is a backend around a backend. Recording, it hands everything on unchanged and keeps a copy;
replaying, it touches no network, and ends an answer as the recorded one ended.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeVar

from svir.errors import Error, TransportError
from svir.http import AsyncHttp11Backend, Headers, Http11Backend
from svir.testing._deck import BREAKS, Deck, Mode, Take

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Collection

    from svir.http import Abort, AsyncBackend, AsyncHttpResponse, Backend, HttpRequest, HttpResponse
    from svir.testing._tape import Answer

__all__ = ["AsyncCassette", "Cassette"]

T = TypeVar("T")


class _Replayed:
    """A recorded answer as a response."""

    def __init__(self, answer: Answer) -> None:
        self.status = answer.status
        self.headers = Headers(answer.headers)
        self._body = answer.body
        self._end = answer.end
        self._closed = False

    def next(self) -> bytes:
        """The body, then its end."""
        if self._closed and (self._body or self._end != "whole"):
            raise TransportError("the response was closed by this program", retryable=False)
        data, self._body = self._body, b""
        if not data and self._end != "whole":
            kind, what = BREAKS[self._end]
            raise kind(what)
        return data

    def close(self) -> None:
        """Ends the response; see ``svir.http.HttpResponse.close``."""
        self._closed = True


class _ReplayedResponse(_Replayed):
    def read(self, timeout: float | None) -> bytes:  # noqa: ARG002 (the seam's contract; nothing is waited for)
        """The body, whole, then its end; see ``svir.http.HttpResponse.read``."""
        return self.next()


class _AsyncReplayedResponse(_Replayed):
    async def read(self, timeout: float | None) -> bytes:  # noqa: ARG002, ASYNC109 (as above)
        """The body, whole, then its end; see ``svir.http.HttpResponse.read``."""
        return self.next()


class _Recorded:
    """A response of the real backend, recorded while it is read."""

    def __init__(self, inner: Any, take: Take) -> None:  # a response of either colour
        self._inner = inner
        self._take = take
        self.status: int = inner.status
        self.headers: Headers = inner.headers
        take.head(self.status, self.headers)

    def close(self) -> object:
        """Ends the response; see ``svir.http.HttpResponse.close``."""
        self._take.end("left")
        closing: object = self._inner.close()
        return closing


class _RecordedResponse(_Recorded):
    def read(self, timeout: float | None) -> bytes:
        """As the real response's."""
        try:
            data: bytes = self._inner.read(timeout)
        except Error as error:
            self._take.failed(error)
            raise
        return self._take.read(data)

    def close(self) -> None:
        super().close()


class _AsyncRecordedResponse(_Recorded):
    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract)
        """As the real response's."""
        try:
            data: bytes = await self._inner.read(timeout)
        except Error as error:
            self._take.failed(error)
            raise
        return self._take.read(data)


class Cassette:
    """A backend that records the answers of a real server, or replays them: ``Client(backend=...)``.

    The file is JSON, made to be read, and kept under version control beside the tests. See
    ``docs/testing.md`` for what is on it and how requests are told apart.

    Args:
        path: The file. Folders that are missing are made when something is recorded.
        backend: What sends the requests that are recorded; svir's own by default.
        mode: ``once`` records when there is no file yet, and replays when there is. ``replay`` never touches
            the network. ``record`` always records, in place of what was there.
        hide_headers: Headers of answers that are not to be written, beside cookies and those about keys.

    Attributes:
        recording (bool): Whether it records.

    Raises:
        svir.ConfigError: The file cannot be read, or is no cassette; from a call: nothing is recorded for its
            request; from the next call or ``close``: the file could not be written.

    Example:
        >>> import svir, tempfile
        >>> from svir.testing import Cassette, MockServer
        >>> path = tempfile.mkdtemp() + "/rivers.json"  # in tests: a file beside them
        >>> with MockServer(["Because they can."]) as server:  # a real server, the first time
        ...     with svir.Client.openai(server.url, model="m", backend=Cassette(path)) as client:
        ...         answer = client.complete("Why do rivers meander?")
        >>> with svir.Client.openai("http://127.0.0.1:9", model="m", backend=Cassette(path)) as client:
        ...     client.complete("Why do rivers meander?").text
        'Because they can.'
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        backend: Backend | None = None,
        *,
        mode: Mode = "once",
        hide_headers: Collection[str] = (),
    ) -> None:
        self._deck = Deck(path, mode, hide_headers)
        self._backend: Backend = Http11Backend() if backend is None else backend
        self.recording = self._deck.recording

    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> HttpResponse:
        """Answers from the file, or asks and records; see ``svir.http.Backend.send``."""
        content = b"" if request.body is None else bytes(request.body)
        if not self.recording:
            return _ReplayedResponse(self._deck.find(request, content))
        take = Take(self._deck, request, content)
        response = self._backend.send(request, connect=connect, read=read, total=total, abort=abort)
        return _RecordedResponse(response, take)

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits."""
        self._backend.sleep(seconds, abort)

    def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block."""
        return self._backend.call(function)

    def close(self) -> None:
        """Closes the backend that sends; raises ``ConfigError`` when the file could not be written."""
        self._backend.close()
        self._deck.check()

    def __repr__(self) -> str:
        return f"Cassette{self._deck!r}"


class AsyncCassette:
    """The same for ``AsyncClient(backend=...)``, under asyncio and trio; see ``Cassette``.

    Answers are written where they end, on the event loop: a moment's work, in a test that records.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        backend: AsyncBackend | None = None,
        *,
        mode: Mode = "once",
        hide_headers: Collection[str] = (),
    ) -> None:
        self._deck = Deck(path, mode, hide_headers)
        self._backend: AsyncBackend = AsyncHttp11Backend() if backend is None else backend
        self.recording = self._deck.recording

    async def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> AsyncHttpResponse:
        """Answers from the file, or asks and records; see ``svir.http.AsyncBackend.send``."""
        body = request.body
        if body is None or body.in_memory:
            content = b"" if body is None else bytes(body)
        else:
            content = await self._backend.call(lambda: bytes(body))
        if not self.recording:
            return _AsyncReplayedResponse(self._deck.find(request, content))
        take = Take(self._deck, request, content)
        response = await self._backend.send(request, connect=connect, read=read, total=total, abort=abort)
        return _AsyncRecordedResponse(response, take)

    async def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits."""
        await self._backend.sleep(seconds, abort)

    async def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block, in a worker thread."""
        return await self._backend.call(function)

    def close(self) -> object:
        """Closes the backend that sends; raises ``ConfigError`` when the file could not be written."""
        closing = self._backend.close()
        if isawaitable(closing):  # as a foreign backend's may be
            return self._closed(closing)
        self._deck.check()
        return closing

    async def _closed(self, closing: Awaitable[object]) -> None:
        await closing
        self._deck.check()

    def __repr__(self) -> str:
        return f"AsyncCassette{self._deck!r}"
