"""One exchange through httpx2: what both faces decide alike.

1. The request is sent as it is made here: without what the caller's client would add (headers, cookies,
   authorization), and without redirects. Where it goes, proxies included, is the client's.
2. httpx2 tells what it does through its ``trace`` extension: which socket it opened, and when it begins to
   write the request. Until then ``unsent`` is certain.
3. httpx2's errors hold the request, with the key. They are read by type, and ours raised when they are gone.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import TYPE_CHECKING, Any

import h11
import httpx2

from svir.errors import (
    ConfigError,
    Error,
    ProtocolError,
    TransportError,
    TruncatedStreamError,
)
from svir.http._connection import NO_HTTP, NO_HTTP_BODY
from svir.http._net import Fault, connect_fault
from svir.http._roundtrip import closed_error
from svir.http._seam import Headers
from svir.http._tls import handshake_fault
from svir.http._upload import Upload, content_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from svir.http._roundtrip import Deadlines
    from svir.http._seam import HttpRequest
    from svir.http._watchdog import Line

__all__ = ["Exchange", "body_failure", "head_of"]

CUT = ("peer closed connection", "peer unexpectedly closed connection")
"""How h11 begins its words about a body that was cut: its type says no more than that something was wrong."""

FRAMING = {b"content-length", b"transfer-encoding"}
"""What says where a body ends. Without, the connection ends with it, which httpx2 does not see.

After an error it ends as well: many servers close then, some without saying so.
"""


class TargetUrl(httpx2.URL):
    """A URL whose target is sent as it is given, and which is shown without its query.

    httpx2 rewrites paths, and logs the URL of each request: a query may hold a key.
    """

    def __init__(self, base: str, target: str) -> None:
        super().__init__(base + target)
        self._target = target

    @property
    def raw_path(self) -> bytes:
        return self._target.encode("ascii")

    def __str__(self) -> str:
        return str(self.copy_with(query=None, fragment=None))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def copy_with(self, **changes: Any) -> httpx2.URL:
        return httpx2.URL(super().__str__()).copy_with(**changes)


class Exchange:
    """One request on its way.

    Args:
        request: What to send.
        deadlines: By when.
        timeouts: What httpx2 is told: seconds for ``connect``, ``pool``, ``read`` and ``write``.
        progress: Called when the connection is there, and whenever the network took a piece of the body.
        asked: Called when all was sent, and the head of the answer is waited for.
        line: Takes the socket that was opened for it.
    """

    def __init__(
        self,
        request: HttpRequest,
        deadlines: Deadlines,
        timeouts: dict[str, float | None],
        progress: Callable[[], object],
        asked: Callable[[], object],
        line: Line,
    ) -> None:
        self.upload = Upload(request, progress)
        self.deadlines = deadlines
        self.timeouts = timeouts
        self.sent = False
        """Whether httpx2 has begun to write the request."""
        self._request = request
        self._progress = progress
        self._asked = asked
        self._line = line
        self._stream: Any = None
        self._last = False

    def message(self, stream: Any, trace: Callable[..., object]) -> httpx2.Request:
        """The request, as httpx2 has it.

        Args:
            stream: Its body, in the client's colour; left out when there is none.
            trace: What httpx2 tells of its doings; hands them on to ``traced``.
        """
        request, origin = self._request, self._request.origin
        fields = [("host", origin.authority), *request.headers]
        if (length := content_length(request)) is not None:
            fields.append(("content-length", str(length)))
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        url = TargetUrl(f"{origin.scheme}://{host}:{origin.port}", request.target)
        message = httpx2.Request(
            request.method,
            url,
            headers=[(name.encode("ascii"), value.strip(" \t").encode("latin-1")) for name, value in fields],
            stream=stream if length else httpx2.ByteStream(b""),
            extensions={"timeout": self.timeouts, "trace": trace},
        )
        message.url = url  # which it has made a plain one of
        return message

    def traced(self, name: str, info: Mapping[str, Any]) -> None:
        """Takes what httpx2 tells: the part that does something, a dot, what, a dot, and how far it is."""
        event = name.partition(".")[2]
        if event in {"connect_tcp.complete", "start_tls.complete"}:
            stream = info["return_value"]
            self._stream = self._stream or stream
            self._line.hold(stream.get_extra_info("socket"))
        elif event == "start_tls.started":
            self._line.hold_copy()
        elif event == "send_request_headers.started" and info["request"].method != b"CONNECT":
            self.sent = True
            self._line.shared = name.startswith("http2.")
            self._progress()
        elif event == "receive_response_headers.started" and info["request"].method != b"CONNECT":
            self._asked()
        elif event == "receive_response_headers.complete":
            *_, fields = info["return_value"]
            if not name.startswith("http2."):
                status = info["return_value"][1]
                self._last = status >= 400 or not FRAMING & {name.lower() for name, _ in fields}
            # Before the client sees them: its jar of cookies is its maker's.
            fields[:] = [field for field in fields if field[0].lower() != b"set-cookie"]
        elif event == "response_closed.started" and self._last:
            self._line.shut()  # before the connection is another's

    async def drop(self) -> None:
        """Closes the connection that was opened: httpx2 leaves it open when TLS is cancelled."""
        self._line.let_go()
        if self._stream is not None and not self._line.shared:
            with contextlib.suppress(Exception):
                await self._stream.aclose()

    def failed(self, failure: Error | type[httpx2.TimeoutException], *, ended: bool, over: bool) -> Error:
        """What became of it. What the body raised is raised.

        Args:
            failure: What httpx2 said, from ``head_failure``.
            ended: Whether this program ended it.
            over: Whether a deadline was seen to pass.
        """
        unsent = not self.sent
        self.upload.complain(unsent=unsent)
        if ended:
            return closed_error(unsent=unsent)
        if over or not isinstance(failure, Error):
            return self.deadlines.over(connecting=unsent)
        failure.unsent = unsent
        return failure

    def head_failure(self, error: Exception) -> Error | type[httpx2.TimeoutException]:
        """What httpx2 says, in svir's words; a time-out is told by its type."""
        match error:
            case httpx2.TimeoutException():
                return type(error)
            case httpx2.ProxyError():
                return TransportError("the proxy did not let it through")
            case httpx2.ConnectError():
                return TransportError(_connecting(error).value)
            case httpx2.RemoteProtocolError() if _of(error, h11.RemoteProtocolError):
                return ProtocolError(NO_HTTP)
            case httpx2.RemoteProtocolError():
                return TransportError("it was closed by the server before an answer came")
            case UnicodeError():  # it has no name's form
                return TransportError(Fault.NO_NAME.value)
            case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
                return ConfigError("httpx2 does not take the server's URL")
            case _:
                return TransportError(f"{_broken(error).value} before an answer came")


def head_of(response: httpx2.Response) -> tuple[int, Headers]:
    """Status and headers."""
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
    return response.status_code, Headers(fields)


def body_failure(error: Exception) -> Error:
    """What is wrong with a body, in svir's words."""
    if (cause := _of(error, h11.RemoteProtocolError)) is not None:
        if str(cause).startswith(CUT):
            return TruncatedStreamError("the body ended before its announced end")
        return ProtocolError(NO_HTTP_BODY)
    return TransportError(f"{_broken(error).value} before the body's end")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and what led to it, groups opened."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += getattr(one, "exceptions", ())  # of a group
        waiting += [cause for cause in (one.__context__, one.__cause__) if cause is not None]


def _of(error: Exception, kind: type[Exception]) -> BaseException | None:
    return next((cause for cause in _causes(error) if isinstance(cause, kind)), None)


def _connecting(error: Exception) -> Fault:
    fault = Fault.UNREACHABLE
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return handshake_fault(cause)
        if isinstance(cause, socket.gaierror):
            return Fault.NO_NAME
        if isinstance(cause, OSError) and fault is Fault.UNREACHABLE:
            fault = connect_fault(cause)
    return fault


def _broken(error: Exception) -> Fault:
    return Fault.TLS_BROKEN if _of(error, ssl.SSLError) else Fault.LOST
