"""The recording in the place of HTTP: the client asks, and is answered with what the file holds."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

import svir
from svir.cli.decode._guide import Guide
from svir.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from svir.cli.decode._reading import Reading
    from svir.cli.decode._recording import Recording
    from svir.http import Abort, Headers, HttpRequest

__all__ = ["Located", "Playback"]

T = TypeVar("T")

FIRST_BYTES = 16
"""Enough of a body to see that it is no event stream."""


class Located(NamedTuple):
    """An event, and where in the file the bytes begin that it came out of."""

    offset: int
    event: svir.Event


class Playback:
    """A backend whose one response is the recording; it is that response, too.

    Args:
        recording: What is played.
        reading: How it is to be read.
        size: Bytes given at a time; None: as they come.

    Attributes:
        guide: Knows the places.
        first: The first bytes of the body.
    """

    def __init__(self, recording: Recording, reading: Reading, size: int | None = None) -> None:
        self.recording = recording
        self.guide = Guide(reading.decoder())
        self.first = b""
        self._reading = reading
        self._size = size
        self._rest = (0, b"")  # what was taken from the recording, but not given yet
        self._failure: Error | None = None

    def events(self) -> Generator[Located]:
        """The events.

        Raises:
            svir.Error: What the client makes of the recording.
        """
        with self.client() as client, client.stream("recorded") as stream:
            for event in stream:
                yield Located(self.guide.place(event), without_times(event))

    def body(self) -> bytes:
        """The bytes of the stream, those after its end too; of one over the limit, so many that it is.

        Raises:
            svir.Error: The response is no stream.
        """
        pieces: list[bytes] = []
        left = self._reading.limits.wire_bytes
        with self.client() as client, client.send("recorded"):  # which looks at the head
            try:
                while left >= 0 and (piece := self.recording.piece()) is not None:
                    pieces.append(piece[1])
                    left -= len(piece[1])
            except svir.TruncatedStreamError:
                pass  # it is one for the decoder as well
        return b"".join(pieces)

    def look(self) -> None:
        """Takes in the beginning of a body that the client did not want to read."""
        if not self.first:
            with contextlib.suppress(svir.Error):
                self.read(None)

    def client(self) -> svir.Client:
        """A client that is answered with the recording, whatever it asks, once."""
        reading = self._reading
        return svir.Client.openai(
            "http://127.0.0.1",
            model="recorded",
            backend=self,
            # A rejection of what can be left out would be answered by another request, which has no answer.
            include_usage=False,
            mode=reading.mode,
            think=reading.think,
            limits=reading.limits,
        )

    # What a backend is

    def send(
        self,
        request: HttpRequest,  # noqa: ARG002 (whatever it is)
        *,
        connect: float | None,  # noqa: ARG002 (nothing is waited for; likewise below)
        read: float | None,  # noqa: ARG002
        total: float | None = None,  # noqa: ARG002
        abort: Abort | None = None,  # noqa: ARG002
    ) -> Playback:
        """Reads the head; see ``svir.http.Backend.send``."""
        self.recording.open()
        return self

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits for nothing."""

    def call(self, function: Callable[[], T]) -> T:
        """Runs it."""
        return function()

    # What a response is

    @property
    def status(self) -> int:
        """The recorded status."""
        return self.recording.status

    @property
    def headers(self) -> Headers:
        """The recorded header fields."""
        return self.recording.headers

    def read(self, timeout: float | None) -> bytes:  # noqa: ARG002
        """The next bytes of the body; empty at its end, and once the answer is whole."""
        given: list[bytes] = []
        left = self._size or 1
        while left > 0 and self._failure is None and not self.guide.done:
            try:
                piece = self._next(left if self._size else None)
            except Error as error:
                self._failure = error  # raised after the bytes before it
                break
            if piece is None:
                break
            self.guide.feed(*piece)
            given.append(piece[1])
            left -= len(piece[1])
        if self._failure is not None and not given:
            raise self._failure.with_traceback(None)
        return b"".join(given)

    def _next(self, most: int | None) -> tuple[int, bytes] | None:
        """A piece of at most so many bytes."""
        at, data = self._rest
        if not data:
            piece = self.recording.piece()
            if piece is None:
                return None
            at, data = piece
            self.first = self.first or data[:FIRST_BYTES]
        most = len(data) if most is None else min(most, len(data))
        self._rest = (at + most, data[most:])
        return at, data[:most]

    def close(self) -> None:
        """Does nothing: the file is its opener's."""


def without_times(event: svir.Event) -> svir.Event:
    """The event without the time that passed while a recording was read, which tells nothing."""
    match event:
        case svir.Completed(completion):
            return svir.Completed(msgspec.structs.replace(completion, timing=None))
        case _:
            return event
