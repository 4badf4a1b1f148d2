"""Leaves an answer while it comes, and watches whether the server stops making it.

1. A server that says how many requests it works on is asked: before, meanwhile and afterwards.
2. Else time tells, if the server answers one request after the other. A request of one token is sent while
   the long answer comes. When it has to wait, the long answer is left; how soon the waiting one is answered
   then shows whether the server had stopped.
3. Nothing is concluded here (`_questions/_leaving.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe import _requests
from svir.cli.probe._ask import Asked
from svir.cli.probe._departure import COUNTERS, Departure, busy
from svir.cli.probe._reading import Reading

if TYPE_CHECKING:
    from svir.cli.probe._ask import Answer, Asker, Pending
    from svir.cli.probe._evidence import Evidence

__all__ = ["leave"]

FIRST_PIECES = 4
COUNTER_SECONDS = 2.0
LOOKS = 8
"""How often the counter is asked afterwards, at growing distances: 3.6 seconds in all."""
LOOK_EVERY = 0.1
PATIENCE = 12.0
"""Seconds that a waiting request is waited for, once the answer before it was left."""


def leave(asker: Asker, evidence: Evidence, seconds: float) -> Departure | None:
    """Does it; None when there is no telling how this server is asked.

    Args:
        asker: Asks the server.
        evidence: What is known of it.
        seconds: How long each answer may take.
    """
    if evidence.baseline is None:
        return None
    long, short = _requests.long(evidence), _requests.short(evidence)
    counter, before = _find_counter(asker)
    alone = _first_token(asker.ask(short, seconds))
    coming = asker.begin(long, seconds)
    asker.until(lambda: coming.done or _pieces(coming) >= FIRST_PIECES, seconds)
    if coming.done or _pieces(coming) < FIRST_PIECES:
        answer = coming.leave()
        return _described(answer, ended=answer.stopped != "left")
    during = 0
    if counter and not before:  # else others are being served, whose requests it counts as well
        during = busy(asker.ask(Asked(method="GET", path=counter), COUNTER_SECONDS)) or 0
    if during:
        answer = coming.leave()
        ended = answer.stopped != "left"
        after = () if ended else _watch(asker, counter)
        return _described(answer, ended=ended, counter=counter, during=during, after=after)
    waiting = asker.begin(short, seconds)
    # Long enough to be sure that it is held up, and not only slow.
    asker.until(lambda: coming.done or _answered(waiting), max(1.0, 4 * (alone or 0.0)))
    held_up, answer = not _answered(waiting), coming.leave()
    ended = answer.stopped != "left"
    left_at = asker.clock()
    if held_up and not ended:
        asker.until(lambda: waiting.done or _answered(waiting), PATIENCE)
    waited = asker.clock() - left_at
    answered = waited if _answered(waiting) else None
    waiting.leave()
    return _described(answer, ended=ended, alone=alone, held_up=held_up, answered=answered, waited=waited)


def _find_counter(asker: Asker) -> tuple[str, int]:
    """Where the server says how many requests it works on, and how many those are."""
    for path in COUNTERS:
        count = busy(asker.ask(Asked(method="GET", path=path), COUNTER_SECONDS))
        if count is not None:
            return path, count
    return "", 0


def _watch(asker: Asker, counter: str) -> tuple[tuple[float, int], ...]:
    """Asks the counter until it is at nothing again, or for a few seconds."""
    left_at, seen = asker.clock(), list[tuple[float, int]]()
    for look in range(LOOKS):
        if asker.left <= 0:
            break
        asker.backend.sleep(min(LOOK_EVERY * (look + 1), asker.left))
        count = busy(asker.ask(Asked(method="GET", path=counter), COUNTER_SECONDS))
        if count is not None:
            seen.append((asker.clock() - left_at, count))
            if count == 0:
                break
    return tuple(seen)


def _described(
    long: Answer,
    *,
    ended: bool,
    counter: str = "",
    during: int = 0,
    after: tuple[tuple[float, int], ...] = (),
    alone: float | None = None,
    held_up: bool | None = None,
    answered: float | None = None,
    waited: float = 0.0,
) -> Departure:
    times = [long.arrived(chunk.end) for chunk in Reading(long.body).visible]
    return Departure(
        long=long,
        pieces=len(times),
        span=times[-1] - times[0] if times else 0.0,
        ended=ended,
        counter=counter,
        during=during,
        after=after,
        alone=alone,
        held_up=held_up,
        answered=answered,
        waited=waited,
    )


def _pieces(pending: Pending) -> int:
    return len(Reading(pending.body).visible)


def _answered(pending: Pending) -> bool:
    reading = Reading(pending.body)
    return bool(reading.visible or reading.finishes)


def _first_token(answer: Answer) -> float | None:
    """When an answer began to say something; None when it did not."""
    reading = Reading(answer.body)
    chunks = reading.visible or [chunk for chunk, _ in reading.finishes]
    return answer.arrived(chunks[0].end) if chunks else None
