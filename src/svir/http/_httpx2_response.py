"""Responses of httpx2's, as the seam has them, in both colours.

After a time-out a response is over: httpx2 cannot go on with a read that was ended.
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

from svir.errors import ConfigError, RequestTimeoutError
from svir.http._httpx2_exchange import body_failure, head_of
from svir.http._roundtrip import closed_error
from svir.http._scopes import scope

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    import httpx2

    from svir.errors import Error
    from svir.http._httpx2_exchange import Exchange
    from svir.http._net import Network
    from svir.http._scopes import Scope
    from svir.http._seam import Headers
    from svir.http._watchdog import Line

__all__ = ["AsyncHttpx2Response", "Httpx2Response"]

GRACE_SECONDS = 0.005
"""The least that the blocking face waits: long enough to be given what has come already."""


class _Response:
    """What both have."""

    status: int
    headers: Headers

    def __init__(self, response: httpx2.Response, exchange: Exchange, line: Line) -> None:
        self.status, self.headers = head_of(response)
        self._stream = response.extensions.get("network_stream")
        line.shared = response.http_version == "HTTP/2"
        line.hold(None if self._stream is None else self._stream.get_extra_info("socket"))
        self._response = response
        self._exchange = exchange
        self._line = line
        self._pid = os.getpid()
        self._reading = False
        self._ended = False
        self._failure: Error | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status}, {self.headers!r})"

    def __del__(self) -> None:
        if hasattr(self, "_failure") and not self._over and self._pid == os.getpid():
            self._line.end()
            warnings.warn(
                "a response was dropped unfinished, and its connection shut: close it when done",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    @property
    def _over(self) -> bool:
        return self._ended or self._line.ended or self._failure is not None

    def _begin(self) -> bool:
        """Whether there is something to read."""
        if self._reading:
            raise ConfigError("a response cannot be read from two places at the same time")
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if not self._ended and self._line.ended:
            raise closed_error()
        return not self._ended

    def _take(self, data: bytes, error: Exception | None, *, late: bool, timeout: float | None) -> bytes:
        """What came of a read; an end that this program caused is none."""
        if data:
            return data
        if self._line.ended:
            self._failure = closed_error()
        elif late:
            self._failure = RequestTimeoutError(f"the server was silent for {timeout:g} s (idle_timeout)")
        elif error is not None:
            self._failure = body_failure(error)
        else:
            self._ended = True
            self._line.hold(None)  # it is another's by now
        return b""


class Httpx2Response(_Response):
    """A response of ``Httpx2Backend``; see ``HttpResponse``."""

    def __init__(self, response: httpx2.Response, exchange: Exchange, line: Line) -> None:
        super().__init__(response, exchange, line)
        self._pieces = response.iter_raw()

    def read(self, timeout: float | None) -> bytes:
        """The next bytes of the body, empty at its end; see ``HttpResponse.read``."""
        if not self._begin():
            return b""
        data, caught = b"", None
        seconds = None if timeout is None else max(timeout, GRACE_SECONDS)
        self._reading = True
        self._exchange.timeouts["read"] = seconds if self._line.shared else None
        self._line.wait(None if seconds is None else time.monotonic() + seconds)
        try:
            data = next(self._pieces, b"")
        except Exception as error:  # noqa: BLE001 (whatever it is: told by its type, below)
            caught = error
        except BaseException:
            self._line.end()
            raise
        finally:
            self._line.rest()
            self._reading = False
            if self._line.ended:
                self._finish()
        late = self._line.expired or _timed_out(caught)
        data = self._take(data, caught, late=late, timeout=timeout)
        caught = None
        if self._failure is not None:
            self._finish()
            raise self._failure
        return data

    def close(self) -> None:
        """Ends the exchange, from any thread; see ``HttpResponse.close``."""
        if self._over or self._pid != os.getpid():
            return
        self._line.ended = True
        if self._reading:
            self._line.shut()  # whoever reads is woken, and closes it
        else:
            self._finish()

    def __del__(self) -> None:
        super().__del__()
        if hasattr(self, "_pieces") and self._pid == os.getpid():
            self._finish()

    def _finish(self) -> None:
        with contextlib.suppress(Exception):
            self._response.close()


class AsyncHttpx2Response(_Response):
    """A response of ``AsyncHttpx2Backend``; see ``AsyncHttpResponse``. It belongs to its event loop."""

    def __init__(self, response: httpx2.Response, exchange: Exchange, line: Line, network: Network) -> None:
        super().__init__(response, exchange, line)
        exchange.timeouts["read"] = None  # each read has its own
        self._pieces = response.aiter_raw()
        self._network = network
        self._scope: Scope | None = None

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract)
        """The next bytes of the body, empty at its end; cancelling it shuts the connection."""
        if not self._network.here():
            raise ConfigError("a response can only be read under the event loop it was made under")
        if not self._begin():
            return b""
        data, caught = b"", None
        until = None if timeout is None else self._network.clock() + max(0.0, timeout)
        self._reading = True
        self._scope = waiting = scope(until)
        try:
            async with waiting:
                data = await anext(self._pieces, b"")
        except Exception as error:  # noqa: BLE001 (whatever it is: told by its type, below)
            caught = error
        except BaseException:
            self._line.end()
            raise
        finally:
            self._reading = False
            self._scope = None
        late = waiting.over or _timed_out(caught)
        data = self._take(data, caught, late=late, timeout=timeout)
        caught = None
        if self._failure is not None:
            self._line.shut()
            await self.finish()
            raise self._failure
        return data

    def close(self) -> object:
        """Ends the exchange, from any thread; what is returned gives the connection back to the client."""
        if self._ended or self._pid != os.getpid():
            return None
        if not self._over:
            self._line.end()
            if (waiting := self._scope) is not None:
                waiting.end()
        return _Closing(self.finish)

    async def finish(self) -> None:
        """Gives the connection back to the client, which closes it unless all was read."""
        self._line.shut()
        with contextlib.suppress(Exception):
            # To its end: when one is closed half-way, httpx2 leaves generators behind, and trio complains.
            # That is near: to a socket that was only shut down, a server may go on sending.
            if self._line.mute and self._stream is not None:
                await self._stream.aclose()
                async for _ in self._pieces:
                    pass
            await self._pieces.aclose()
        with contextlib.suppress(Exception):
            await self._response.aclose()


class _Closing:
    """Awaited or not, at will."""

    def __init__(self, finish: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._finish = finish

    def __await__(self) -> Generator[Any, Any, None]:
        return self._finish().__await__()


def _timed_out(error: Exception | None) -> bool:
    import httpx2

    return isinstance(error, httpx2.TimeoutException)
