"""Standard input."""

from __future__ import annotations

import sys
from typing import BinaryIO

from svir.cli._output import say
from svir.cli._refused import CONFIG, RefusedError

__all__ = ["read_text", "stdin"]


def stdin(what: str) -> BinaryIO:
    """Standard input as bytes; a person at a terminal is told what to type."""
    if sys.stdin.isatty():
        say(f"Type the {what}, and end it with Ctrl-D on a line of its own:")
    return sys.stdin.buffer


def read_text(what: str) -> str:
    """All of standard input.

    Raises:
        RefusedError: It cannot be read, or is no UTF-8.
    """
    try:
        return stdin(what).read().decode("utf-8")
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    raise RefusedError(f"standard input {problem}", "It must be text in UTF-8.", code=CONFIG)
