"""How fast an answer came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._report import Speed

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence

__all__ = ["speed_of"]


def speed_of(evidence: Evidence) -> Speed:
    """The speed of a plain answer of some length."""
    heard = evidence.talk
    if heard is None or not heard.streamed:
        return Speed()
    answer, reading = heard.answer, heard.reading
    arrivals = tuple(round(answer.arrived(chunk.end), 4) for chunk in reading.visible)
    if not arrivals:
        return Speed()
    span = arrivals[-1] - arrivals[0]
    made = reading.usage.tokens("completion_tokens") if reading.usage else None
    # n tokens span n - 1 intervals.
    speed = round((made - 1) / span, 2) if made is not None and made > 1 and span > 0 else None
    return Speed(first_token=arrivals[0], tokens_per_second=speed, arrivals=arrivals)
