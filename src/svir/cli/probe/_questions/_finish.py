"""Why answers end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._questions._finding import Finding, Question, bytes_of, nothing, obstacle
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = ["QUESTIONS"]

KNOWN = frozenset({"stop", "length", "tool_calls", "content_filter"})


def stop(evidence: Evidence) -> Finding:
    """An answer that came to its own end."""
    for heard in _streams(evidence):
        for chunk, finish in heard.reading.finishes:
            if finish not in KNOWN:
                told = f'Ends answers with a word of its own: "{heard.answer.quote(str(finish), 40)}".'
                return Finding(Verdict.BROKEN, told, heard, bytes_of(heard, chunk.raw))
    return _ended_with(evidence, "stop") or Finding(
        Verdict.UNCLEAR, "No answer came to an end of its own within the tokens it was given.", evidence.talk
    )


def length(evidence: Evidence) -> Finding:
    """An answer that the limit cut."""
    return _ended_with(evidence, "length") or Finding(
        Verdict.UNCLEAR, "No answer says that its limit cut it.", evidence.talk
    )


def _streams(evidence: Evidence) -> list[Heard]:
    """Every answer that is no call."""
    return [heard for heard in evidence.heard.values() if heard.streamed and not heard.reading.calls]


def _ended_with(evidence: Evidence, word: str) -> Finding | None:
    """An answer that ended with this word; None when there is an answer, and none that did."""
    for heard in _streams(evidence):
        if heard.reading.finish == word:
            shown = bytes_of(heard, heard.reading.finishes[-1][0].raw)
            return Finding(Verdict.OK, f'Its finish reason is "{word}".', heard, shown)
    if _streams(evidence):
        return None
    talk = evidence.talk
    return nothing() if talk is None else obstacle(evidence, talk)


EVERYTHING = ("bare", "plain", "lean")
QUESTIONS = (
    Question("finish.stop", "How does an answer end by itself?", EVERYTHING, stop),
    Question("finish.length", "How does an answer end that its limit cut?", EVERYTHING, length),
)
