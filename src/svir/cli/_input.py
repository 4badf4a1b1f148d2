"""Standard input."""

from __future__ import annotations

import sys
from typing import BinaryIO

import svir
from svir.cli._output import say

__all__ = ["stdin"]


def stdin(what: str) -> BinaryIO:
    """Standard input as bytes; a person at a terminal is told what to type.

    Raises:
        svir.ConfigError: It is closed.
    """
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  (after `<&-` it is)
        raise svir.ConfigError("standard input is closed")
    if sys.stdin.isatty():
        say(f"Type the {what}, and end it with Ctrl-D on a line of its own:")
    return sys.stdin.buffer
