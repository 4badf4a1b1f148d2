"""How a recording fails: what is said about it, and where in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from svir.cli._exits import describe
from svir.cli.decode._text import plain

if TYPE_CHECKING:
    from svir.cli.decode._playback import Playback
    from svir.errors import Error, ErrorKind

__all__ = ["Failure", "failure_of"]

# What a body begins with that no event stream does -> what it is.
LOOKS_LIKE = {
    b"<": "This is HTML or XML and no event stream: mostly a page of a proxy.",
    b"{": "This is JSON and no event stream: an answer that was not streamed, or an error.",
    b"[": "This is JSON and no event stream.",
    b"\x1f\x8b": "These bytes are compressed: record the answer without accept-encoding.",
}


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """How a recording fails.

    Attributes:
        kind: The error's kind.
        text: What happened, as it is said on standard error.
        advice: What may help.
        offset: Where in the file; None when it is no matter of one place.
        event: The number of the event, counted from 1; None when it is no matter of one event.
        piece: What is found there, shortened.
        status: The HTTP status of a response that was no success.
        code: The server's machine-readable word.
        server_message: The server's own words.
        retryable: Whether trying again may help.
    """

    kind: ErrorKind
    text: str
    advice: str
    offset: int | None
    event: int | None
    piece: str
    status: int | None
    code: str | None
    server_message: str | None
    retryable: bool


def failure_of(error: Error, playback: Playback) -> Failure:
    """What there is to say about an error; places in the stream become places in the file."""
    playback.look()
    recording, guide, place = playback.recording, playback.guide, error.place
    offset: int | None
    if place is not None:
        offset = guide.in_file(place.byte)
        there = f"event {place.event}, byte {offset} of the file"
        error.detail = error.detail.replace(f"({place})", f"({there})")
    elif (offset := recording.failed_at) is not None:
        error.detail += f" (byte {offset} of the file)"
    else:
        offset = guide.at
    text, advice = describe(error, recorded=True)
    if recording.status == 200:
        looks = (told for start, told in LOOKS_LIKE.items() if playback.first.lstrip().startswith(start))
        advice = next(looks, advice)
    return Failure(
        kind=error.kind,
        text=text,
        advice=advice,
        offset=offset,
        event=None if place is None else place.event,
        piece=plain(guide.excerpt.rstrip(b"\r\n")),
        status=error.status,
        code=error.code,
        server_message=error.server_message,
        retryable=error.retryable,
    )
