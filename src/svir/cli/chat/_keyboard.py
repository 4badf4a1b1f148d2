"""The keyboard: while an answer comes, and when the program is told to end.

1. Ctrl-C stops the answer, once: until the prompt is back, more of it does nothing, so that nothing is left
   half-way.
2. It does not come while something is drawn, but right after: what was taken in is on the screen.
3. What else is typed is not shown, since it would be drawn into the answer. The next prompt gets it.
4. A signal that ends the program, at whatever moment, puts the terminal back first: nobody else would, and a
   shell whose input is not shown is of no use.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

__all__ = ["Keyboard", "put_back"]

ENDS = (signal.SIGTERM, signal.SIGHUP)
AS_FOUND = b"\x1b[?25h\x1b[?2004l\x1b[0m\r\n"
"""Shows the cursor, takes pasted text as typed, and ends colours: what drawing and prompting change."""


class Keyboard:
    """Keeps to the rules while its block lasts. For the main thread.

    Args:
        there: Whether there is one: standard input may be a pipe, which needs no rules.
    """

    def __init__(self, *, there: bool) -> None:
        self._there = there
        self._held = self._came = False
        self._restore = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self._there:
            try:
                self._restore.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
                signal.signal(signal.SIGINT, self._come)
                self._restore.enter_context(_no_echo())
            except BaseException:
                self._restore.close()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self._held = (
            True  # a Ctrl-C of this moment is too late, and must not keep anything from being put back
        )
        self._restore.close()

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        """Lets a Ctrl-C that comes meanwhile wait for the end of this block."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._came:
            self._stop()

    def _come(self, *_: object) -> None:
        self._came = True
        if not self._held:
            self._stop()

    def _stop(self) -> None:
        self._came = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt


@contextlib.contextmanager
def _no_echo() -> Generator[None]:
    import termios

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


@contextlib.contextmanager
def put_back(*, drawn: bool) -> Generator[None]:
    """Has the terminal of standard input as it is now when a signal ends the program meanwhile.

    Args:
        drawn: Whether standard output is a terminal, too, and gets more than lines.
    """
    import termios

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def end(number: int, _: FrameType | None) -> None:
        with contextlib.suppress(OSError, termios.error):  # it may be gone
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
            if drawn:
                os.write(sys.stdout.fileno(), AS_FOUND)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    with contextlib.ExitStack() as restore:
        for number in ENDS:
            if signal.getsignal(number) is signal.SIG_DFL:  # and not ignored, as by nohup
                signal.signal(number, end)
                restore.callback(signal.signal, number, signal.SIG_DFL)
        yield
