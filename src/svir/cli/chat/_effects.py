"""What an input leads to: text in, one of these out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from svir.cli._exits import USAGE

if TYPE_CHECKING:
    import svir

__all__ = ["Ask", "Effect", "ListModels", "Quit", "RefusedError", "Tell"]


class Tell(msgspec.Struct, frozen=True):
    """Say these lines; none for an input that is nothing."""

    lines: tuple[str, ...] = ()


class Ask(msgspec.Struct, frozen=True):
    """Send this request, and show the answer."""

    request: svir.Request


class ListModels(msgspec.Struct, frozen=True):
    """Ask the server for its models, and list them."""


class Quit(msgspec.Struct, frozen=True):
    """End the chat."""


Effect = Tell | Ask | ListModels | Quit


class RefusedError(Exception):
    """An input that cannot be done as it stands. Nothing has changed.

    Attributes:
        problem: What is wrong, in a line.
        advice: What to do, in a line; empty when there is nothing to advise.
        code: The exit code, where it ends the chat.
    """

    def __init__(self, problem: str, advice: str = "", *, code: int = USAGE) -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice
        self.code = code
