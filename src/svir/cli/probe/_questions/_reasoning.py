"""Reasoning: how it arrives, and which words for the effort are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._evidence import BOGUS, effort_step
from svir.cli.probe._questions._finding import (
    PASSING,
    Finding,
    Question,
    bytes_of,
    head_of,
    nothing,
    obstacle,
    text_of,
    words,
)
from svir.cli.probe._report import Verdict
from svir.types import Effort

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = ["QUESTIONS"]

STEPS = tuple(effort_step(word) for word in (*Effort, BOGUS))
OTHER_KEYS = ("reasoning_details", "thinking", "thoughts")
"""Where else reasoning was seen."""


def carrier(evidence: Evidence) -> Finding:
    """How reasoning arrives, in whichever answer had some."""
    streams = [heard for heard in evidence.heard.values() if heard.streamed]
    if not streams:
        talk = evidence.talk
        found = nothing() if talk is None else obstacle(evidence, talk)
        return found or Finding(Verdict.UNCLEAR, "No answer came.")
    return next((found for heard in streams if (found := _carried(heard))), _none(streams[0]))


def _carried(heard: Heard) -> Finding | None:
    reading = heard.reading
    for chunk in reading.objects:
        for key in OTHER_KEYS:
            if chunk.delta.get(key):
                told = f"Reasoning comes under {key}, which svir does not read."
                return Finding(Verdict.BROKEN, told, heard, bytes_of(heard, chunk.raw))
        if isinstance(chunk.delta.get("content"), list):
            told = "Content comes as a list of parts, which svir does not read."
            return Finding(Verdict.BROKEN, told, heard, bytes_of(heard, chunk.raw))
    keys = tuple(reading.reasoning)
    if len(keys) > 1:
        same = len(set(reading.reasoning.values())) == 1
        told = "Reasoning comes under two keys" + (", the same text." if same else ", with different texts.")
        return Finding(Verdict.DIFFERENT, told, heard, _first_with(heard, keys[0]))
    if keys:
        return Finding(Verdict.OK, f"Reasoning comes as {keys[0]}.", heard, _first_with(heard, keys[0]))
    if "<think>" in reading.text:
        told = "Reasoning stands in the text as <think>, where svir takes it out."
        return Finding(Verdict.DIFFERENT, told, heard, text_of(heard))
    if "</think>" in reading.text:
        told = "Reasoning stands in the text, with nothing but </think> at its end."
        advice = (
            "svir cannot tell where it began, and hands it out as text: use the server's reasoning parser."
        )
        return Finding(Verdict.BROKEN, told, heard, text_of(heard), advice=advice)
    return None


def _none(heard: Heard) -> Finding:
    return Finding(
        Verdict.UNCLEAR, "No answer had reasoning: the model may have none.", heard, head_of(heard)
    )


def _first_with(heard: Heard, key: str) -> str:
    return next((bytes_of(heard, chunk.raw) for chunk in heard.reading.objects if chunk.delta.get(key)), "")


def effort(evidence: Evidence) -> Finding:
    """Which words are taken for the effort."""
    tried = {word: heard for word in Effort if (heard := evidence.get(effort_step(word))) is not None}
    if not tried:
        return nothing()
    taken = [word for word, heard in tried.items() if heard.streamed]
    refused = [word for word, heard in tried.items() if _rejected(heard)]
    first = next(iter(tried.values()))
    if not taken:
        if evidence.baseline is not None and len(refused) == len(tried):
            told = f"Takes no word for the effort: {words(first)}."
            return Finding(Verdict.UNSUPPORTED, told, first, head_of(first), advice=LEARNS)
        return obstacle(evidence, first) or nothing("Not asked to its end.")
    unsure = [word for word in tried if word not in taken and word not in refused]
    told = f"Takes {', '.join(taken)}"
    told += f"; refuses {', '.join(refused)}" if refused else ""
    told += f"; no telling for {', '.join(unsure)}" if unsure else ""
    shown = head_of(tried[refused[0]] if refused else first)
    heard = tried[refused[0]] if refused else first
    if evidence.streamed(effort_step(BOGUS)):
        told += "; takes a made-up word, too, so that taking one says little"
        return Finding(Verdict.UNCLEAR, f"{told}.", heard, shown)
    return Finding(Verdict.OK, f"{told}.", heard, shown, advice=LEARNS if refused else "")


LEARNS = "svir leaves reasoning_effort out once it was rejected, and says so in client.compatibility.learned."


def _rejected(heard: Heard) -> bool:
    status = heard.answer.status
    return heard.refusal is not None and status is not None and status < 500 and status not in PASSING


QUESTIONS = (
    Question("reasoning.carrier", "How does reasoning arrive?", ("plain", "lean"), carrier),
    Question("reasoning.effort", "Which words for the effort does it take?", STEPS, effort),
)
