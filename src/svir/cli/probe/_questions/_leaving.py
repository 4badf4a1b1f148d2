"""Whether it stops working when nobody listens any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._departure import GOES_ON_SECONDS
from svir.cli.probe._evidence import Heard
from svir.cli.probe._questions._finding import WHEN_IDLE, Finding, Question, broken_off, nothing, obstacle
from svir.cli.probe._report import Verdict
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from svir.cli.probe._departure import Departure
    from svir.cli.probe._evidence import Evidence

__all__ = ["QUESTIONS"]

PIECES_AFTER = 40
"""A server that is idle before it could have made so many further pieces has stopped; a longer wait proves
nothing, since an answer may also come to its own end."""


def stops(evidence: Evidence) -> Finding:
    """Whether it stops when the client leaves."""
    seen = evidence.departure
    if seen is None:
        return nothing()
    heard = Heard(seen.long)
    if (found := obstacle(evidence, heard)) is not None:
        return found
    if seen.long.late or not (seen.ended or seen.left):
        told = f"Only {plural(seen.pieces, 'piece')} of a long answer came in time (busy, or slow?)."
        return Finding(Verdict.UNCLEAR, told, heard, advice=WHEN_IDLE)
    if seen.ended:
        how = "The answer ended" if heard.complete else broken_off(heard)
        return Finding(Verdict.UNCLEAR, f"{how} before it could be left.", heard)
    return (_by_counter if seen.counter else _by_time)(seen, heard)


def _by_counter(seen: Departure, heard: Heard) -> Finding:
    shown = f"{seen.counter}: {seen.before or 'none'} at work before, {seen.during} meanwhile"
    one = {0: "this one gone", 1: "this one there"} if seen.named else {}
    shown += "".join(f", {one.get(count, count)} after {seconds:.1f} s" for seconds, count in seen.after)
    if seen.others:
        return _others(heard, shown)
    if not seen.after:
        return Finding(Verdict.UNCLEAR, "Its count of requests could not be read again.", heard, shown)
    seconds, count = seen.after[-1]
    if count > 0:
        return _goes_on(heard, shown, seconds) if seconds >= GOES_ON_SECONDS else _no_telling(heard, shown)
    return _stopped(seen, heard, shown, seconds)


def _by_time(seen: Departure, heard: Heard) -> Finding:
    if seen.alone is None or seen.held_up is None:
        return Finding(Verdict.UNCLEAR, "A short request beside it was not answered.", heard)
    shown = f"one token alone: {seen.alone:.2f} s"
    if not seen.held_up:
        told = "Answers several requests at once and shows no count of them: no telling."
        return Finding(Verdict.UNCLEAR, told, heard, shown)
    behind = f"none within {seen.waited:.1f} s" if seen.answered is None else f"{seen.answered:.2f} s"
    shown += f"; behind the answer that was left: {behind}"
    if seen.others or not seen.calm:
        return _others(heard, shown)
    if seen.answered is None:
        return _goes_on(heard, shown, seen.waited) if seen.late else _no_telling(heard, shown)
    idle_after = max(0.0, seen.answered - seen.alone)
    return _goes_on(heard, shown, idle_after) if seen.late else _stopped(seen, heard, shown, idle_after)


def _others(heard: Heard, shown: str) -> Finding:
    told = "Something else was at work as well, it seems: no telling."
    return Finding(Verdict.UNCLEAR, told, heard, shown, advice=WHEN_IDLE)


def _stopped(seen: Departure, heard: Heard, shown: str, seconds: float) -> Finding:
    """It was idle so soon that it must have stopped; unless it is so fast that it may have been done."""
    rate = (seen.pieces - 1) / seen.span if seen.pieces > 1 and seen.span > 0 else 0.0
    if rate * seconds > PIECES_AFTER:
        return _no_telling(heard, shown)
    told = f"Stops within {max(seconds, 0.1):.1f} s, after {plural(seen.pieces, 'piece')} of a long answer."
    return Finding(Verdict.OK, told, heard, shown)


def _goes_on(heard: Heard, shown: str, seconds: float) -> Finding:
    told = f"Goes on for {seconds:.1f} s or more: nobody hears it, and somebody may pay."
    return Finding(
        Verdict.DIFFERENT, told, heard, shown, advice="Ask for few tokens: leaving does not end the work."
    )


def _no_telling(heard: Heard, shown: str) -> Finding:
    return Finding(
        Verdict.UNCLEAR, "It was idle again soon, and may have come to the end by itself.", heard, shown
    )


QUESTIONS = (Question("leaving.stops", "Does it stop when the client leaves?", ("leaving",), stops),)
