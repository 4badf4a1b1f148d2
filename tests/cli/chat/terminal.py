"""A terminal that is a program: what was written to it, as a person would see it."""

from __future__ import annotations

import io

import pyte
from rich.console import Console


class Terminal(io.TextIOBase):
    """A stream that is a terminal of this size, with all that has scrolled out of it.

    ``shown`` is what is on the screen after each write, the last one last.
    """

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.screen = pyte.HistoryScreen(columns, lines, history=100_000, ratio=0.5)
        self.screen.set_mode(pyte.modes.LNM)  # as the kernel does with "\n"
        self._stream = pyte.Stream(self.screen)
        self.written = ""
        self.shown: list[list[str]] = []

    def write(self, text: str) -> int:
        self.written += text
        self._stream.feed(text)
        self.shown.append([line.rstrip() for line in self.screen.display])
        return len(text)

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """All lines, from the first that scrolled out to the last that is not empty."""
        columns = range(self.screen.columns)
        above = ["".join(line[n].data for n in columns).rstrip() for line in self.screen.history.top]
        lines = [*above, *(line.rstrip() for line in self.screen.display)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def console(self, **more) -> Console:
        size = {"width": self.screen.columns, "height": self.screen.lines}
        # What stands for a terminal in a test's environment must not stand for this one.
        environment = {"TERM": "xterm-256color", "COLORTERM": ""}
        options = {"highlight": False, "markup": False, "emoji": False, **more}
        return Console(file=self, force_terminal=True, _environ=environment, **size, **options)
