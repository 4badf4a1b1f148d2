"""Where in the file each event begins.

1. The guide decodes the same bytes as the decoder that is looked at, line by line: an event comes out with
   the line that ends it, so its place is where the lines since the last empty one began.
2. How bytes are cut makes no difference to what comes out (P9). If it ever did, the guide would notice, and
   the command would say that svir has a fault.
3. It keeps places of the current event only, so that a recording may have any length.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from svir import Completed, Error, Event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.openai.chat import Decoder

__all__ = ["Guide"]

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
NO_FIELD = b":\r\n"
"""What a line begins with that is a comment or empty, and begins no event."""

EXCERPT_BYTES = 2048
"""How much of the current event is kept, to be shown when it fails."""


class Guide:
    """Follows one stream.

    Args:
        decoder: A decoder of its own, made like the one that is looked at.

    Attributes:
        at: Where in the file the current event begins; None between two.
        excerpt: The current event's bytes as far as they came, or their beginning; after a failure, those of
            the event that failed.
        over: Whether nothing more is followed: the answer is whole, or has failed.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._found = deque[tuple[int, Event]]()
        self._size = 0  # of the body so far
        self._pieces = deque[tuple[int, int]]()  # where pieces of the body begin: there, and in the file
        self._new_line = True
        self._after_cr = False
        self.at: int | None = None
        self.excerpt = b""
        self.over = False

    @property
    def done(self) -> bool:
        """Whether the answer is whole."""
        return self._decoder.done

    def feed(self, at: int, data: bytes) -> None:
        """Takes a piece of the body that is found at this place in the file."""
        if self.over:
            return
        self._pieces.append((self._size, at))
        for found in LINE.finditer(data):
            line = found[0]
            if self._new_line and self.at is None and line[0] not in NO_FIELD:
                self.at = at + found.start()
            self._excerpt(line)
            over = self._decode(line)
            self._size += len(line)
            if over:
                self.over = True
                if not line.isspace():  # it failed before the event's end
                    self._excerpt(data[found.end() :].split(b"\n\n", 1)[0])
                return
            self._end(line)

    def place(self, event: Event) -> int:
        """Where in the file the event begins that this one came out of; asked for one after the other.

        Raises:
            AssertionError: The guide found another event.
        """
        if not self._found:
            self._take(self._decoder.flush())
        at, same = self._found.popleft() if self._found else (0, None)
        if same != event and not (isinstance(same, Completed) and isinstance(event, Completed)):
            raise AssertionError(f"read line by line, byte {at} of the file gives another event")
        return at

    def in_file(self, byte: int) -> int:
        """Where in the file a byte of the body is, from the current event on."""
        begins, at = next((piece for piece in reversed(self._pieces) if piece[0] <= byte), (byte, 0))
        return at + byte - begins

    def _excerpt(self, line: bytes) -> None:
        if self.at is not None and len(self.excerpt) < EXCERPT_BYTES:
            self.excerpt += line[:EXCERPT_BYTES]

    def _decode(self, line: bytes) -> bool:
        """Decodes a line, or a part of one; whether the answer is over by it."""
        try:
            self._take(self._decoder.push(line))
        except Error:
            return True
        return self._decoder.done

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            self._found.append((self.at or 0, event))

    def _end(self, line: bytes) -> None:
        """Notes whether this was an empty line, which ends the event, or the end of one begun before."""
        empty = self._new_line and line in {b"\n", b"\r", b"\r\n"}
        if empty and not (self._after_cr and line == b"\n"):
            self.at, self.excerpt = None, b""
        self._new_line = line[-1] in b"\r\n"
        self._after_cr = line[-1:] == b"\r"
        while self.at is None and len(self._pieces) > 1 and self._pieces[1][0] <= self._size:
            self._pieces.popleft()
