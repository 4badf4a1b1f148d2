"""The listing of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._questions._finding import Finding, Question, bytes_of, head_of, nothing, words
from svir.cli.probe._report import Verdict
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence

__all__ = ["QUESTIONS"]


def listing(evidence: Evidence) -> Finding:
    """``GET /v1/models``."""
    heard = evidence.get("models")
    if heard is None:
        return nothing()
    answer, models = heard.answer, heard.strict.models
    if models is not None:
        shown = bytes_of(heard, answer.body)
        if not models:
            return Finding(Verdict.DIFFERENT, "Lists no model.", heard, shown)
        if evidence.model not in models:
            found = f"Lists {plural(len(models), 'model')}, and not the one that is asked here."
            return Finding(Verdict.DIFFERENT, found, heard, shown)
        return Finding(Verdict.OK, f"Lists {plural(len(models), 'model')}.", heard, shown)
    shown = head_of(heard)
    if answer.status is None:
        verdict = Verdict.UNCLEAR if answer.late else Verdict.BROKEN
        return Finding(verdict, f"No answer: {answer.error.detail if answer.error else ''}.", heard)
    if answer.status in {404, 405, 501}:
        return Finding(Verdict.UNSUPPORTED, f"Lists no models: {words(heard)}.", heard, shown)
    if heard.success:
        return Finding(Verdict.BROKEN, f"HTTP {answer.status}, and what comes is no listing.", heard, shown)
    return Finding(Verdict.UNCLEAR, f"{words(heard)}.", heard, shown)


QUESTIONS = (Question("models.list", "Which models are there?", ("models",), listing),)
