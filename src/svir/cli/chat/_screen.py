"""An answer on a terminal: Markdown as it comes.

1. What is finished is printed, for good; only the block that is open is drawn again and again. So an answer
   may be of any length, and scrolls like any output.
2. What is drawn again is never higher than the screen, since no cursor gets out of it: of a block that is
   higher, the end is shown until it is finished, and then all of it is printed.
3. Reasoning is dimmed, and folded into one line when the answer begins.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from svir.cli._output import harmless, writing
from svir.cli.chat._markdown import Blocks, Drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.token import Token
    from rich.console import ConsoleRenderable

__all__ = ["MarkdownScreen"]

REASONING_LINES = 8
"""Most lines of reasoning shown at a time: it is going to be folded, and the screen should not jump."""
REFRESHES_A_SECOND = 12


def _console() -> Console:
    """Standard output, as large as the terminal is.

    ``LINES`` and ``COLUMNS`` are not asked: what is inherited in them (of a parent that reads with readline,
    for one) may be the size of another terminal, and lines that were drawn could no more be found again.
    """
    environment = {name: value for name, value in os.environ.items() if name not in {"LINES", "COLUMNS"}}
    return Console(highlight=False, markup=False, emoji=False, _environ=environment)


class MarkdownScreen:
    """Shows one answer; it has the methods of `Output` that show one.

    Args:
        console: Where to; by default standard output.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self, console: Console | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # One of its own for each answer: Ctrl-C may come while one draws, and leave it half-way.
        self._console = console or _console()
        self._clock = clock
        self._blocks = Blocks()
        self._printed = False
        self._thoughts = ""
        self._thinking_since: float | None = None
        self._live = _Live(self._console)

    def begin(self) -> None:
        """Shows that an answer is waited for."""
        self._live.show(dimmed("..."))
        self._live.start(refresh=True)

    def text(self, piece: str) -> None:
        """A piece of the answer."""
        if not piece:
            return
        self._fold()
        finished = self._blocks.push(harmless(piece))  # without carriage returns, which would end lines
        above = Drawn(finished, gap=self._printed) if finished else None
        self._printed = self._printed or above is not None
        self._live.show(Drawn(self._blocks.open, gap=self._printed, last=self._height), above)

    def thought(self, piece: str) -> None:
        """A piece of the reasoning."""
        if not piece:
            return
        if self._thinking_since is None:
            self._end_blocks()
            self._thinking_since = self._clock()
        self._thoughts += piece
        height = min(REASONING_LINES, self._height)
        # A character takes at least a cell, but for some marks: more than these are seldom seen.
        end = self._thoughts[-height * self._console.width :].lstrip("\n")
        self._live.show(Drawn(dimmed(end), gap=self._printed, last=height))

    def end_text(self) -> None:
        """Prints what is left, and ends. Ending again does nothing."""
        try:
            self._fold()
            self._end_blocks()
        finally:
            with writing():
                self._live.stop()

    @property
    def _height(self) -> int:
        return max(self._console.height - 1, 1)

    def _end_blocks(self) -> None:
        self._print(self._blocks.end())

    def _fold(self) -> None:
        """Reasoning that has ended becomes one line: how long it took to come, and how much it was."""
        if self._thinking_since is not None:
            seconds, characters = self._clock() - self._thinking_since, len(self._thoughts)
            self._thinking_since, self._thoughts = None, ""
            self._print(dimmed(f"thought for {seconds:.1f} s ({characters} characters: /reasoning)"))

    def _print(self, what: Sequence[Token] | Text) -> None:
        """Prints something for good; nothing is live then."""
        self._live.show(None, Drawn(what, gap=self._printed) if what else None)
        self._printed = self._printed or bool(what)


def dimmed(text: str) -> Text:
    """Text of second rank."""
    return Text(text, style="dim")


class _Live(Live):
    """A live display that changes in one go with what is printed above it, and draws only what is new.

    An idle one does not write at all: nothing flickers, and text in it can be selected. What goes wrong in
    the thread that refreshes it is raised by the next ``show``, and not printed between the lines.
    """

    _drawn: object = None
    _failure: Exception | None = None

    def __init__(self, console: Console) -> None:
        super().__init__(
            console=console,
            refresh_per_second=REFRESHES_A_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
        )

    def show(self, live: ConsoleRenderable | None, above: ConsoleRenderable | None = None) -> None:
        """Draws this live with the next refresh; at once, when there is something to print above it."""
        with self._lock, writing():
            if self._failure is not None:
                raise self._failure
            self.update(Text() if live is None else live)
            if above is not None:
                self.console.print(above, end="")

    def refresh(self) -> None:
        """Draws what is live, if it is not what was drawn."""
        with self._lock:
            if self._renderable is self._drawn or self._failure is not None:
                return
            try:
                super().refresh()
            except Exception as failure:  # noqa: BLE001 (raised by `show`)
                self._failure = failure

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Puts what is live below what is printed."""
        with self._lock:
            self._drawn = self._renderable
            self._live_render.set_renderable(self.renderable)
            return super().process_renderables(renderables)
