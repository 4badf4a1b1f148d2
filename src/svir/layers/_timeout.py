"""Giving up in time: three limits, each a layer.

1. A limit counts from the moment the call reaches the layer, so the layer's place decides what it covers:
   outside of ``Retry`` all tries and the pauses between them, inside of it each try on its own.
2. It covers everything from there on: connecting, sending, waiting for the headers, and reading.
3. Limits only ever get tighter: a wide one inside a narrow one changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from svir.exchange import check_seconds

if TYPE_CHECKING:
    from svir.exchange import Deadlines, Open, Reply, Server, Steps
    from svir.types import Request

__all__ = ["Timeout"]


def _made_otherwise() -> Any:
    """Stands for what has no default, since msgspec's own words lead nowhere."""
    raise TypeError("make it with Timeout.total(60), Timeout.idle(60) or Timeout.first_token(60)")


class Timeout(msgspec.Struct, frozen=True):
    """Ends a call that takes too long with ``RequestTimeoutError``, which names the limit (D15, D28).

    Make one with ``Timeout.first_token``, ``Timeout.idle`` or ``Timeout.total``. What a stream delivered
    before it ran out of time is in the error's ``partial``.

    Attributes:
        limit: What must come in time.
        seconds: How long it may take.

    Example:
        >>> import svir
        >>> from svir.layers import Timeout
        >>> Timeout.first_token(120)
        Timeout(limit='first_token', seconds=120)
        >>> limits = [Timeout.total(600), Timeout.idle(30)]
        >>> client = svir.Client.openai("http://127.0.0.1:1234", layers=limits)
    """

    limit: Literal["first_token", "idle", "total"] = msgspec.field(default_factory=_made_otherwise)
    seconds: float = msgspec.field(default_factory=_made_otherwise)

    if TYPE_CHECKING:

        def __init__(self, limit: Literal["first_token", "idle", "total"], seconds: float) -> None: ...

    def __post_init__(self) -> None:
        check_seconds(self.seconds, f"Timeout.{self.limit}")

    @classmethod
    def first_token(cls, seconds: float) -> Self:
        """Something of the answer must come in time: text, reasoning or a piece of a call; not a comment.

        Args:
            seconds: From the moment the call reaches this layer.

        Raises:
            svir.ConfigError: It is no length of time above 0 (at most a week).
        """
        return cls("first_token", seconds)

    @classmethod
    def idle(cls, seconds: float) -> Self:
        """The server may never be silent for longer. Any byte ends a silence, also one of a comment.

        Args:
            seconds: The longest silence, before the headers as well as between pieces of the answer.

        Raises:
            svir.ConfigError: It is no length of time above 0 (at most a week).
        """
        return cls("idle", seconds)

    @classmethod
    def total(cls, seconds: float) -> Self:
        """The answer must be whole in time.

        Args:
            seconds: From the moment the call reaches this layer.

        Raises:
            svir.ConfigError: It is no length of time above 0 (at most a week).
        """
        return cls("total", seconds)

    def steps(
        self,
        request: Request,
        next: Open,  # noqa: A002 (as in ``def layer(request, next)``)
        deadlines: Deadlines,
        server: Server,
    ) -> Steps[Reply[Any]]:
        """Opens the call within the limit; called by a client."""
        return (yield from next(request, self._tighter(deadlines, server.clock())))

    def _tighter(self, deadlines: Deadlines, now: float) -> Deadlines:
        switch = f"Timeout.{self.limit}"
        if self.limit == "first_token":
            return deadlines.with_first(now + self.seconds, self.seconds, switch)
        if self.limit == "total":
            return deadlines.with_total(now + self.seconds, self.seconds, switch)
        return deadlines.with_idle(self.seconds, switch)
