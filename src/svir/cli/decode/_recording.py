"""A recorded response: its head, its framing, and where in the file each byte of its body is.

1. What begins with ``HTTP/`` has a head, or several: of those before the last one (100 Continue, a proxy's
   200, a redirect that was followed) no body was kept. Anything else is the body of an event stream.
2. h11 reads head and framing, as it does for the client. HTTP/2 and 3 have the same fields and no framing, so
   a status line of theirs is read as one of HTTP/1.1.
3. Programs that save a response mostly take its chunks apart and leave ``transfer-encoding`` in the head. The
   field counts only when a chunk's size follows it.
4. Nothing is kept but the block that is being read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import h11

from svir.cli._refused import CONFIG, RefusedError
from svir.errors import ProtocolError, TruncatedStreamError
from svir.http import Headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.errors import Error

__all__ = ["FORM", "Recording"]

FORM = "FILE is what `curl -i` wrote, or - for standard input."
"""What is advised about a file that is none."""

BLOCK = 16 * 1024
"""Bytes read from the file at once."""
HEAD_BYTES = 192 * 1024
"""Most bytes of the heads together, as in the client."""
CHUNK_SIZE_BYTES = 1024
"""Most bytes looked at to see whether a chunk begins here."""

HTTP = b"HTTP/"
BLANK_LINE = re.compile(rb"\r?\n\r?\n")
STATUS_LINE = re.compile(rb"HTTP/(?:[23](?:\.0)?|(1\.[01])) ")
FIELD = re.compile(rb"[\r\n](?:\xef\xbb\xbf)?(?:data|event|id|retry)?:")
LONGEST_FIELD = 10
"""Bytes of the longest match of the above."""
CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}[ \t]*(?:;[^\r\n]*)?\r\n")
CHUNKED = re.compile(rb"(?im)^transfer-encoding:[^\n]*\n")


class Recording:
    """One recorded response.

    Args:
        read: Gives at most so many of the next bytes, empty at the end; may raise ``OSError``.

    Attributes:
        status: The HTTP status, once ``open`` has returned; 200 for the body of a stream alone.
        headers: The fields of its head.
        failed_at: Where in the file its head or its framing is wrong: behind the last piece of the body that
            is sound; None as long as nothing is.
        fields: Whether any line that was read begins like one of an event stream.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._source = read
        self._parser: h11.Connection | None = None
        self._block = b""  # read, but not given to the parser or handed out yet
        self._over = False
        self._seam = b"\n"  # the end of what was read, in which a line may begin
        self.fields = False
        self.status = 200
        self.headers = Headers([("content-type", "text/event-stream")])
        self.failed_at: int | None = None
        self._position = 0  # how many bytes of the file were read
        self._sound = 0  # where the last piece of the body ends

    @property
    def empty(self) -> bool:
        """Whether nothing was in it."""
        return not self._position

    @property
    def headed(self) -> bool:
        """Whether it has a head, or the beginning of one."""
        return self._parser is not None or self.failed_at is not None

    def open(self) -> None:
        """Reads the head.

        Raises:
            svir.ProtocolError: What begins like a head is none.
            svir.TruncatedStreamError: It ends within its head.
            RefusedError: The file cannot be read.
        """
        head = b""
        while self._begins(HTTP):
            head = self._head()
        if not head:
            return
        self._sound = self._position - len(self._block)
        if CHUNKED.search(head) and not self._begins_chunk():
            head = CHUNKED.sub(b"", head)
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        parser.send(
            h11.Request(method="POST", target="/", headers=[("host", "svir"), ("content-length", "0")])
        )
        parser.send(h11.EndOfMessage())
        try:
            parser.receive_data(head)
            response = parser.next_event()
        except h11.RemoteProtocolError:
            response = None
        if not isinstance(response, h11.Response):
            raise self._failed(ProtocolError("the head of the recorded answer is no valid HTTP"), 0)
        self.status = response.status_code
        self.headers = Headers(
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers]
        )
        self._parser = parser

    def piece(self) -> tuple[int, bytes] | None:
        """The next bytes of the body and where in the file they begin; None at the body's end.

        Raises:
            svir.TruncatedStreamError: The body ends before its head and its chunks say it does.
            svir.ProtocolError: The chunks are no HTTP.
            RefusedError: The file cannot be read.
        """
        if self._parser is None:
            data = self._take()
            return (self._position - len(data), data) if data else None
        wrong = False
        while not wrong:
            try:
                event = self._parser.next_event()
                if event is h11.NEED_DATA:
                    self._parser.receive_data(self._take())
                    continue
            except h11.RemoteProtocolError:
                wrong = True
            else:
                if not isinstance(event, h11.Data):
                    return None
                behind, _ = self._parser.trailing_data
                self._sound = self._position - len(behind)
                return self._sound - len(event.data), bytes(event.data)
        if self._over:
            error: Error = TruncatedStreamError("the body ended before its announced end")
            raise self._failed(error, self._position)
        raise self._failed(ProtocolError("the framing of the body is no valid HTTP/1.1"), self._sound)

    def _head(self) -> bytes:
        """The next head, as HTTP/1.1 has it."""
        while (blank := BLANK_LINE.search(self._block)) is None:
            if len(self._block) > HEAD_BYTES:
                error: Error = ProtocolError(f"the head of the answer is over {HEAD_BYTES // 1024} KiB")
                raise self._failed(error, HEAD_BYTES)
            if not self._more():
                error = TruncatedStreamError("the recording ends within the head of the answer")
                raise self._failed(error, self._position)
        head, self._block = self._block[: blank.end()], self._block[blank.end() :]
        return STATUS_LINE.sub(lambda found: b"HTTP/%b " % (found[1] or b"1.1"), head, count=1)

    def _failed(self, error: Error, at: int) -> Error:
        self.failed_at = at
        return error

    def _begins(self, start: bytes) -> bool:
        while len(self._block) < len(start) and start.startswith(self._block) and self._more():
            pass
        return self._block.startswith(start)

    def _begins_chunk(self) -> bool:
        while b"\n" not in self._block and len(self._block) < CHUNK_SIZE_BYTES and self._more():
            pass
        return CHUNK_SIZE.match(self._block) is not None

    def _take(self) -> bytes:
        """What was read, or the next block; empty at the end."""
        if not self._block:
            self._more()
        data, self._block = self._block, b""
        return data

    def _more(self) -> bool:
        """Reads a block more; False at the end."""
        try:
            data = self._source(BLOCK)
        except OSError as error:
            problem = error.strerror
        else:
            self._block += data
            self._position += len(data)
            self.fields = self.fields or FIELD.search(self._seam + data) is not None
            self._seam = (self._seam + data)[-LONGEST_FIELD:]
            self._over = not data
            return bool(data)
        raise RefusedError(f"the recording cannot be read: {problem}", FORM, code=CONFIG)
