"""Turns of other roles than the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._evidence import WORD
from svir.cli.probe._questions._finding import Finding, bytes_of, of_step, text_of
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Heard

__all__ = ["QUESTIONS"]


def system(heard: Heard) -> Finding:
    """A system prompt that asks for one word."""
    shown = text_of(heard)
    if WORD.lower() in heard.reading.text.lower():
        return Finding(Verdict.OK, "Accepted, and the answer heeds it.", heard, shown)
    return Finding(Verdict.UNCLEAR, "Accepted; the model does not do what it says.", heard, shown)


def tool(heard: Heard) -> Finding:
    """A conversation with a call and its result."""
    shown = text_of(heard)
    if "17" in heard.reading.text:
        return Finding(Verdict.OK, "Accepted, and the answer uses it.", heard, shown)
    if heard.reading.calls:
        shown = bytes_of(heard, heard.reading.calls[0].pieces[0][0].raw)
        return Finding(Verdict.UNCLEAR, "Accepted; the model made another call.", heard, shown)
    return Finding(Verdict.UNCLEAR, "Accepted; the answer does not show that it was read.", heard, shown)


QUESTIONS = (
    of_step("roles.system", "Does it take a system prompt?", "system", system),
    of_step("roles.tool", "Does it take a call with its result?", "result", tool),
)
