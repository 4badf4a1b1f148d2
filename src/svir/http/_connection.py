"""One HTTP/1.1 exchange over h11: bytes in, bytes out, no I/O.

The rules it lives by:

1. h11 is the parser. The one thing done beside it are whole, plain chunks of a chunked body, the hot path of
   a stream of events: they are cut out here, and everything else (a chunk that is not whole yet, an
   extension, the last chunk, trailers, nonsense) goes to h11, which always stands between two chunks when
   that happens.
2. Names, values and targets are checked here, and the request's head is written here: h11's errors quote what
   they refuse, and it builds a head slowly. It is told only what its rules need.
3. An answer's errors are decided by their type, never by their text: the texts quote the server's bytes.
4. What came before an error is handed out before the error.
5. A connection may be used again only when both sides are done and not a byte is left over: h11 keeps what
   came behind the end of an answer, and would give it to the next request as its answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import h11

from svir.errors import (
    AttachmentError,
    ConfigError,
    Error,
    ProtocolError,
    TransportError,
    TruncatedStreamError,
)
from svir.http._seam import Headers

if TYPE_CHECKING:
    from svir.http._seam import HttpRequest

__all__ = ["HEAD_BYTES", "NO_HTTP", "NO_HTTP_BODY", "Connection", "complaint"]

NO_HTTP = "the head of the answer is no valid HTTP/1.1"
NO_HTTP_BODY = "the framing of the body of the answer is no valid HTTP/1.1"
"""What every backend says of these."""

HEAD_BYTES = 192 * 1024
"""Most bytes taken in until the head is whole, 1xx answers and what came along with it included: a head of
64 KiB passes however it is cut, one over 256 KiB never does."""

_METHOD = re.compile(r"[A-Z]{1,20}")
_TARGET = re.compile(r"/[!-~]*")
_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9a-z]+")
_VALUE = re.compile(r"[\t -~\xa0-\xff]*")
_HOST = re.compile(r"[-A-Za-z0-9._~:%]+")

_WRITTEN_HERE = frozenset(
    {"host", "content-length", "transfer-encoding", "upgrade", "expect", "te", "trailer", "http2-settings"}
)
"""Fields that decide how bytes are framed: nobody but this module writes them."""

_BLANKS = " \t"
BLANK = b"\r\n\r\n"
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,7})\r\n")
_CHUNK_BEGINNING = re.compile(rb"[0-9A-Fa-f]{1,7}\r?")


class Connection:
    """The client's side of one request and its answer, on a connection that is clean when it begins.

    ``head``, ``block`` and ``end`` give the request's bytes; ``receive`` and ``receive_eof`` take the
    answer's. ``status`` is there once the answer's head is whole, and ``piece`` then hands out the body.
    Nothing here raises but ``svir.Error``: ``ConfigError`` when made, ``AttachmentError`` from ``block`` and
    ``end``, and from ``piece`` whatever became of the answer.
    """

    def __init__(self, request: HttpRequest) -> None:
        wrong = complaint(request)
        if wrong is not None:
            raise ConfigError(wrong, unsent=True)
        length = None if request.body is None else len(request.body)
        if length is None and request.method == "POST":
            length = 0
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        # h11 is told what decides about the answer and the body's framing; it never sees the fields.
        framing = [("host", "svir"), ("content-length", str(length or 0))]
        self._h11.send(h11.Request(method=request.method, target="/", headers=framing))
        self._head = _head(request, length)
        self._left = length or 0
        self.status: int | None = None
        self.headers = Headers()
        self.complete = False
        """Whether the answer's body has come to its end."""
        self.failed = False
        """Whether the answer can go no further: ``piece`` says why."""
        self._failure: Error | None = None
        self._pieces: list[bytes | bytearray] = []
        self._head_bytes = 0
        self._head_end = b""  # its last bytes so far, which may begin a blank line
        self._plain = False  # whole chunks may be taken here: h11 stands exactly between two chunks
        self._owed = 0  # bytes of a chunk that h11 has begun
        self._held = b""  # the beginning of a chunk's size, not shown to h11 yet

    # The request

    def head(self) -> memoryview:
        """The request's head. A view, whose repr shows nothing: the bytes hold the key."""
        return memoryview(self._head)

    def block(self, data: bytes) -> None:
        """Says that a block of the body is about to be sent."""
        self._left -= len(data)
        if self._left < 0:
            raise AttachmentError("the body is longer than its announced length", retryable=False)
        self._h11.send(h11.Data(data=data))

    def end(self) -> None:
        """Says that the body has been sent."""
        if self._left:
            raise AttachmentError("the body is shorter than its announced length", retryable=False)
        self._h11.send(h11.EndOfMessage())

    # The answer

    def receive(self, data: bytes) -> None:
        """Takes in bytes of the answer. What is wrong with them is told by ``piece``."""
        if self.failed:
            return
        if self.status is None:
            data = self._receive_head(data)
        if self._plain and data:
            data = self._whole_chunks(data)
        if data and not self.failed:
            self._h11.receive_data(data)
            self._parse()

    def receive_eof(self) -> None:
        """Takes in the end of the server's bytes: the end of the body, or its loss."""
        if self.failed or self.complete:
            return
        if self.status is None:
            self._fail(TransportError("it was closed by the server before an answer came"))
            return
        if self._held:
            self._h11.receive_data(self._held)
        self._h11.receive_data(b"")
        self._parse(at_end=True)

    def piece(self) -> bytes | None:
        """The body's bytes that have come, empty at its end, None when more must be received first."""
        if self._pieces:
            piece = bytes(self._pieces[0]) if len(self._pieces) == 1 else b"".join(self._pieces)
            self._pieces.clear()
            return piece
        if self.complete:
            return b""
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        return None

    @property
    def failure(self) -> Error | None:
        """What is wrong with the answer."""
        return self._failure

    @property
    def reusable(self) -> bool:
        """Whether another exchange may begin on the same connection; never after an error status."""
        if self.status is None or self.status >= 400:
            return False  # many servers close then, some without saying so
        sound = self.complete and not self.failed and not self._held
        if not sound or self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        left_over, ended = self._h11.trailing_data
        return not left_over and not ended

    def _receive_head(self, data: bytes) -> bytes:
        """Shows h11 one head after the other, cut at its blank line; the rest is the body's beginning."""
        while data and self.status is None and not self.failed:
            # The blank line may have begun in what came before.
            blank = (self._head_end + data).find(BLANK)
            part = data if blank < 0 else data[: blank + len(BLANK) - len(self._head_end)]
            data = data[len(part) :]
            self._head_end = (self._head_end + part)[1 - len(BLANK) :] if blank < 0 else b""
            self._head_bytes += len(part)
            if self._head_bytes > HEAD_BYTES:
                self._fail(ProtocolError(f"the head of the answer is over {HEAD_BYTES // 1024} KiB"))
                return b""
            self._h11.receive_data(part)
            self._parse()
        # Only when h11 has taken exactly the head is it known that a chunk begins here. (A head that ends in
        # bare line feeds may leave h11 somewhere inside the body: then every chunk is h11's.)
        exactly = not (
            self.failed or self.complete or self._pieces or self._head_end or self._h11.trailing_data[0]
        )
        self._plain = exactly and self.headers.get("transfer-encoding") is not None
        return data

    def _whole_chunks(self, data: bytes) -> bytes:
        """Takes the whole plain chunks at the front; what is left is h11's."""
        if self._owed:
            part = data[: self._owed]
            self._owed -= len(part)
            self._h11.receive_data(part)
            self._parse()
            if self.failed:
                return b""
            data = data[len(part) :]
        if self._held:
            data, self._held = self._held + data, b""
        at = 0
        while header := _CHUNK.match(data, at):
            start = header.end()
            stop = start + int(header[1], 16)
            if stop == start or stop + 2 > len(data) or data[stop : stop + 2] != b"\r\n":
                # A chunk that is not whole: h11 is given all of it, and stands between two chunks again after
                # it.
                self._owed = max(0, stop + 2 - len(data))
                self._plain = self._owed > 0 and stop > start
                break
            self._pieces.append(data[start:stop])
            at = stop + 2
        else:
            rest = data[at:]
            if not rest or _CHUNK_BEGINNING.fullmatch(rest):
                self._held = rest
                return b""
            self._plain = False
            return rest
        return data[at:]

    def _parse(self, *, at_end: bool = False) -> None:
        """Lets h11 say what the bytes mean."""
        next_event = self._h11.next_event
        wrong = False
        while not self.failed:
            try:
                event = next_event()
            except h11.RemoteProtocolError:
                wrong = True
                break
            if isinstance(event, h11.Data):
                self._pieces.append(event.data)
            elif isinstance(event, h11.Response):
                self.headers = Headers(
                    [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
                )
                self.status = event.status_code
            elif isinstance(event, h11.EndOfMessage):
                self.complete = True
                return
            elif not isinstance(event, h11.InformationalResponse):
                return  # more bytes are needed
        # Outside of the handler, so that no error of ours leads to h11's, whose text quotes the server.
        if wrong and at_end:
            self._fail(TruncatedStreamError("the body ended before its announced end"))
        elif wrong:
            self._fail(ProtocolError(NO_HTTP if self.status is None else NO_HTTP_BODY))

    def _fail(self, failure: Error) -> None:
        self.failed = True
        self._failure = failure


def complaint(request: HttpRequest) -> str | None:
    """What HTTP cannot carry of a request. Told, not raised: a traceback of here would show the value."""
    if not _METHOD.fullmatch(request.method):
        return "the request's method is no HTTP method"
    if not _TARGET.fullmatch(request.target):
        return "the request's path or query has characters that a URL cannot have"
    origin = request.origin
    if origin.scheme not in {"http", "https"}:
        return "the server's URL begins with neither http: nor https:"
    if not _HOST.fullmatch(origin.host):
        return "the server's host is empty or has characters that a URL cannot have"
    if not 0 < origin.port < 65536:
        return "the server's port is none"
    for name, value in request.headers:
        if not _NAME.fullmatch(name):
            return "a header's name has characters that HTTP does not allow"
        if name in _WRITTEN_HERE:
            return f"the header {name} cannot be set: svir writes it"
        if not _VALUE.fullmatch(value):
            return f"the value of the header {name} has characters that HTTP does not allow"
    return None


def _head(request: HttpRequest, length: int | None) -> bytes:
    """The head of a request that has been checked."""
    lines = [f"{request.method} {request.target} HTTP/1.1\r\nhost: {request.origin.authority}\r\n"]
    lines += [f"{name}: {value.strip(_BLANKS)}\r\n" for name, value in request.headers]
    if length is not None:
        lines.append(f"content-length: {length}\r\n")
    return "".join([*lines, "\r\n"]).encode("latin-1")
