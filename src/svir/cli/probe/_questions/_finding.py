"""What a question is, what is found, and what is found when there is nothing to look at.

1. That a server refuses a request tells something about what was added to it only when the request without
   it was answered (`Evidence.baseline`); and that it fails, only when it still answers that one afterwards
   (`Heard.confirmed`).
2. A refusal is the server's: a status, or an error inside the stream. That an answer does not show what it
   was asked to show may be the model's doing, and is `UNCLEAR`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from svir.cli.probe._report import Row, Verdict
from svir.cli.probe._text import sent_text
from svir.errors import ProtocolError

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = [
    "WHEN_IDLE",
    "Finding",
    "Judge",
    "Question",
    "broken_off",
    "bytes_of",
    "head_of",
    "nothing",
    "obstacle",
    "of_step",
    "of_stream",
    "row",
    "tail_of",
    "text_of",
    "words",
]

SHOWN_BYTES = 400
CANNOT = re.compile(
    r"\b(?:not|n't|never|un)[ -]?(?:yet |currently |be )?(?:support|implement|available|allowed|enabled)"
    r"|\bno support\b|\bonly\b[^.]{1,40}\bsupport|\bonly supports?\b",
    re.IGNORECASE,
)
"""Words of a server that says it cannot, whatever status it says it with."""
WHEN_IDLE = "Probe it when it has nothing else to do."
DOUBLE_END = re.compile(r"(?<=[^.])(\.|\.{3})\.$")
"""The end of a sentence, behind words that had one themselves, or were cut off."""
PASSING = frozenset({408, 429, 502, 503, 504, 529})
"""Statuses that speak of the moment, and not of the request."""


class Finding(NamedTuple):
    """What was found.

    Attributes:
        verdict: How it is to be taken.
        finding: One sentence.
        heard: The answer that shows it.
        shown: The bytes of it that do.
        options: Arguments for ``Client.openai`` that follow.
        advice: What else to do about it.
    """

    verdict: Verdict
    finding: str
    heard: Heard | None = None
    shown: str = ""
    options: tuple[str, ...] = ()
    advice: str = ""


Judge = Callable[["Evidence"], Finding]


class Question(NamedTuple):
    """A question.

    Attributes:
        id: Its name: the group, a dot, and the rest.
        question: It in words.
        needs: The steps whose answers it looks at.
        judge: Finds the answer.
    """

    id: str
    question: str
    needs: tuple[str, ...]
    judge: Judge

    @property
    def group(self) -> str:
        """What ``--only`` takes."""
        return self.id.partition(".")[0]


def row(question: Question, evidence: Evidence) -> Row:
    """The row of a question."""
    found = question.judge(evidence)
    if found.verdict is Verdict.SKIPPED and not set(question.needs).isdisjoint(evidence.unreached):
        found = nothing(f"Not asked: {evidence.ended}.")
    heard = found.heard
    sent = strict = lenient = ""
    if heard is not None:
        asked = heard.answer.asked
        sent = sent_text(asked.method, heard.answer.target, asked.body, wrong_key=asked.wrong_key)
        if heard.answer.stopped != "left":
            strict, lenient = heard.strict.said, heard.lenient.said
    return Row(
        id=question.id,
        question=question.question,
        verdict=found.verdict,
        finding=DOUBLE_END.sub(r"\1", found.finding),
        sent=sent,
        shown=found.shown,
        strict=strict,
        lenient=lenient,
        options=found.options,
        advice=found.advice,
    )


def nothing(why: str = "Not asked.") -> Finding:
    """What is found when nothing was asked."""
    return Finding(Verdict.SKIPPED, why)


def bytes_of(heard: Heard, data: bytes) -> str:
    """Bytes of an answer, as they are shown."""
    return heard.answer.quote(data.strip(), SHOWN_BYTES)


def broken_off(heard: Heard) -> str:
    """That an answer broke off, and why."""
    if heard.reported is not None:
        return f"An error ended the answer ({heard.answer.quote(heard.reported.server_message or '', 60)})"
    if heard.answer.late:
        return f"The {heard.answer.seconds:.2g} s for the answer ended"
    error = heard.answer.error or heard.lenient.error
    return f"The answer broke off ({error.detail if error is not None else heard.answer.stopped})"


def text_of(heard: Heard) -> str:
    """An answer's text, as it is shown."""
    return heard.answer.quote(heard.reading.text, 200)


def tail_of(heard: Heard) -> str:
    """An answer's last events, as they are shown."""
    last = [chunk.raw.strip() for chunk in heard.reading.chunks[-3:]]
    return heard.answer.quote(b"\n\n".join(last), SHOWN_BYTES) if last else ""


def head_of(heard: Heard) -> str:
    """An answer's status, media type and first bytes, as they are shown."""
    answer = heard.answer
    if answer.status is None:
        return ""
    kind = answer.headers.get("content-type") or "no content-type"
    return answer.quote(
        f"HTTP {answer.status}, {kind}: {answer.body[: 2 * SHOWN_BYTES].decode('utf-8', 'replace').strip()}"
    )


def words(heard: Heard) -> str:
    """A refusal in a few words: the status, and the server's own."""
    answer, error = heard.answer, heard.refusal
    inside = "" if error is None or error.status is not None else ", then an error"
    said = answer.quote(error.server_message or "", 120) if error is not None else ""
    return f"HTTP {answer.status}{inside}" + (f": {said}" if said else "")


def of_stream(pick: Callable[[Evidence], Heard | None], judge: Callable[[Heard], Finding]) -> Judge:
    """A judge of one answer's stream, who is not asked when there is none."""

    def decide(evidence: Evidence) -> Finding:
        heard = pick(evidence)
        return nothing() if heard is None else obstacle(evidence, heard) or judge(heard)

    return decide


def of_step(name: str, question: str, step: str, judge: Callable[[Heard], Finding]) -> Question:
    """A question about the stream that answers one step."""
    return Question(name, question, (step,), of_stream(lambda evidence: evidence.get(step), judge))


def obstacle(evidence: Evidence, heard: Heard) -> Finding | None:
    """What is found when an answer is no stream that could be looked into; None when it is one."""
    answer = heard.answer
    if answer.status is None:
        return _no_answer(heard)
    if heard.streamed:
        return None
    if heard.refusal is not None:
        return _refused(evidence, heard)
    shown = head_of(heard)
    if 300 <= answer.status < 400:
        where = answer.quote(answer.headers.get("location") or "nowhere", 100)
        found = f"Redirects with HTTP {answer.status} to {where}, and svir follows no redirect."
        return Finding(Verdict.BROKEN, found, heard, shown, advice="Probe the address it redirects to.")
    if (coding := answer.headers.get("content-encoding") or "identity").strip().lower() != "identity":
        found = f"Sends it encoded ({answer.quote(coding, 30)}), though only identity is accepted."
        return Finding(Verdict.BROKEN, found, heard, shown)
    if answer.content_type != "text/event-stream":
        kind = answer.quote(answer.content_type or "no content-type", 60)
        return Finding(
            Verdict.BROKEN, f"HTTP {answer.status} with {kind}, which is no event stream.", heard, shown
        )
    if answer.late:
        return Finding(
            Verdict.UNCLEAR, f"Nothing of an answer came within {answer.seconds:.3g} s.", heard, shown
        )
    return Finding(Verdict.BROKEN, "An event stream without a single chunk of an answer.", heard, shown)


def _no_answer(heard: Heard) -> Finding:
    error = heard.answer.error
    detail = error.detail if error is not None else "it was left"
    # What takes too long, or was never sent, says nothing of what was asked.
    if heard.answer.late:
        found = f"{detail[:1].upper()}{detail[1:]} (busy, or slow?)."
        return Finding(Verdict.UNCLEAR, found, heard, advice=WHEN_IDLE)
    clear = heard.confirmed and not (error is not None and error.unsent)
    clear = clear or isinstance(error, ProtocolError)  # that is a server's own doing, whenever it comes
    return Finding(Verdict.BROKEN if clear else Verdict.UNCLEAR, f"No answer: {detail}{_too(heard)}.", heard)


def _too(heard: Heard) -> str:
    return ", and none to the simplest request either" if heard.confirmed is False else ""


def _refused(evidence: Evidence, heard: Heard) -> Finding:
    status, error = heard.answer.status or 0, heard.refusal
    said, shown = words(heard), head_of(heard)
    if evidence.baseline is None:
        return Finding(Verdict.UNCLEAR, f"{said}, as to the simplest request.", heard, shown)
    if status in PASSING or status in {401, 403}:
        return Finding(Verdict.UNCLEAR, f"{said}.", heard, shown)
    says_so = CANNOT.search((error.server_message if error else None) or "") is not None
    if heard.failed and not heard.confirmed:
        return Finding(Verdict.UNCLEAR, f"{said}{_too(heard)}.", heard, shown)
    if not heard.failed or says_so:
        advice = ""
        if error is not None and error.retryable:
            advice = f"svir takes HTTP {status} for a failure that may pass: do not retry this one."
        return Finding(Verdict.UNSUPPORTED, f"The server says no: {said}.", heard, shown, advice=advice)
    return Finding(Verdict.BROKEN, f"The server fails: {said}.", heard, shown)
