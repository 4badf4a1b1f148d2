"""A reply played to svir's own parser, in the place of a socket.

1. The parser is the one that reads real answers, so that whatever is scripted, the bytes of a recording
   included, comes out as it would over a network. What differs is only that nothing can be lost on the way.
2. Waiting is done by whoever drives this, in short slices: a reader that waits is thereby woken when its
   response is closed, from wherever that happens.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from svir.errors import RequestTimeoutError, TransportError
from svir.testing._acts import Cut, Pause, Send, Stall
from svir.testing._content import probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svir.testing._reply import Reply

__all__ = ["Playback"]

SLICE = 0.01
"""Seconds waited at a time: the longest a closed response may take to wake its reader."""


class Playback:
    """One response as far as it was played; status and headers are there once ``head`` has been driven."""

    def __init__(self, reply: Reply) -> None:
        self.parser = probe()
        self.closed = False
        self._acts = iter(reply.acts())
        self._silence = 0.0  # seconds until the next act
        self._reset = False
        self._piece: bytes | None = None

    def head(self, *limits: float | None) -> Iterator[float]:
        """Plays until the head is there; yields the seconds to sleep before it is asked on.

        Raises:
            svir.Error: What a backend's ``send`` raises.
        """
        limit = min((limit for limit in limits if limit is not None), default=math.inf)
        while self.parser.status is None and not self.parser.failed and not self._reset:
            yield from self._advance(limit)
        if self.parser.failed:
            self.parser.piece()  # which raises the failure
        if self._reset and self.parser.status is None:
            raise TransportError("it was reset before an answer came")

    def piece(self, timeout: float | None) -> Iterator[float]:
        """Plays until a piece of the body is there for ``take``; yields as ``head`` does.

        Raises:
            svir.Error: What a response's ``read`` raises.
        """
        limit = math.inf if timeout is None else timeout
        while not self._ready():
            yield from self._advance(limit)

    def close(self) -> None:
        """Ends it; whoever waits for it is woken."""
        self.closed = True

    def take(self) -> bytes:
        """The piece, empty at the end of the body."""
        return self._piece or b""

    def _ready(self) -> bool:
        if self.closed:
            raise TransportError("the response was closed by this program", retryable=False)
        self._piece = self.parser.piece()
        if self._piece is None and self._reset:
            raise TransportError("it was reset before the body's end")
        return self._piece is not None

    def _advance(self, limit: float) -> Iterator[float]:
        """Waits what is to be waited, then performs an act."""
        left = limit
        while self._silence > 0:
            if self.closed:
                raise TransportError("the response was closed by this program", retryable=False)
            if left <= 0:
                raise RequestTimeoutError(f"the server was silent for {limit:g} s")
            before = time.monotonic()
            yield min(SLICE, self._silence, left)
            passed = time.monotonic() - before
            self._silence -= passed
            left -= passed
        match next(self._acts, None):
            case Send(data):
                self.parser.receive(data)
            case Pause(seconds):
                self._silence = seconds
            case Stall():
                self._silence = math.inf
            case Cut(reset):
                self._reset = reset
                if not reset:
                    self.parser.receive_eof()
            case None:  # a reply that is not whole ends with a cut; were it not so, this would be its end
                self.parser.receive_eof()
