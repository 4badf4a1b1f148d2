"""An answer as it is shown: what shows one, the plain way to do it, and what was shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import svir
from svir.cli._output import Shows

if TYPE_CHECKING:
    from svir.cli._output import Output
    from svir.cli.chat._keyboard import Keyboard

__all__ = ["Kept", "PlainScreen", "Screen"]


class Screen(Shows, Protocol):
    """Shows one answer."""

    def begin(self) -> None:
        """An answer is waited for."""
        ...


class PlainScreen:
    """The answer as it is, ended with a line break, so that the next one begins a line."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._open = False

    def begin(self) -> None:
        """Nothing is shown before something comes."""

    def text(self, piece: str) -> None:
        self._output.text(piece)
        self._open = not piece.endswith("\n")

    def thought(self, piece: str) -> None:
        self._output.thought(piece)

    def end_text(self) -> None:
        if self._open:
            self.text("\n")
        self._output.end_text()


class Kept:
    """A screen, and what was shown on it: neither has more than the other when Ctrl-C comes."""

    def __init__(self, screen: Screen, keyboard: Keyboard) -> None:
        self._screen = screen
        self._held = keyboard.held
        self._text, self._thoughts = list[str](), list[str]()

    def text(self, piece: str) -> None:
        with self._held():
            self._text.append(piece)
            self._screen.text(piece)

    def thought(self, piece: str) -> None:
        with self._held():
            self._thoughts.append(piece)
            self._screen.thought(piece)

    def end_text(self) -> None:
        with self._held():
            self._screen.end_text()

    @property
    def shown(self) -> svir.Partial:
        return svir.Partial("".join(self._text), "".join(self._thoughts))
