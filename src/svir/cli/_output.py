"""What goes to the terminal, and what goes into a pipe.

1. Standard output gets the answer and nothing else, unchanged and as it arrives: a pipe gets just that.
2. Reasoning, counts and errors go to standard error.
3. A model's text is not ours: on a terminal its control characters are left out, since they could move the
   cursor, change the title, or write into the clipboard; so is what changes the direction of text, and shows
   it in another order than it has. Line breaks and tabs stay. A pipe gets them all.
4. What cannot be written to standard output ends the command. Standard error may be lost: where nothing can
   be said, the exit code has to do (`mention`).
"""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import sys
from typing import IO, TYPE_CHECKING, Any, Protocol, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Generator

    from rich.console import Console

__all__ = [
    "Output",
    "OutputError",
    "Shows",
    "escaped",
    "harmless",
    "mention",
    "one_line",
    "said_console",
    "say",
    "write",
    "write_bytes",
    "writing",
]

# C0 but for line break and tab, DEL, and C1: all of the ways in which text drives a terminal (ECMA-48).
CONTROLS = (*(set(range(0x20)) - {0x09, 0x0A}), *range(0x7F, 0xA0))
# The marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, 2).
DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
LEFT_OUT = dict.fromkeys((*CONTROLS, *DIRECTIONS))


def harmless(text: str) -> str:
    """The text without what could drive a terminal, or show the text in another order.

    Example:
        >>> harmless(f"red: {chr(27)}[31m, bell: {chr(7)}, C1: {chr(0x9B)}31m")
        'red: [31m, bell: , C1: 31m'
    """
    return text.translate(LEFT_OUT)


def one_line(text: str) -> str:
    """The text as one line without control characters, its white space as single blanks."""
    return harmless(" ".join(text.split()))


def escaped(text: str, *, keep: str = "") -> str:
    r"""The text with Python's escape in the place of each character that cannot be seen.

    Those are all that ``str.isprintable`` does not count in: control characters, what changes the direction
    of text, blanks but the usual one, what has no width, and what no script has.

    Args:
        text: The text.
        keep: Characters that stay, though they cannot be seen.

    Example:
        >>> print(escaped(f"bell {chr(7)}, right to left {chr(0x202E)}"))
        bell \x07, right to left \u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


class OutputError(Exception):
    """What a command prints cannot be written: a full disk, for one. ``str`` is the system's reason."""


@contextlib.contextmanager
def writing() -> Generator[None]:
    """Around whatever writes to standard output.

    Raises:
        BrokenPipeError: Nobody reads it any more.
        OutputError: It cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror) from error


def say(*lines: str) -> None:
    """Prints each line that is not empty to standard error, if that can be written."""
    for line in lines:
        if line:
            mention(f"{one_line(line)}\n")


def mention(text: str, stream: TextIO | None = None) -> None:
    """Writes to standard error at once, if that can be written: all that a command writes there goes here."""
    with contextlib.suppress(OutputError, BrokenPipeError):
        write(sys.stderr if stream is None else stream, text)


class _StandardError:
    """What rich writes to in the place of standard error: it would raise, or exit in its own way."""

    def __init__(self) -> None:
        self._stream = sys.stderr  # as it is now: rich puts itself in its place while something moves

    def write(self, text: str) -> int:
        mention(text, self._stream)
        return len(text)

    def flush(self) -> None:
        """Nothing: it is flushed with each writing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)  # what it is: a terminal, say, and of which encoding


def said_console() -> Console:
    """A console of rich on standard error, for what moves."""
    from rich.console import Console

    file = cast("IO[str]", _StandardError())
    return Console(file=file, stderr=True, highlight=False, markup=False, emoji=False)


def write(stream: TextIO, text: str) -> None:
    """Writes at once; what the stream's encoding does not have is written as `?`."""
    encoding = stream.encoding or "utf-8"
    with writing():
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()


def write_bytes(data: bytes) -> None:
    """Writes to standard output at once, whatever its encoding."""
    with writing():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


class Shows(Protocol):
    """What shows an answer as it comes."""

    def text(self, piece: str) -> None:
        """A piece of the answer."""
        ...

    def thought(self, piece: str) -> None:
        """A piece of the reasoning."""
        ...

    def end_text(self) -> None:
        """Nothing more comes."""
        ...


class Output:
    """Standard output and standard error of one command.

    Attributes:
        terminal: Whether standard output is a terminal.
        console: rich's console on standard error, for what moves.
    """

    def __init__(self) -> None:
        from rich.style import Style

        self.terminal = sys.stdout.isatty()
        self.console: Console = said_console()
        # Escape codes only where rich finds a terminal that has them.
        self._dim = Style(dim=True) if self.console.color_system else Style.null()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # Whether the cursor of a terminal that shows both is in the middle of a line, and whose it is.
        self._open_text = self._open_thought = False

    def text(self, piece: str) -> None:
        """A piece of the answer."""
        if not piece:
            return
        if self._open_thought:
            self._end_thought()
        if self.terminal:
            write(sys.stdout, harmless(piece))
        else:
            write_bytes(piece.encode("utf-8", "replace"))
        self._open_text = not piece.endswith("\n")

    def raw(self, data: bytes) -> None:
        """Bytes of the server's answer as they are; on a terminal as harmless text."""
        if self.terminal:
            self.text(self._decoder.decode(data))
        else:
            write_bytes(data)

    def thought(self, piece: str) -> None:
        """A piece of the reasoning, dimmed."""
        if not piece:
            return
        if self._open_text:
            self.end_text()
        shown = harmless(piece) if sys.stderr.isatty() else piece
        mention(self._dim.render(shown))
        self._open_thought = not piece.endswith("\n")

    def _end_thought(self) -> None:
        mention("\n")
        self._open_thought = False

    def end_text(self) -> None:
        """Ends the line that the answer left open on a terminal. A pipe gets nothing that was not sent."""
        if self._open_thought:
            self._end_thought()
        if self._open_text and self.terminal:
            write(sys.stdout, "\n")
        elif self._open_text and (one_file() or beside_a_terminal()):
            mention("\n")
        self._open_text = False


def one_file() -> bool:
    """Whether standard output and standard error go into the same file or pipe, as after ``2>&1``."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):
        return False


def beside_a_terminal() -> bool:
    """Whether a pipe takes the answer, and may well show it on the terminal standard error is: ``| cat``."""
    try:
        return sys.stderr.isatty() and not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False
