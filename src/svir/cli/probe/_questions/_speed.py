"""How fast it is, on this occasion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._questions._finding import Finding, Question, bytes_of, nothing, obstacle
from svir.cli.probe._report import Verdict
from svir.cli.probe._speed import speed_of
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = ["QUESTIONS"]


def first_token(evidence: Evidence) -> Finding:
    """Until the first piece."""
    heard = evidence.talk
    found = _nothing_came(evidence, heard)
    if found is not None or heard is None:
        return found or nothing()
    seconds = speed_of(evidence).first_token or 0.0
    shown = bytes_of(heard, heard.reading.visible[0].raw)
    return Finding(Verdict.OK, f"The first token came after {seconds * 1000:.0f} ms.", heard, shown)


def rate(evidence: Evidence) -> Finding:
    """Tokens a second."""
    heard = evidence.talk
    found = _nothing_came(evidence, heard)
    if found is not None or heard is None:
        return found or nothing()
    speed = speed_of(evidence)
    pieces = len(speed.arrivals)
    if speed.tokens_per_second is not None:
        told = f"{speed.tokens_per_second:.1f} tokens a second, over {plural(pieces, 'piece')}."
        return Finding(Verdict.OK, told, heard)
    if pieces > 1 and speed.arrivals[-1] > speed.arrivals[0]:
        span = speed.arrivals[-1] - speed.arrivals[0]
        why = "it sends no count of tokens" if heard.complete else "the end of the answer was not seen"
        told = f"{(pieces - 1) / span:.1f} pieces a second; {why}."
        return Finding(Verdict.UNCLEAR, told, heard)
    return Finding(Verdict.UNCLEAR, "The answer came all at once.", heard)


def _nothing_came(evidence: Evidence, heard: Heard | None) -> Finding | None:
    if heard is None:
        return nothing()
    if (found := obstacle(evidence, heard)) is not None:
        return found
    return None if heard.reading.visible else Finding(Verdict.UNCLEAR, "No text came.", heard)


TALK = ("plain", "lean")
QUESTIONS = (
    Question("speed.first_token", "How soon does the first token come?", TALK, first_token),
    Question("speed.rate", "How fast do tokens come?", TALK, rate),
)
