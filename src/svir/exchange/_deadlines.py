"""How long a call may take: one silence limit, and points in time.

1. The idle time is a limit on each wait; a byte, or a block the network took, starts it again.
2. The first-token and the total deadline are points on the monotonic clock. Comments and other bytes that are
   nothing of the answer do not move them.
3. Tighter wins, whoever set it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, cast

import msgspec

from svir.errors import ConfigError, RequestTimeoutError
from svir.exchange._headers import checked_headers
from svir.http._seam import Headers, withheld
from svir.types._value import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from svir.errors import Error

__all__ = ["Deadline", "Deadlines", "Tries", "check_seconds"]

LONGEST_SECONDS = 7 * 86400
"""Longer than any call. The timers of operating systems overflow after some weeks."""

SLACK = 0.001
"""Timers of event loops may fire this much early; a deadline so close has passed."""


class Deadline(msgspec.Struct, frozen=True):
    """A point in time, and what the error says when it passes.

    Attributes:
        when: On the monotonic clock.
        seconds: How long after the start that is.
        missed: What did not happen by then.
        switch: Where it was set, for the error to name; empty when that says nothing new.
    """

    when: float
    seconds: float
    missed: str
    switch: str = ""

    def error(self, *, unsent: bool = False) -> RequestTimeoutError:
        """The failure of missing it."""
        switch = f" ({self.switch})" if self.switch else ""
        return RequestTimeoutError(f"{self.missed} within {self.seconds:g} s{switch}", unsent=unsent)


class Tries(msgspec.Struct):
    """What is known of a call that may be tried several times, wherever it goes (S123).

    Attributes:
        sent: Whether a server may have seen it already.
    """

    sent: bool = False

    def note(self, error: Error) -> None:
        """Notes how a try failed: once a server may have seen the call, no error of it is ``unsent``."""
        if self.sent:
            error.unsent = False
        elif not error.unsent:
            self.sent = True


class Deadlines(msgspec.Struct, frozen=True):
    """The limits of one call, and what else layers hand down for this call alone.

    Attributes:
        idle: Longest silence in seconds, or None.
        idle_switch: What set it, when that is not the client's own option.
        first: By when something of the answer must have come.
        total: By when the answer must be whole.
        headers: Headers of this one request, beside those of the client.
        tries: What all tries of the call share.

    Example:
        >>> from svir.exchange import Deadlines
        >>> limits = Deadlines().with_total(when=1060.0, seconds=60.0)
        >>> limits.left(1015.0, started=False)
        45.0
    """

    idle: float | None = None
    idle_switch: str = ""
    first: Deadline | None = None
    total: Deadline | None = None
    headers: Headers = Headers()
    tries: Tries = msgspec.field(default_factory=Tries)

    def with_idle(self, seconds: float, switch: str = "") -> Self:
        """A copy whose silence limit is at most this."""
        if self.idle is not None and self.idle <= seconds:
            return self
        return msgspec.structs.replace(self, idle=seconds, idle_switch=switch)

    def named(self, error: RequestTimeoutError) -> RequestTimeoutError:
        """A backend's time-out, by the name of what set the limit; unsent, it was of connecting."""
        if not self.idle_switch or error.unsent:
            return error
        return RequestTimeoutError(f"the server was silent for {self.idle:g} s ({self.idle_switch})")

    def with_first(self, when: float, seconds: float, switch: str = "") -> Self:
        """A copy in which something of the answer must come by then."""
        deadline = Deadline(when, seconds, "nothing of the answer came", switch)
        return msgspec.structs.replace(self, first=_tighter(self.first, deadline))

    def with_total(self, when: float, seconds: float, switch: str = "") -> Self:
        """A copy in which the answer must be whole by then."""
        deadline = Deadline(when, seconds, "the answer was not complete", switch)
        return msgspec.structs.replace(self, total=_tighter(self.total, deadline))

    @withheld
    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """A copy with further headers; the last of a name wins, also over the client's own.

        Raises:
            svir.ConfigError: A header is not valid, or is one svir writes (D38).
        """
        added = checked_headers(headers)
        kept = [(name, value) for name, value in self.headers if added.get(name) is None]
        return msgspec.structs.replace(self, headers=Headers([*kept, *added]))

    def within(self, outer: Deadlines | None) -> Self:
        """A copy that also keeps the limits and the tries, not the headers, of a call around this one."""
        if outer is None:
            return self
        mine = self if outer.idle is None else self.with_idle(outer.idle, outer.idle_switch)
        first, total = _tighter(mine.first, outer.first), _tighter(mine.total, outer.total)
        return msgspec.structs.replace(mine, first=first, total=total, tries=outer.tries)

    def nearest(self, *, started: bool) -> Deadline | None:
        """The deadline that comes next; the first-token one only until the answer has started."""
        return self.total if started else _tighter(self.first, self.total)

    def left(self, now: float, *, started: bool) -> float | None:
        """Seconds until the nearest deadline, not counting idle time; None when there is none."""
        nearest = self.nearest(started=started)
        return None if nearest is None else nearest.when - now

    def passed(self, now: float, *, started: bool) -> Deadline | None:
        """The deadline that has passed, if one has."""
        nearest = self.nearest(started=started)
        return nearest if nearest is not None and nearest.when - now <= SLACK else None


def check_seconds(value: object, where: str) -> None:
    """Raises unless the value is a length of time that can be waited for.

    Raises:
        TypeError: It is no number.
        svir.ConfigError: It is zero, negative, not finite, or over a week.
    """
    check(value, (int, float), where)
    if not 0 < cast("float", value) <= LONGEST_SECONDS:
        raise ConfigError(
            f"{where} must be a number of seconds above 0 (at most a week), or None for no limit"
        )


def _tighter(one: Deadline | None, other: Deadline | None) -> Deadline | None:
    if one is None or other is None:
        return one or other
    return one if one.when <= other.when else other
