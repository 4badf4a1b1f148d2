"""What is said of a command line that cannot be read: in plain words, whatever the parser's own are."""

from __future__ import annotations

import re

__all__ = ["plain"]

WORDS = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Value error, ", ""),
        (r"Input should be greater than or equal to (\S+)", r"it must be \1 or more"),
        (r"Input should be less than or equal to (\S+)", r"it must be \1 or less"),
        (r"Input should be a valid integer.*", "it must be a whole number"),
        (r"Got unexpected extra argument\(s\) \((.*)\)", r"too many words: \1"),
    )
]
"""What typer says, which has some of it from pydantic, and what is said in its place."""

QUOTE = {"svir ask": "; put quotes around the prompt"}
"""What else there is to say to those who give a command too many words."""


def plain(path: str, text: str) -> str:
    """What is wrong with a command line.

    Args:
        path: The command, with what comes before it.
        text: What the parser says.

    Example:
        >>> plain("svir ask", "Got unexpected extra argument(s) (there)")
        'too many words: there; put quotes around the prompt'
    """
    said = text
    for pattern, words in WORDS:
        said = pattern.sub(words, said)
    return said + QUOTE.get(path, "") if said.startswith("too many words") else said
