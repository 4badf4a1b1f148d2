"""Token counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._evidence import NO_USAGE_OPTION
from svir.cli.probe._questions._finding import (
    Finding,
    Question,
    broken_off,
    bytes_of,
    head_of,
    of_stream,
    tail_of,
    words,
)
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = ["QUESTIONS"]

WITHOUT = ("bare", "elsewhere", "completion", "lean")


def asked(evidence: Evidence) -> Finding:
    """With ``stream_options``."""
    heard = evidence.get("plain")
    if heard is not None and evidence.streamed("lean"):
        found = f"Refuses stream_options: {words(heard)}."
        return Finding(Verdict.UNSUPPORTED, found, heard, head_of(heard), (NO_USAGE_OPTION,))
    return of_stream(lambda _: heard, counts)(evidence)


def counts(heard: Heard) -> Finding:
    """What counts there are."""
    reading = heard.reading
    if not reading.usages:
        if not reading.finishes:
            return Finding(Verdict.UNCLEAR, f"{broken_off(heard)} before any came.", heard)
        if heard.answer.error is not None or heard.answer.stopped:
            return Finding(Verdict.UNCLEAR, "None came, and the end of the answer was not seen.", heard)
        return Finding(
            Verdict.UNSUPPORTED,
            "Asked for token counts, it sends none.",
            heard,
            tail_of(heard),
        )
    usage = reading.usages[-1]
    shown = bytes_of(heard, usage.chunk.raw)
    if usage.tokens("prompt_tokens") is None or usage.tokens("completion_tokens") is None:
        return Finding(Verdict.BROKEN, "The counts lack prompt_tokens or completion_tokens.", heard, shown)
    if len(reading.usages) > 1:
        verdict = Verdict.DIFFERENT if heard.strict.error is None else Verdict.BROKEN
        return Finding(verdict, f"Counts come {len(reading.usages)} times in one answer.", heard, shown)
    if usage.alone:
        return Finding(Verdict.OK, "Counts come in a chunk of their own, at the end.", heard, shown)
    return Finding(Verdict.DIFFERENT, "Counts come beside a choice.", heard, shown)


def without(evidence: Evidence) -> Heard | None:
    """An answer to a request without ``stream_options``."""
    names = [name for name in WITHOUT if evidence.get(name) is not None]
    return (
        evidence.get(next((name for name in names if evidence.streamed(name)), names[0])) if names else None
    )


def unasked(heard: Heard) -> Finding:
    """Without ``stream_options``."""
    if heard.reading.usages:
        shown = bytes_of(heard, heard.reading.usages[-1].chunk.raw)
        return Finding(Verdict.DIFFERENT, "Sends token counts also when nobody asks.", heard, shown)
    if not heard.complete:
        return Finding(Verdict.UNCLEAR, "None came, and the end of the answer was not seen.", heard)
    return Finding(Verdict.OK, "Sends none.", heard)


QUESTIONS = (
    Question("usage.asked", "Does it count tokens when asked to?", ("plain", "lean"), asked),
    Question("usage.unasked", "Does it count them when not asked?", WITHOUT, of_stream(without, unasked)),
)
