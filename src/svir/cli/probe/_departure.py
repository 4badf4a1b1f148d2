"""What was seen when an answer was left while it came."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from svir.cli.probe._reading import as_json, as_list, as_object

if TYPE_CHECKING:
    from svir.cli.probe._ask import Answer

__all__ = ["COUNTERS", "Departure", "busy"]

COUNTERS = ("/slots", "/metrics")
"""Where some servers say how many requests they are working on."""
BUSY = re.compile(
    rb"^(?:llamacpp:requests_processing|vllm:num_requests_running|sglang:num_running_reqs)(?:\{[^}]*\})?"
    rb"[ \t]+([0-9.e+]{1,20})",
    re.MULTILINE,
)


def busy(answer: Answer) -> int | None:
    """How many requests a server says that it is working on; None when it does not say."""
    if answer.status != 200:
        return None
    slots = as_list(as_json(answer.body))
    if slots:
        states = [as_object(slot).get("is_processing") for slot in slots]
        return states.count(True) if all(isinstance(state, bool) for state in states) else None
    found = BUSY.findall(answer.body)
    try:
        return sum(round(float(count)) for count in found) if found else None
    except (ValueError, OverflowError):
        return None


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen. Seconds are counted from the moment the answer was left, unless said otherwise.

    Attributes:
        long: The answer that was left.
        pieces: How many pieces of it had come.
        span: Over how many seconds they came.
        ended: Whether it had come to its end before it could be left.
        counter: Where the server says how many requests it works on; empty when it does not, or when it was
            at work for others before.
        during: How many while the answer came.
        after: When it was asked afterwards, and how many there were then.
        alone: How long a request of one token takes when nothing else is asked: until its first byte.
        held_up: Whether such a request had to wait while the answer came; None when none was sent.
        answered: When it was answered then; None when it was not.
        waited: How long it was waited for.
    """

    long: Answer
    pieces: int = 0
    span: float = 0.0
    ended: bool = False
    counter: str = ""
    during: int = 0
    after: tuple[tuple[float, int], ...] = ()
    alone: float | None = None
    held_up: bool | None = None
    answered: float | None = None
    waited: float = 0.0

    @property
    def left(self) -> bool:
        """Whether enough of it had come to leave it, and to watch what becomes of it."""
        return bool(self.counter) or self.held_up is not None
