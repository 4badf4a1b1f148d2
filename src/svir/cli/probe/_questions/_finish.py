"""Why answers end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._questions._finding import Finding, Question, bytes_of, nothing, obstacle
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence

__all__ = ["QUESTIONS"]

KNOWN = frozenset({"stop", "length", "tool_calls", "content_filter"})


def _ended_with(evidence: Evidence, word: str, otherwise: str) -> Finding:
    """An answer without calls that ended with a word."""
    streams = [heard for heard in evidence.heard.values() if heard.streamed and not heard.reading.calls]
    if not streams:
        talk = evidence.talk
        found = nothing() if talk is None else obstacle(evidence, talk)
        return found or Finding(Verdict.UNCLEAR, otherwise)
    for heard in streams:
        if heard.reading.finish == word:
            return Finding(
                Verdict.OK,
                f'Ends such answers with "{word}".',
                heard,
                bytes_of(heard, heard.reading.finishes[-1][0].raw),
            )
    for heard in streams:
        for chunk, finish in heard.reading.finishes:
            if finish not in KNOWN:
                told = heard.answer.quote(str(finish), 40)
                return Finding(
                    Verdict.BROKEN,
                    f'Ends answers with a word of its own: "{told}".',
                    heard,
                    bytes_of(heard, chunk.raw),
                )
    return Finding(Verdict.UNCLEAR, otherwise, streams[-1])


def stop(evidence: Evidence) -> Finding:
    """An answer that came to its own end."""
    return _ended_with(
        evidence, "stop", "No answer came to an end of its own within the tokens it was given."
    )


def length(evidence: Evidence) -> Finding:
    """An answer that the limit cut."""
    return _ended_with(evidence, "length", "No answer says that its limit cut it.")


EVERYTHING = ("bare", "plain", "lean")
QUESTIONS = (
    Question("finish.stop", "How does an answer end by itself?", EVERYTHING, stop),
    Question("finish.length", "How does an answer end that the limit cut?", EVERYTHING, length),
)
