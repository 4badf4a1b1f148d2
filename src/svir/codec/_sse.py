"""Server-sent events out of bytes, however they were cut (P9).

1. A line ends with LF, CRLF or a lone CR, and one byte-order mark at the very start is skipped, as the event
   stream standard has it.
2. A line that is not whole yet is kept as a list of pieces and joined once: the work is linear however small
   the pieces are.
3. The event limit holds at every byte: the line so far, without its end and comments too, plus the data of
   the event so far.
4. Events are handed out one at a time, so that nothing is judged after the one that ended the stream.
5. ``clean`` says that the next byte starts an event. Only then may a caller look at the bytes by itself, and
   add what it took to ``offset``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from svir.codec._fault import Unfinished
from svir.errors import ProtocolError, ResponseLimitError, UnsupportedError

if TYPE_CHECKING:
    from svir.codec._options import Mode

__all__ = ["Frame", "Framing"]

BOM = b"\xef\xbb\xbf"
LF, CR = b"\n\r"


class Frame(msgspec.Struct, frozen=True):
    """One event.

    Attributes:
        type: What its ``event`` field says; empty when it has none.
        data: Its data lines, joined with LF; None when it has none.
        at: Where in the stream it begins, in bytes.
    """

    type: bytes
    data: bytes | None
    at: int


class Framing:
    """Cuts a stream into events.

    Args:
        mode: ``strict`` refuses unknown fields and invalid UTF-8, ``lenient`` skips and replaces them.
        event_bytes: The limit on one event.

    Attributes:
        clean: Whether the next byte starts an event, whatever it is.
        offset: Where in the stream the current line begins.
        pending: How many bytes of that line came so far.
    """

    __slots__ = (
        "_data",
        "_event_at",
        "_limit",
        "_pieces",
        "_size",
        "_skip_lf",
        "_strict",
        "_type",
        "clean",
        "offset",
        "pending",
    )

    def __init__(self, mode: Mode, event_bytes: int) -> None:
        self._strict = mode == "strict"
        self._limit = event_bytes
        self._pieces: list[bytes] = []  # the line that is not whole yet
        self._skip_lf = False  # the last line ended with CR
        self._type = b""
        self._data: list[bytes] = []
        self._size = 0  # of the data, joined
        self._event_at: int | None = None
        self.offset = 0  # where a byte-order mark may come
        self.pending = 0
        self.clean = True

    @property
    def event_at(self) -> int:
        """Where in the stream the current event begins."""
        return self.offset if self._event_at is None else self._event_at

    def keep(self, data: bytes) -> bool:
        """Keeps bytes without a line end as a part of the current line; False when there is a line end."""
        if LF in data or CR in data or self._skip_lf or (not self.offset and self.pending < len(BOM)):
            return False
        self._pieces.append(data)
        self.pending += len(data)
        self.clean = False
        if self.pending + self._size > self._limit:
            self._check(self.pending)
        return True

    def take(self, data: bytes) -> bytes:
        """The bytes of the unfinished line, and the new ones: what ``next`` is to be called with."""
        if self._pieces:
            self._pieces.append(data)
            data = b"".join(self._pieces)
            self._pieces = []
            self.pending = 0
        self.clean = not (self._skip_lf or self._event_at is not None)
        return data

    def next(self, data: bytes, pos: int) -> tuple[Frame | None, int]:
        """Reads lines from ``pos`` until an event is whole, or no line is: the rest is then kept.

        Returns:
            The event, if one is whole, and the position after what was read.

        Raises:
            Unfinished: A limit was passed, or strict mode refuses a line.
        """
        frame, pos = self._next(data, pos)
        self.clean = not (self._pieces or self._skip_lf or self._event_at is not None)
        return frame, pos

    def _next(self, data: bytes, pos: int) -> tuple[Frame | None, int]:
        if not self.offset and data.startswith(BOM[:1]):
            pos = self._skip_bom(data)
        while pos < len(data):
            if self._skip_lf:
                self._skip_lf = False
                if data.startswith(b"\n", pos):
                    pos += 1
                    self.offset += 1
                    continue
            lf = data.find(b"\n", pos)
            cr = data.find(b"\r", pos, len(data) if lf < 0 else lf)
            end = lf if cr < 0 else cr
            if end < 0:
                rest = data[pos:] if pos else data
                self._pieces = [rest]
                self.pending = len(rest)
                self._check(self.pending)
                return None, len(data)
            line = data[pos:end]
            self._check(len(line))
            frame = self._line(line)
            self._skip_lf = end == cr
            self.offset += end + 1 - pos
            pos = end + 1
            if frame is not None:
                return frame, pos
        return None, pos

    def _skip_bom(self, data: bytes) -> int:
        """Where the stream begins after its mark, as soon as that can be told."""
        if data.startswith(BOM):
            self.offset = len(BOM)
            return len(BOM)
        if BOM.startswith(data):
            self._pieces = [data]
            self.pending = len(data)
            return len(data)
        return 0

    def _check(self, line: int) -> None:
        if line + self._size > self._limit:
            # One byte over is one too many, so this is where the stream is refused, however it was cut.
            at = self.offset + self._limit - self._size
            raise Unfinished(
                ResponseLimitError,
                f"an event of more than {self._limit} bytes",
                "Limits(event_bytes=...) allows more",
                at=at,
            )

    def _line(self, line: bytes) -> Frame | None:
        """Reads one whole line; an empty one ends the event."""
        if not line:
            return self._end()
        if line.startswith(b":"):
            return None
        if self._event_at is None:
            self._event_at = self.offset
        if self._strict and not line.isascii():
            _check_utf8(line)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + (1 if self._data else 0)
            self._data.append(value)
        elif name == b"event":
            self._type = value
        elif name not in {b"id", b"retry"} and self._strict:
            raise Unfinished(UnsupportedError, "an unknown event stream field", "mode='lenient' ignores it")
        return None

    def _end(self) -> Frame | None:
        """The event that an empty line ends; None when there is nothing in it."""
        at, kind, data = self._event_at, self._type, self._data
        self._event_at, self._type, self._data, self._size = None, b"", [], 0
        if at is None or (not data and not kind):
            return None
        return Frame(kind, b"\n".join(data) if data else None, at)


def _check_utf8(line: bytes) -> None:
    try:
        line.decode()
    except UnicodeDecodeError:
        valid = False
    else:
        valid = True
    if not valid:
        raise Unfinished(
            ProtocolError, "an event that is not valid UTF-8", "mode='lenient' replaces the bytes"
        )
