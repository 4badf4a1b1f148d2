"""Images."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from svir.cli.probe._questions._finding import Finding, of_step, text_of
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Heard

__all__ = ["QUESTIONS"]

RED = re.compile(r"\bred\b", re.IGNORECASE)


def image(heard: Heard) -> Finding:
    """A red square, and the question which colour it is."""
    shown = text_of(heard)
    if RED.search(heard.reading.text):
        return Finding(Verdict.OK, "Accepted, and the answer names its colour.", heard, shown)
    return Finding(Verdict.UNCLEAR, "Accepted; the answer does not show that it was seen.", heard, shown)


QUESTIONS = (of_step("images.input", "Does it take images?", "image", image),)
