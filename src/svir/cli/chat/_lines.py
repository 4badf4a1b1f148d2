"""A chat's messages over a pipe: a line each."""

from __future__ import annotations

import sys

import svir

__all__ = ["read_line"]


def read_line() -> str | None:
    """The next message of standard input, or None at its end; a backslash at a line's end joins the next one.

    Raises:
        svir.ConfigError: It is no UTF-8.
    """
    text = ""
    while line := sys.stdin.buffer.readline():
        try:
            text += line.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            break
        if not text.endswith("\\"):
            return text
        text = f"{text[:-1]}\n"
    else:
        return text or None
    raise svir.ConfigError("standard input is not UTF-8 text")
