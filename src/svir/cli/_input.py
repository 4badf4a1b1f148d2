"""What a command reads as a whole: standard input and files, each up to a bound.

Where nothing has an end, as with `/dev/zero`, reading would go on until memory runs out. What is not kept has
no bound: a recording, and the files and images of `svir ask`, which are read while they are sent.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import IO, TYPE_CHECKING, BinaryIO

from svir.cli._output import say
from svir.cli._refused import CONFIG, RefusedError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "CONVERSATION_BYTES",
    "JSON_BYTES",
    "TEXT_BYTES",
    "read_file",
    "read_line",
    "read_text",
    "size",
    "stdin",
]

TEXT_BYTES = 64 * 1024 * 1024
"""Most of a text: of standard input, or of what a chat keeps, and sends again with every question."""
JSON_BYTES = 16 * 1024 * 1024
"""Most of a schema, or of a report of a probe: read, they take many times as much."""
CONVERSATION_BYTES = 1024 * 1024 * 1024
"""Most of a stored conversation, in which attachments are."""
PIECE_BYTES = 1024 * 1024


def size(most: int) -> str:
    """A bound in words.

    Example:
        >>> size(TEXT_BYTES), size(5)
        ('64 MiB', '5 bytes')
    """
    return f"{most >> 20} MiB" if most >> 20 else f"{most} bytes"


def stdin(what: str) -> BinaryIO:
    """Standard input as bytes; a person at a terminal is told what to type."""
    if sys.stdin.isatty():
        say(f"Type the {what}, and end it with Ctrl-D on a line of its own:")
    return sys.stdin.buffer


def read_text(what: str) -> str:
    """All of standard input.

    Raises:
        RefusedError: It cannot be read, is no UTF-8, or is too long.
    """
    advice = "It must be text in UTF-8."
    try:
        data = up_to(TEXT_BYTES, stdin(what))
        if data is not None:
            return data.decode("utf-8")
        problem = f"is larger than {size(TEXT_BYTES)}"
        advice = "svir ask -f FILE sends a file of any size."
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    raise RefusedError(f"standard input {problem}", advice, code=CONFIG)


def read_line() -> str | None:
    """The next message of standard input, or None at its end; a backslash at a line's end joins the next one.

    Raises:
        RefusedError: It cannot be read, is no UTF-8, or is too long.
    """
    text, left, advice = "", TEXT_BYTES, "It must be text in UTF-8."
    try:
        while line := sys.stdin.buffer.readline(left + 1):
            left -= len(line)
            if left < 0:
                break
            text += line.decode().removesuffix("\n").removesuffix("\r")
            if not text.endswith("\\"):
                return text
            text = f"{text[:-1]}\n"
        else:
            return text or None
        problem = f"has a message that is larger than {size(TEXT_BYTES)}"
        advice = "A line is a message."
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    raise RefusedError(f"standard input {problem}", advice, code=CONFIG)


def read_file(
    path: Path,
    most: int,
    what: str = "",
    *,
    regular: bool = False,
    beyond: str = "",
    advice: str = "",
    code: int = CONFIG,
) -> bytes:
    """All of a file.

    Args:
        path: Where it is.
        most: How many bytes it may have.
        what: What it should be, before its name.
        regular: Whether no pipe and no device will do; then none is waited for.
        beyond: What to say of one that is larger.
        advice: What to do if it cannot be read.
        code: The exit code then.

    Raises:
        RefusedError: It cannot be read, or is too large.
    """
    try:
        # Opened once: what was looked at is what is read, and no more of it than is allowed.
        with open(path, "rb", opener=_without_waiting if regular else None) as file:
            fits = stat.S_ISREG(os.fstat(file.fileno()).st_mode) or not regular
            data = up_to(most, file) if fits else b""
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {reason(error)}"
    else:
        if fits and data is not None:
            return data
        problem = f"is larger than {size(most)}{beyond}" if fits else "is no regular file"
    raise RefusedError(f"{what} {path.name!r} {problem}".lstrip(), advice, code=code)


def up_to(most: int, file: IO[bytes]) -> bytes | None:
    """All that there is, or None when it is more than so many bytes."""
    pieces, left = list[bytes](), most
    while left >= 0:
        piece = file.read(PIECE_BYTES)
        left -= len(piece)
        pieces.append(piece)
        if len(piece) < PIECE_BYTES:  # the end, which a terminal would have to be given once more
            break
    return b"".join(pieces) if left >= 0 else None


def reason(error: OSError | ValueError) -> str:
    """What the system says; a name that cannot be one is not even asked for."""
    return (isinstance(error, OSError) and error.strerror) or "it is no path"


def _without_waiting(path: str, flags: int) -> int:
    """Opening a pipe would wait for its writer; regular files take no notice of the flag."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
