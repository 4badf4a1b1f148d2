"""What the command itself refuses: in its own words, with the advice that fits and an exit code.

An error of the library says what a program did wrong; what somebody typed is told without its phrases.
"""

from __future__ import annotations

__all__ = ["CONFIG", "USAGE", "RefusedError"]

USAGE = 2
"""The exit code of a command line that cannot be meant, whatever there is around it."""
CONFIG = 22
"""That of what a command line names, and what is not there or not as it must be: ``config``."""


class RefusedError(Exception):
    """Something that cannot be done as it stands. Nothing has changed.

    Attributes:
        problem: What is wrong, in a line.
        advice: What to do, in a line; empty when there is nothing to advise.
        code: The exit code, where it ends the command.
    """

    def __init__(self, problem: str, advice: str = "", *, code: int = USAGE) -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice
        self.code = code
