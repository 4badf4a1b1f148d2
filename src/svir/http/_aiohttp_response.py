"""A response of aiohttp's, as the seam has it.

1. What came before an error is handed out before the error, which aiohttp would raise at once.
2. aiohttp tells of a body that is cut, but not of one that is garbled: it closes the connection and says
   nothing to whoever reads. So a connection that is lost without a word was garbled.
3. It takes a reset for the end of a body that has no length. Here it is one no more.
4. A transport is aborted, and only while the response owns it: afterwards another request may have it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import warnings
from typing import TYPE_CHECKING

import aiohttp

from svir.errors import (
    ConfigError,
    ProtocolError,
    RequestTimeoutError,
    TransportError,
    TruncatedStreamError,
)
from svir.http._aiohttp_wire import broken
from svir.http._connection import NO_HTTP_BODY
from svir.http._net import Fault
from svir.http._roundtrip import closed_error

if TYPE_CHECKING:
    from svir.http._aiohttp_wire import Wire
    from svir.http._net_asyncio import AsyncioNetwork
    from svir.http._seam import Headers

__all__ = ["AiohttpResponse"]


class AiohttpResponse:
    """A response of ``AiohttpBackend``; see ``AsyncHttpResponse``. It belongs to its event loop."""

    status: int
    headers: Headers

    def __init__(
        self, response: aiohttp.ClientResponse, headers: Headers, wire: Wire, network: AsyncioNetwork
    ) -> None:
        self.status = response.status
        self.headers = headers
        self._response = response
        self._content = response.content
        self.backend: object = None
        """Kept, since a backend that nobody has any more closes its connections."""
        self._wire = wire
        self._network = network
        self._pid = os.getpid()
        self._reading = False
        self._closed = False
        self._ended = False
        self._cut = False
        self._taken = b""
        self._losses: set[Fault] = set()
        self._note = functools.partial(_note_loss, self._losses, response.content)
        if wire.lost is not None:
            wire.lost.add_done_callback(self._note)

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract)
        """The next bytes of the body, empty at its end; cancelling it shuts the connection."""
        if not self._network.here():
            raise ConfigError("a response can only be read under the event loop it was made under")
        if self._reading:
            raise ConfigError("a response cannot be read from two places at the same time")
        if self._ended:
            return b""
        if self._closed:
            raise closed_error()
        late = False
        data = self._take()
        if not data and not self._over():
            self._reading = True
            try:
                late = await self._wait(timeout)
            except BaseException:
                self._shut()
                raise
            finally:
                self._reading = False
            data = self._take()
        if data:
            return data
        if self._closed:
            raise closed_error()
        if late and not self._over():
            raise RequestTimeoutError(f"the server was silent for {timeout:g} s (idle_timeout)")
        return self._end()

    def close(self) -> None:
        """Ends the exchange by a plain call, from any thread; see ``HttpResponse.close``."""
        if self._ended or self._closed:
            return
        self._closed = True
        if self._pid != os.getpid():
            return  # the parent's: its loop is not touched
        if self._network.here():
            self._shut()
            return
        try:
            self._network.loop.call_soon_threadsafe(_shut, self._response, self._wire)
        except RuntimeError:  # the loop is gone: only the socket is left
            self._wire.end()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status}, {self.headers!r})"

    def __del__(self) -> None:
        if hasattr(self, "_note") and not self._over() and not self._closed:
            self.close()
            warnings.warn(
                "a response was dropped unfinished, and its connection shut: close it when done",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    def _take(self) -> bytes:
        """What has come. An error behind it is noted."""
        if (error := self._content.exception()) is not None:
            self._cut = self._cut or isinstance(error, aiohttp.ClientPayloadError)
            self._content.set_exception(None)  # type: ignore[arg-type]  # else it gives nothing any more
        taken, self._taken = self._taken, b""
        return taken + self._content.read_nowait()

    async def _wait(self, seconds: float | None) -> bool:
        """Waits until something has come, or has happened; true when the time is up."""
        limit = asyncio.timeout(None if seconds is None else max(0.0, seconds))
        with contextlib.suppress(aiohttp.ClientError, RuntimeError, TimeoutError):
            async with limit:
                self._taken = await self._content.readany()
        return limit.expired()

    def _over(self) -> bool:
        """Whether nothing more will come."""
        return self._content.is_eof() or self._cut or bool(self._losses)

    def _end(self) -> bytes:
        """The end of the body, or what is wrong with it."""
        self._forget()
        reset = self._losses - {Fault.CLOSED}
        delimited = "content-length" in self.headers or "transfer-encoding" in self.headers
        if self._content.is_eof() and (delimited or not reset):
            self._ended = True
            return b""
        for fault in reset:
            raise TransportError(f"{fault.value} before the body's end")
        if self._cut:
            raise TruncatedStreamError("the body ended before its announced end")
        raise ProtocolError(NO_HTTP_BODY)

    def _shut(self) -> None:
        self._forget()
        _shut(self._response, self._wire)

    def _forget(self) -> None:
        """The connection may live longer than this."""
        if self._wire.lost is not None:
            self._wire.lost.remove_done_callback(self._note)


def _note_loss(losses: set[Fault], content: aiohttp.StreamReader, lost: asyncio.Future[None]) -> None:
    """Notes how the connection ended, and wakes who reads; see rule 2."""
    if lost.cancelled():
        return
    error = lost.exception()
    losses.add(Fault.CLOSED if error is None else broken(error))
    if not content.is_eof() and content.exception() is None:
        content.set_exception(aiohttp.ClientConnectionError())


def _shut(response: aiohttp.ClientResponse, wire: Wire) -> None:
    """Ends a connection that is the response's still."""
    if response.connection is not None:
        response.close()
        wire.abort()
