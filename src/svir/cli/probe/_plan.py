"""What will be asked, and what it may cost: counted before the first request is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from svir.cli._refused import RefusedError
from svir.cli.probe._questions import GROUPS, QUESTIONS
from svir.cli.probe._steps import BASICS, STEPS
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from collections.abc import Collection

    from svir.cli.probe._questions import Question
    from svir.cli.probe._steps import Step

__all__ = ["CHECK_SECONDS", "Plan", "make_plan"]

EXTRAS = 8
"""Most requests that are sent because of a failure: what came too late or not at all is asked again, and
after any other failure it is looked whether the server still answers, for one token."""
CHECK_SECONDS = 30.0


class Plan(NamedTuple):
    """What will be asked.

    Attributes:
        questions: The questions that were chosen.
        steps: The requests they need, in order.
        seconds: How long all of it may take.
    """

    questions: tuple[Question, ...]
    steps: tuple[Step, ...]
    seconds: float

    @property
    def requests(self) -> int:
        """Most requests that are sent."""
        return self.extras + sum(step.requests for step in self.steps)

    @property
    def tokens(self) -> int:
        """Most tokens that are asked for, all answers together."""
        again = sorted((max(1, step.tokens) for step in self.single), reverse=True)
        return sum(again[: self.extras]) + sum(step.tokens for step in self.steps)

    @property
    def single(self) -> list[Step]:
        """The steps of one request, which can be asked again."""
        return [step for step in self.steps if step.requests == 1 and not step.once]

    @property
    def extras(self) -> int:
        """Most requests that are sent because of a failure."""
        return min(EXTRAS, len(self.single))

    def __str__(self) -> str:
        """The cost in one line.

        Example:
            >>> print(make_plan(["models"], seconds=60.0))
            at most 8 requests, 7 tokens, 60 seconds
        """
        requests, tokens = plural(self.requests, "request"), plural(self.tokens, "token")
        return f"at most {requests}, {tokens}, {plural(round(self.seconds), 'second')}"


def make_plan(only: Collection[str] = (), *, leave_out: Collection[str] = (), seconds: float) -> Plan:
    """The plan for the questions that are wanted.

    Args:
        only: The groups that are wanted; all when empty.
        leave_out: Steps that are not to be taken.
        seconds: How long all of it may take.

    Raises:
        RefusedError: There is no such group.
    """
    for group in only:
        if group not in GROUPS:
            raise RefusedError(f"--only has no group {group[:40]!r}", f"It takes {', '.join(GROUPS)}.")
    questions = tuple(question for question in QUESTIONS if not only or question.group in only)
    needed = {"models", *BASICS, *(name for question in questions for name in question.needs)}
    steps = tuple(step for step in STEPS if step.name in needed and step.name not in leave_out)
    plan = Plan(questions, steps, seconds)
    again = sorted((max(CHECK_SECONDS, step.seconds) for step in plan.single), reverse=True)
    longest = sum(step.requests * step.seconds for step in steps) + sum(again[: plan.extras])
    return plan._replace(seconds=min(seconds, longest))
