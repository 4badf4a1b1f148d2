"""Responses of httpx2's, as the seam has them, in both colours.

After a time-out a response is over: httpx2 cannot go on with a read that was ended.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import warnings
from typing import TYPE_CHECKING

import httpx2

from svir.errors import ConfigError, RequestTimeoutError
from svir.http._errand import errand
from svir.http._httpx2_exchange import body_failure, head_of
from svir.http._roundtrip import closed_error
from svir.http._scopes import scope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from svir.errors import Error
    from svir.http._httpx2_exchange import Exchange
    from svir.http._net import Network
    from svir.http._scopes import Scope
    from svir.http._seam import Headers
    from svir.http._watchdog import Line

__all__ = ["AsyncHttpx2Response", "Httpx2Response"]

GRACE_SECONDS = 0.005
"""The least that the blocking face waits: long enough to be given what has come already."""

TURN_PIECES = 32
"""After how many pieces the event loop has its turn."""


class _Response:
    """What both have."""

    status: int
    headers: Headers

    def __init__(self, response: httpx2.Response, exchange: Exchange, line: Line) -> None:
        self.status, self.headers = head_of(response)
        stream = response.extensions.get("network_stream")
        line.shared = response.http_version == "HTTP/2"
        line.hold(None if stream is None else stream.get_extra_info("socket"))
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
        self._count = 0
        self._back = errand(functools.partial(_give_back, response, self._pieces, line, network))

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
                self._count += 1
                if self._count % TURN_PIECES == 0:
                    await self._network.sleep(0)  # what is there already comes without waiting
                data = await anext(self._pieces, b"")
        except Exception as error:  # noqa: BLE001 (whatever it is: told by its type, below)
            caught = error
        except BaseException:
            self._line.end()
            raise
        finally:
            self._reading = False
            self._scope = None
            if self._line.ended:
                self._back.start()
        late = waiting.over or _timed_out(caught)
        data = self._take(data, caught, late=late, timeout=timeout)
        caught = None
        if self._failure is not None:
            self._line.shut()
            self._back.start()
            await self._back
            raise self._failure
        return data

    def close(self) -> object:
        """Ends the exchange, from any thread.

        The client gets its connection back in any case; awaiting what is returned waits until it has.
        """
        if self._ended or self._pid != os.getpid():
            return None
        if not self._over:
            self._line.end()
            if (waiting := self._scope) is not None:
                waiting.end()
        if not self._reading:  # else whoever reads is woken, and does it
            self._back.start()
        return self._back

    def __del__(self) -> None:
        super().__del__()
        if hasattr(self, "_back") and not self._ended and self._pid == os.getpid():
            self._back.start()


async def _give_back(
    response: httpx2.Response, pieces: AsyncGenerator[bytes], line: Line, network: Network
) -> None:
    """Gives a connection back to the client, which closes it unless all was read."""
    line.shut()
    with contextlib.suppress(Exception):
        await response.aclose()
    errand(functools.partial(_exhaust, pieces, line, network)).start()


async def _exhaust(pieces: AsyncGenerator[bytes], line: Line, network: Network) -> None:
    """Ends the generators of a response whose connection is gone.

    When one is closed half-way, httpx2 leaves others behind, and trio complains: so to the end, which is that
    of what h11 holds already, at most 64 KiB.
    """
    with contextlib.suppress(Exception):
        try:
            count = 0
            while line.mute and await anext(pieces, None) is not None:
                count += 1
                if count % TURN_PIECES == 0:
                    await network.sleep(0)
        finally:  # the loop may be about to end, and have no more turns
            while line.mute and await anext(pieces, None) is not None:
                pass
            await pieces.aclose()


def _timed_out(error: Exception | None) -> bool:
    return isinstance(error, httpx2.TimeoutException)
