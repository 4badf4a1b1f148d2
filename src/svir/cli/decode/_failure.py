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

# What a body begins with that no event stream does -> what it is, and mostly is there for.
LOOKS_LIKE = {
    b"<": ("this is HTML or XML", "mostly a page of a proxy"),
    b"{": ("this is JSON", "an answer that was not streamed, or an error"),
    b"[": ("this is JSON", "not an answer, and not a part of one"),
    b"\x1f\x8b": ("these bytes are compressed", "record the answer without accept-encoding"),
}
LINES = "FILE is what `curl -i` wrote, or the body of an event stream: lines that begin with data:"


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
        text, advice = _as_it_looks(text, advice, playback, decoded=place is not None)
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


def _as_it_looks(text: str, advice: str, playback: Playback, *, decoded: bool) -> tuple[str, str]:
    """The same of a file that is no recording at all: not what a decoder makes of it, but what it is."""
    recording, first = playback.recording, playback.first.lstrip()
    if recording.empty:
        return "svir: the recording is empty", LINES
    for start, (what, why) in LOOKS_LIKE.items():
        if first.startswith(start):
            if decoded:
                return f"svir: {what} and no event stream", f"{why[0].upper()}{why[1:]}."
            return text, f"{what[0].upper()}{what[1:]}: {why}."
    if decoded and not recording.headed and not recording.fields:
        return "svir: this looks like no recording of an event stream", LINES
    return text, advice
