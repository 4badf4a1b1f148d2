"""Whether it ever matters how the bytes are cut (P9): every way in two, and byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import svir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from svir.cli.decode._reading import Reading

__all__ = ["Outcome", "differing_cut", "outcome"]


class Outcome(NamedTuple):
    """Everything that can be seen of a decoding."""

    events: tuple[svir.Event, ...]
    error: svir.Error | None

    def same_as(self, other: Outcome) -> bool:
        """Whether the other one has the same events and the same error, in the same place."""
        mine, theirs = self.error, other.error
        return self.events == other.events and type(mine) is type(theirs) and str(mine) == str(theirs)


def outcome(pieces: Iterable[bytes], reading: Reading) -> Outcome:
    """What a decoder makes of a stream in these pieces."""
    decoder = reading.decoder()
    events: list[svir.Event] = []
    failure: svir.Error | None = None
    try:
        for piece in pieces:
            for event in decoder.push(piece):
                events.append(event)  # noqa: PERF402 (those before an error count)
        events.extend(decoder.flush())
        decoder.finish()
    except svir.Error as error:
        failure = error
    return Outcome(tuple(events), failure)


def cuts(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Every cut, in words and as pieces."""
    if len(body) > 1:
        yield "byte by byte", [body[at : at + 1] for at in range(len(body))]
    for at in range(1, len(body)):
        yield f"cut in two at byte {at} of the body", [body[:at], body[at:]]


def differing_cut(body: bytes, reading: Reading) -> tuple[str | None, int]:
    """The first cut whose outcome is not that of the whole, or None; and how many were tried."""
    whole, tried = outcome([body], reading), 1
    for tried, (words, pieces) in enumerate(cuts(body), 2):
        if not outcome(pieces, reading).same_as(whole):
            return words, tried
    return None, tried
