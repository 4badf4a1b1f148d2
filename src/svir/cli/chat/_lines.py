"""A chat's messages over a pipe: a line each."""

from __future__ import annotations

import sys

from svir.cli._refused import CONFIG, RefusedError

__all__ = ["read_line"]


def read_line() -> str | None:
    """The next message of standard input, or None at its end; a backslash at a line's end joins the next one.

    Raises:
        RefusedError: It cannot be read, or is no UTF-8.
    """
    text = ""
    try:
        while line := sys.stdin.buffer.readline():
            text += line.decode().removesuffix("\n").removesuffix("\r")
            if not text.endswith("\\"):
                return text
            text = f"{text[:-1]}\n"
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    else:
        return text or None
    raise RefusedError(f"standard input {problem}", "It must be text in UTF-8.", code=CONFIG)
