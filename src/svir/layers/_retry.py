"""Trying again, before the response has started and never after (D16).

1. A retry covers a call that failed before there was a stream: no connection, no answer in time, or a status
   that may pass. A failure inside a stream is never retried, or the caller would see the same text twice.
2. The pause is what the server asked for, or else a start that doubles with each try; at most 30 seconds.
3. A pause that would end after the call's deadline is not begun, and one the server wants to be longer than
   30 seconds neither: the error is raised at once, so that whoever waits can do something better.
"""

from __future__ import annotations

from inspect import iscoroutinefunction
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import msgspec

from svir.errors import ConfigError, Error
from svir.exchange import check_seconds
from svir.exchange._steps import Sleep
from svir.types._value import check, check_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.exchange import Deadlines, Open, Reply, Server, Steps
    from svir.types import Request

__all__ = ["Retry", "RetryDetails"]

LONGEST_SECONDS = 30.0
"""D16: no pause is longer; a server that asks for more is not waited for."""


class RetryDetails(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook is told before each pause.

    Attributes:
        attempt: Which try failed: 1 for the first.
        retries: How many more tries there may be at most, the coming one included.
        wait: Seconds until the next try.
        elapsed: Seconds since the call reached the layer.
        error: Why the try failed; safe to log (see ``docs/errors.md``).
        model: The model that is asked.
        host: The server's host.
        port: Its port.
    """

    attempt: int
    retries: int
    wait: float
    elapsed: float
    error: Error
    model: str
    host: str
    port: int


def _made_otherwise() -> Any:
    """Stands for what has no default, since msgspec's own words lead nowhere."""
    raise TypeError("make it with Retry.connect(3), for what was not sent, or Retry.transient(3)")


class _RetryHead(msgspec.Struct, frozen=True):
    retries: int = msgspec.field(default_factory=_made_otherwise)


class Retry(_RetryHead, frozen=True, kw_only=True):
    """Tries a call again that failed before its response started (D16).

    Make one with ``Retry.connect`` or ``Retry.transient``, then perhaps ``.backoff(...)``.

    Attributes:
        retries: Tries beyond the first.
        unsent_only: Whether only what was never sent is tried again.
        start: Seconds of the first pause; it doubles with each try.
        jitter: Whether a random part of the pause is waited instead.
        random: Gives numbers from 0 up to 1; ``random.random`` when None.
        on_retry: Called with ``RetryDetails`` before each pause.

    Example:
        >>> import svir
        >>> from svir.layers import Retry
        >>> retry = Retry.transient(3, on_retry=print).backoff(1.0, jitter=True)
        >>> client = svir.Client.openai("http://127.0.0.1:1234", layers=[retry])
    """

    unsent_only: bool = msgspec.field(default_factory=_made_otherwise)
    start: float = 0.5
    jitter: bool = False
    random: Callable[[], float] | None = None
    on_retry: Callable[[RetryDetails], object] | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            retries: int,
            unsent_only: bool,
            start: float = 0.5,
            jitter: bool = False,
            random: Callable[[], float] | None = None,
            on_retry: Callable[[RetryDetails], object] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check(self.retries, int, "the number of retries")
        check_count(self.retries, "the number of retries")
        check_seconds(self.start, "backoff")
        check(self.jitter, bool, "jitter")
        for name in ("random", "on_retry"):
            function = getattr(self, name)
            if function is not None and (not callable(function) or iscoroutinefunction(function)):
                raise ConfigError(f"{name} must be a plain function")

    @classmethod
    def connect(cls, retries: int, *, on_retry: Callable[[RetryDetails], object] | None = None) -> Self:
        """Tries again when nothing of the request was sent (``error.unsent``): it cannot have had an effect.

        Args:
            retries: Tries beyond the first: n retries are at most n + 1 tries.
            on_retry: Called with one ``RetryDetails`` before each pause; must not block. What it raises ends
                the call.

        Raises:
            svir.ConfigError: The number is negative, or the hook is no plain function.
        """
        return cls(retries=retries, unsent_only=True, on_retry=on_retry)

    @classmethod
    def transient(cls, retries: int, *, on_retry: Callable[[RetryDetails], object] | None = None) -> Self:
        """Tries again when that may help (``error.retryable``), though the server may have done the work.

        A 429 that says a quota is used up is not retried. Arguments and errors are those of ``connect``.
        """
        return cls(retries=retries, unsent_only=False, on_retry=on_retry)

    def backoff(
        self, seconds: float, *, jitter: bool = False, random: Callable[[], float] | None = None
    ) -> Self:
        """A copy with another pause.

        Args:
            seconds: The first pause, where the server asks for none (without this method 0.5); it doubles
                with each try, up to 30 seconds.
            jitter: Wait a random part of that instead, so that many clients do not come back together. Never
                applied to what a server asked for.
            random: Gives numbers from 0 up to 1; ``random.random`` when left out.

        Raises:
            svir.ConfigError: The pause is no length of time above 0.
        """
        return msgspec.structs.replace(self, start=seconds, jitter=jitter, random=random)

    def steps(
        self,
        request: Request,
        next: Open,  # noqa: A002 (as in ``def layer(request, next)``)
        deadlines: Deadlines,
        server: Server,
    ) -> Steps[Reply[Any]]:
        """Opens the call, perhaps several times; called by a client."""
        began = server.clock()
        for attempt in count(1):
            wait: float | None
            try:
                return (yield from next(request, deadlines))
            except Error as error:
                now = server.clock()
                wait = self._wait(attempt, error, deadlines.left(now, started=False))
                if wait is None:
                    raise
                if self.on_retry is not None:
                    details = RetryDetails(
                        attempt=attempt,
                        retries=self.retries - attempt + 1,
                        wait=wait,
                        elapsed=now - began,
                        error=error,
                        model=request.model or server.model,
                        host=server.host,
                        port=server.port,
                    )
                    self.on_retry(details)
                    del details  # it holds the error, whose traceback holds this frame
            # Outside the handler, so that no later error hangs on this one.
            try:
                yield Sleep(wait)
            except Error as error:  # closed meanwhile
                deadlines.tries.note(error)
                raise
        raise AssertionError("counting does not end")

    def _wait(self, attempt: int, error: Error, left: float | None) -> float | None:
        """Seconds until the next try; None when there is to be none."""
        if attempt > self.retries or not error.retryable or (self.unsent_only and not error.unsent):
            return None
        asked = error.retry_after if error.retry_after_sent is None else error.retry_after_sent
        wait = self._pause(attempt) if asked is None else asked
        in_time = wait <= LONGEST_SECONDS and (left is None or wait < left)
        return wait if in_time else None

    def _pause(self, attempt: int) -> float:
        # The exponent is bounded: 2.0 ** 1024 is an OverflowError.
        pause = min(self.start * 2.0 ** min(attempt - 1, 60), LONGEST_SECONDS)
        if not self.jitter:
            return pause
        if self.random is not None:
            return pause * self.random()
        from random import random

        return pause * random()  # noqa: S311 (it spreads load, and guards nothing)
