"""Leaves an answer while it comes, and watches whether the server stops making it.

1. A server that says how many requests it works on is asked: before, meanwhile and afterwards. One that also
   has a name for each (llama.cpp's slots) tells it for this one alone, whatever else it does.
2. Else time tells, if the server answers one request after the other. A request of one token is sent while
   the long answer comes. When it has to wait, the long answer is left; how soon the waiting one is answered
   then shows whether the server had stopped.
3. What others ask of the server meanwhile must not be taken for this answer: without names, that it goes on
   is seen twice, or by a count that comes to nothing and stays there.
4. Nothing is concluded here (`_questions/_leaving.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from svir.cli.probe import _requests
from svir.cli.probe._ask import Asked
from svir.cli.probe._departure import COUNTERS, Departure, Work, work_of
from svir.cli.probe._reading import Reading

if TYPE_CHECKING:
    from svir.cli.probe._ask import Answer, Asker, Pending
    from svir.cli.probe._evidence import Evidence

__all__ = ["LONG_ANSWERS", "REQUESTS", "SHORT_ANSWERS", "leave"]

FIRST_PIECES = 4
COUNTER_SECONDS = 2.0
LOOKS = 8
"""How often the counter is asked afterwards, at growing distances: 3.6 seconds in all."""
LOOK_EVERY = 0.1
IDLE_LOOKS = 6
"""How often it is asked after that, until it is at nothing: 12 seconds in all."""
IDLE_EVERY = 2.0
QUIET_LOOKS = 3
"""How often it must be at nothing then."""
QUIET_EVERY = 0.5
PATIENCE = 12.0
"""Seconds that a waiting request is waited for, once the answer before it was left."""
LONG_ANSWERS = 2
SHORT_ANSWERS = 3 * LONG_ANSWERS + 1
REQUESTS = len(COUNTERS) + max(LONG_ANSWERS + SHORT_ANSWERS + 1, 2 + 1 + LOOKS + IDLE_LOOKS + QUIET_LOOKS)
"""Most requests that are sent."""


def leave(asker: Asker, evidence: Evidence, seconds: float) -> Departure | None:
    """Does it; None when there is no telling how this server is asked.

    Args:
        asker: Asks the server.
        evidence: What is known of it.
        seconds: How long each answer may take.
    """
    if evidence.baseline is None:
        return None
    counter, before = _find_counter(asker)
    first = _try(asker, evidence, seconds, counter, before)
    if not first.late or not first.calm:
        return first
    if first.answered is None:
        asker.ask(_requests.short(evidence), seconds)  # until it is done with the first
    second = _try(asker, evidence, seconds, "", Work(0))
    return second if second.late else msgspec.structs.replace(first, others=True)


def _try(asker: Asker, evidence: Evidence, seconds: float, counter: str, before: Work) -> Departure:
    """Leaves one answer."""
    long, short = _requests.long(evidence), _requests.short(evidence)
    alone = _first_token(asker.ask(short, seconds))
    coming = asker.begin(long, seconds)
    asker.until(lambda: coming.done or _pieces(coming) >= FIRST_PIECES, seconds)
    if coming.done or _pieces(coming) < FIRST_PIECES:
        answer = coming.leave()
        return _described(answer, ended=answer.stopped != "left")
    during = (_look(asker, counter) if counter else None) or Work(0)
    if before.busy or during.busy:
        return _watched(asker, coming, counter, before, during)
    waiting = asker.begin(short, seconds)
    # Long enough to be sure that it is held up, and not only slow.
    asker.until(lambda: coming.done or _answered(waiting), min(max(1.0, 4 * (alone or 0.0)), PATIENCE))
    held_up, answer = not _answered(waiting), coming.leave()
    ended = answer.stopped != "left"
    left_at = asker.clock()
    if held_up and not ended:
        asker.until(lambda: waiting.done or _answered(waiting), PATIENCE)
    waited = asker.clock() - left_at
    answered = waited if _answered(waiting) else None
    waiting.leave()
    known = held_up and not ended and answered is not None
    again = _first_token(asker.ask(short, seconds)) if known else None
    seen = _described(answer, ended=ended, alone=alone, held_up=held_up, answered=answered, waited=waited)
    quick = min(_quick(evidence), *(one for one in (alone, again) if one is not None), PATIENCE)
    return msgspec.structs.replace(seen, again=again, quick=quick)


def _watched(asker: Asker, coming: Pending, counter: str, before: Work, during: Work) -> Departure:
    """Leaves an answer, and asks the counter what becomes of it."""
    mine = during.added(before)
    clear = mine is not None or (before.busy == 0 and during.busy == 1)
    answer = coming.leave()
    ended = answer.stopped != "left"
    after = _watch(asker, counter, mine) if clear and not ended else ()
    others = not clear
    if after and after[-1][1] and mine is None:
        others = not _falls_quiet(asker, counter)
    seen = _described(answer, ended=ended, counter=counter, during=during.busy, after=after)
    return msgspec.structs.replace(seen, before=before.busy, named=mine is not None, others=others)


def _quick(evidence: Evidence) -> float:
    """The shortest time until the first token, of what was asked for one."""
    heard = [one.answer for one in evidence.heard.values() if one.answer.asked.tokens == 1 and one.streamed]
    times = [time for answer in heard if (time := _first_token(answer)) is not None]
    return min(times, default=PATIENCE)


def _look(asker: Asker, counter: str) -> Work | None:
    return work_of(asker.ask(Asked(method="GET", path=counter), COUNTER_SECONDS))


def _find_counter(asker: Asker) -> tuple[str, Work]:
    """Where the server says how many requests it works on, and what those are."""
    for path in COUNTERS:
        if (work := _look(asker, path)) is not None:
            return path, work
    return "", Work(0)


def _watch(asker: Asker, counter: str, mine: int | None) -> tuple[tuple[float, int], ...]:
    """Asks the counter until it is at nothing again, or without this request, or for a few seconds."""
    left_at, seen = asker.clock(), list[tuple[float, int]]()
    for look in range(LOOKS):
        if asker.left <= 0:
            break
        asker.backend.sleep(min(LOOK_EVERY * (look + 1), asker.left))
        work = _look(asker, counter)
        if work is not None:
            count = work.busy if mine is None or work.tasks is None else int(mine in work.tasks)
            seen.append((asker.clock() - left_at, count))
            if count == 0:
                break
    return tuple(seen)


def _falls_quiet(asker: Asker, counter: str) -> bool:
    """Whether the counter comes to nothing after a while, and stays there: so that nobody else asks."""
    idle = 0
    for _ in range(IDLE_LOOKS + QUIET_LOOKS):
        if asker.left <= 0 or idle > QUIET_LOOKS:
            break  # the first of them began it
        asker.backend.sleep(min(QUIET_EVERY if idle else IDLE_EVERY, asker.left))
        work = _look(asker, counter)
        if work is None or (idle and work.busy):
            return False
        idle += not work.busy
    return idle > QUIET_LOOKS


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
