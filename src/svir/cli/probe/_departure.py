"""What was seen when an answer was left while it came."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from svir.cli.probe._reading import as_json, as_list, as_object

if TYPE_CHECKING:
    from svir.cli.probe._ask import Answer

__all__ = ["COUNTERS", "GOES_ON_SECONDS", "Departure", "Work", "work_of"]

COUNTERS = ("/slots", "/metrics")
"""Where some servers say how many requests they are working on."""
BUSY = re.compile(
    rb"^(?:llamacpp:requests_processing|vllm:num_requests_running|sglang:num_running_reqs)(?:\{[^}]*\})?"
    rb"[ \t]+([0-9.e+]{1,20})",
    re.MULTILINE,
)


CALM_SECONDS = 0.5
"""How much longer than usual a request of one token may take when nobody else is served."""


class Work(NamedTuple):
    """What a server says that it is working on.

    Attributes:
        busy: How many requests.
        tasks: What it calls them; None when it does not say.
    """

    busy: int
    tasks: frozenset[int] | None = None

    def added(self, before: Work) -> int | None:
        """The one request that is new since then; None when it does not say, or there are several."""
        new = (self.tasks or frozenset()) - (before.tasks or frozenset())
        return min(new) if len(new) == 1 and before.tasks is not None else None


def work_of(answer: Answer) -> Work | None:
    """What a server says that it is working on; None when it does not say."""
    if answer.status != 200:
        return None
    if slots := [as_object(slot) for slot in as_list(as_json(answer.body))]:
        if not all(isinstance(slot.get("is_processing"), bool) for slot in slots):
            return None
        tasks = [slot.get("id_task") for slot in slots if slot["is_processing"]]
        named = frozenset(task for task in tasks if type(task) is int)
        return Work(len(tasks), named if len(named) == len(tasks) else None)
    found = BUSY.findall(answer.body)
    try:
        return Work(sum(round(float(count)) for count in found)) if found else None
    except (ValueError, OverflowError):
        return None


GOES_ON_SECONDS = 1.5
"""A server that works on for so long has not noticed."""


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen. Seconds are counted from the moment the answer was left, unless said otherwise.

    Attributes:
        long: The answer that was left.
        pieces: How many pieces of it had come.
        span: Over how many seconds they came.
        ended: Whether it had come to its end before it could be left.
        counter: Where the server says how many requests it works on; empty when it does not.
        before: How many before the answer.
        during: How many while it came.
        named: Whether the server has a name for each, so that ``after`` is about this one alone.
        after: When it was asked afterwards, and how many there were then.
        others: Whether something else was at work as well, so that nothing can be told.
        quick: The shortest time that any request of one token took in this probe.
        alone: How long a request of one token takes when nothing else is asked: until its first byte.
        held_up: Whether such a request had to wait while the answer came; None when none was sent.
        answered: When it was answered then; None when it was not.
        waited: How long it was waited for.
        again: How long such a request takes after that; None when it was not answered, or not sent.
    """

    long: Answer
    pieces: int = 0
    span: float = 0.0
    ended: bool = False
    counter: str = ""
    before: int = 0
    during: int = 0
    named: bool = False
    after: tuple[tuple[float, int], ...] = ()
    others: bool = False
    quick: float = 0.0
    alone: float | None = None
    held_up: bool | None = None
    answered: float | None = None
    waited: float = 0.0
    again: float | None = None

    @property
    def late(self) -> bool:
        """Whether the waiting request was answered so late that what came before it seems to have gone on."""
        if not self.held_up or self.ended or self.alone is None:
            return False
        if self.answered is None:
            return self.waited >= self.alone + GOES_ON_SECONDS
        return self.answered - self.alone >= max(GOES_ON_SECONDS, 2 * self.alone)

    @property
    def calm(self) -> bool:
        """Whether requests of one token took no longer around it than they do: nobody else was served."""
        last = self.alone if self.answered is None else self.again
        most = 2 * self.quick + CALM_SECONDS
        return self.alone is not None and last is not None and max(self.alone, last) <= most

    @property
    def left(self) -> bool:
        """Whether enough of it had come to leave it, and to watch what becomes of it."""
        return bool(self.counter) or self.held_up is not None
