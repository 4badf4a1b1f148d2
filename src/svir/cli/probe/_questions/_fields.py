"""Fields of a request that change an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._evidence import COMPLETION_TOKENS, COMPLETION_TOKENS_OPTION, STOP
from svir.cli.probe._questions._finding import (
    Finding,
    Question,
    bytes_of,
    head_of,
    nothing,
    obstacle,
    of_step,
    tail_of,
    text_of,
    words,
)
from svir.cli.probe._reading import as_object
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = ["QUESTIONS"]


LONGEST_WITHOUT = 80
"""Characters of a text that may do without `STOP`; in a longer one of this kind it was taken out."""


def _limited(heard: Heard) -> Finding:
    """An answer that was allowed one token."""
    reading = heard.reading
    shown = tail_of(heard)
    made = reading.usage.tokens("completion_tokens") if reading.usage else None
    pieces = len(reading.visible)
    if (made or 0) > 1 or pieces > 2:
        count = f"{made} tokens" if made is not None else f"{pieces} pieces"
        return Finding(Verdict.DIFFERENT, f"Accepted, and not kept: {count} came for 1.", heard, shown)
    if reading.finish == "length":
        return Finding(Verdict.OK, "Kept: one token came.", heard, shown)
    finish = heard.answer.quote(str(reading.finish), 30)
    return Finding(Verdict.UNCLEAR, f'One piece came, and the answer ended with "{finish}".', heard, shown)


def max_tokens(evidence: Evidence) -> Finding:
    """The limit by its older name."""
    heard = evidence.get("elsewhere") or evidence.get("bare")
    if heard is None:
        return nothing()
    if not heard.streamed and evidence.streamed("completion"):
        told = f"The server says no: {words(heard)}."
        return Finding(Verdict.UNSUPPORTED, told, heard, head_of(heard), (COMPLETION_TOKENS_OPTION,))
    return obstacle(evidence, heard) or _limited(heard)


def stop(evidence: Evidence) -> Finding:
    """A text at which the answer ends."""
    heard = evidence.get("stop")
    if heard is None:
        return nothing()
    if (found := obstacle(evidence, heard)) is not None:
        return found
    reading, shown = heard.reading, tail_of(heard)
    if _ends_with_it(heard):
        told = "Kept to, but the stop text is left at the end of the answer."
        return Finding(Verdict.DIFFERENT, told, heard, text_of(heard))
    if STOP in reading.text:
        return Finding(
            Verdict.DIFFERENT, "Accepted, and not kept: the answer goes on behind it.", heard, text_of(heard)
        )
    talk = evidence.talk
    usual = talk is not None and STOP in talk.reading.text
    if usual and len(reading.text) > LONGEST_WITHOUT:
        told = "Accepted, and not kept: the stop text is taken out, and the answer goes on."
        return Finding(Verdict.DIFFERENT, told, heard, text_of(heard))
    if reading.finish == "stop" and usual and reading.text:
        return Finding(Verdict.OK, 'Kept: the answer ends before it, with "stop".', heard, shown)
    return Finding(Verdict.UNCLEAR, "Accepted; the answer did not come to it.", heard, shown)


def _ends_with_it(heard: Heard) -> bool:
    """Whether the stop text comes at the very end: alone, or in the last token, which has more."""
    reading = heard.reading
    before, found, behind = reading.text.partition(STOP)
    if not found or reading.finish != "stop":
        return False
    last = reading.visible[-1].delta.get("content")
    return not behind or (isinstance(last, str) and 0 < len(reading.text) - len(last) <= len(before))


def logprobs(heard: Heard) -> Finding:
    """Log probabilities."""
    for chunk in heard.reading.objects:
        for choice in chunk.choices:
            if as_object(choice.get("logprobs")).get("content"):
                return Finding(
                    Verdict.OK, "Come beside the delta; svir skips them.", heard, bytes_of(heard, chunk.raw)
                )
    if not heard.reading.visible:
        return Finding(Verdict.UNCLEAR, "Accepted; no text came that could have some.", heard)
    shown = bytes_of(heard, heard.reading.visible[0].raw)
    return Finding(Verdict.UNSUPPORTED, "Accepted, and left out of the answer.", heard, shown)


def unknown(evidence: Evidence) -> Finding:
    """A field that does not exist."""
    heard = evidence.get("unknown")
    if heard is None:
        return nothing()
    found = obstacle(evidence, heard)
    if found is None:
        return Finding(
            Verdict.DIFFERENT, "Accepts a field that does not exist.", heard, head_of(heard), advice=MISSPELT
        )
    if found.verdict is Verdict.UNSUPPORTED:
        return Finding(
            Verdict.OK, f"Refuses a field that does not exist: {words(heard)}.", heard, head_of(heard)
        )
    return found


MISSPELT = "A misspelt name in Request(extra=...) goes unnoticed."

QUESTIONS = (
    Question(
        "fields.max_tokens", "Does it keep to max_tokens?", ("bare", "elsewhere", "completion"), max_tokens
    ),
    of_step(f"fields.{COMPLETION_TOKENS}", f"Does it keep to {COMPLETION_TOKENS}?", "completion", _limited),
    Question("fields.stop", "Does it end at a stop text?", ("stop", "plain", "lean"), stop),
    of_step("fields.logprobs", "Does it send log probabilities?", "logprobs", logprobs),
    Question("fields.unknown", "What does it do with an unknown field?", ("unknown",), unknown),
)
