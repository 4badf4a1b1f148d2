"""The reading side of a call: what to do with the bytes that come, decided without I/O.

1. A face asks ``take()`` for the next event; None means more bytes are needed, or that all is ``over``.
2. It then reads with the time ``left()`` allows, and hands the bytes to ``feed`` or the failure to ``fail``.
3. A failure is kept, and raised by ``take()`` after every event decoded before it, and again ever after.
4. Once ``Completed`` is out, ``drain()`` reads what little may follow, so that the connection can be reused.
5. Every reply ends exactly once, and those who watch are told how: also when it is closed early, interrupted
   by a cancellation, or dropped without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from svir.errors import ConfigError, Error, RequestTimeoutError, TransportError
from svir.exchange._deadlines import LONGEST_SECONDS, check_seconds
from svir.exchange._status import request_id
from svir.exchange._steps import AnyResponse, Close, Read
from svir.types import Completed
from svir.types._value import check_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from svir.codec._api import AnyDecoder
    from svir.exchange._deadlines import Deadlines
    from svir.exchange._steps import Steps
    from svir.types import Completion, Event

__all__ = ["Ending", "RawReply", "Reply"]

Ending = Literal["completed", "failed", "closed", "interrupted", "dropped"]
"""How a reply ended: whole; by an error of svir; closed by the program before its end; by a cancellation or
an exception that is not svir's; or dropped unfinished, which was noticed when it was collected."""

DRAIN_BYTES = 64 * 1024
DRAIN_SECONDS = 0.25

R = TypeVar("R", bound=AnyResponse)


class RawReply(Generic[R]):
    """A successful response whose bytes are handed on unchanged (D20)."""

    def __init__(self, response: R, deadlines: Deadlines, clock: Callable[[], float]) -> None:
        self.response = response
        self.deadlines = deadlines
        self.clock = clock
        self.over = False
        self.closed = False
        self.started = False
        self.failure: Error | None = None
        self.request_id = request_id(response.headers)

    def left(self) -> float | None:
        """Seconds the next read may wait; None for ever.

        Raises:
            svir.RequestTimeoutError: A deadline has passed, even if bytes are still coming.
            svir.TransportError: The stream was closed by this program.
        """
        if self.closed:
            raise TransportError("the stream was closed by this program", retryable=False)
        now = self.clock()
        if passed := self.deadlines.passed(now, started=self.started):
            raise passed.error()
        left = self.deadlines.left(now, started=self.started)
        idle = self.deadlines.idle
        return idle if left is None else left if idle is None else min(idle, left)

    def fail(self, error: Error) -> None:
        """Keeps the first failure, with everything a caller may want to know."""
        if self.failure is not None:
            return
        if isinstance(error, RequestTimeoutError):
            passed = self.deadlines.passed(self.clock(), started=self.started)
            error = passed.error() if passed else self.deadlines.named(error)
        if error.request_id is None:
            error.request_id = self.request_id
        self.failure = error
        self.failed(error)

    def feed(self, data: bytes) -> None:
        """Takes note of what was read; empty means the body ended."""
        self.over = not data

    def failed(self, error: Error) -> None:
        """Called once a failure is kept."""

    def end(self, how: Ending) -> None:
        """Called by a face that stops reading; only the first end counts."""

    def check(self) -> None:
        """Raises the failure, if there is one."""
        if self.failure is not None:
            raise self.failure


class Reply(RawReply[R]):
    """A successful response that is decoded."""

    def __init__(
        self, response: R, deadlines: Deadlines, clock: Callable[[], float], decoder: AnyDecoder
    ) -> None:
        self._watchers: list[Callable[[Ending, Error | None], object]] = []
        self._ending: Ending | None = None
        super().__init__(response, deadlines, clock)
        self.decoder = decoder
        self.completion: Completion | None = None
        self._pending: Iterator[Event] = iter(())
        self._waiting: Error | None = None  # a failure that was not the decoder's
        self._inspectors: list[Callable[[Event | Error], object]] = []
        self._drained = False

    def take(self) -> Event | None:
        """The next event; None when more bytes are needed, or when the answer is over."""
        try:
            for event in self._pending:
                self.started = True
                if isinstance(event, Completed):
                    self.completion = event.completion
                    self.over = True
                if self._inspectors:
                    self._show(event)
                if self.over:
                    self.end("completed")
                return event
        except Error as error:
            super().fail(error)  # the decoder's, which came after what it had held back
        if self._waiting is not None:
            super().fail(self._waiting)
        self.check()
        return None

    def feed(self, data: bytes) -> None:
        """Decodes what was read; empty means the body ended."""
        if data:
            self._pending = self.decoder.push(data)
            return
        try:
            self.decoder.finish()
        except Error as error:
            self.fail(error)

    def fail(self, error: Error) -> None:
        """Keeps a failure, to be raised after the tail of the text that the decoder held back."""
        if self._waiting is None:
            self._pending = self.decoder.flush()
            self._waiting = error

    def failed(self, error: Error) -> None:
        """Adds what was delivered before the failure, and shows it to those who watch."""
        if error.partial is None:
            error.partial = self.decoder.partial
        try:
            self._show(error)
        finally:
            self.end("failed")  # whatever a watcher makes of it

    def end(self, how: Ending) -> None:
        """The reply has ended; every watcher is told, once, though another thread closes it meanwhile."""
        if self._ending is None:
            self._ending = how
        while self._watchers:
            try:
                watch = self._watchers.pop(0)
            except IndexError:  # the other thread took the last one
                return
            watch(self._ending, self.failure)

    def __del__(self) -> None:
        # Nothing is awaited, closed or scheduled here: only those who asked are told.
        if getattr(self, "_watchers", None):  # a signal may have come while it was made
            self.end("dropped")

    def drain(self) -> Steps[None]:
        """Reads what follows ``[DONE]`` for a moment, then lets the connection go; never fails."""
        if self._drained:
            return
        self._drained = True
        until, left = self.clock() + DRAIN_SECONDS, DRAIN_BYTES
        if (total := self.deadlines.total) is not None:
            until = min(until, total.when)  # the whole answer was promised by then
        while left > 0 and (wait := until - self.clock()) > 0:
            try:
                data: bytes = yield Read(self.response, wait)
            except Error:
                break
            if not data:
                break
            left -= len(data)
        yield Close(self.response)

    # What a layer may ask of a stream (D28); tighter wins.

    def first_token_by(self, when: float) -> None:
        """Something of the answer must come by this point of the monotonic clock."""
        self.deadlines = self.deadlines.with_first(when, self._until(when))

    def complete_by(self, when: float) -> None:
        """The answer must be whole by this point of the monotonic clock."""
        self.deadlines = self.deadlines.with_total(when, self._until(when))

    def idle_timeout(self, seconds: float) -> None:
        """The server may be silent for so long at most."""
        check_seconds(seconds, "idle_timeout")
        self.deadlines = self.deadlines.with_idle(seconds)

    def inspect(self, watch: Callable[[Event | Error], object]) -> None:
        """Calls a function with every event as it is handed out, and with the error that ends the stream."""
        self._inspectors.append(watch)

    def on_end(self, watch: Callable[[Ending, Error | None], object]) -> None:
        """Calls a function once, with how the reply ended and the error that ended it, if one did.

        It may be called from any thread, and from the garbage collector: it must be quick, and must not hold
        the reply or its stream, which could then not be dropped.
        """
        self._watchers.append(watch)
        if self._ending is not None:
            self.end(self._ending)

    def _until(self, when: float) -> float:
        check_number(when, "a deadline")
        seconds = when - self.clock()
        if seconds > LONGEST_SECONDS:
            raise ConfigError("a deadline is a moment of time.monotonic(), not of time.time()")
        return round(seconds, 3)

    def _show(self, item: Event | Error) -> None:
        for watch in self._inspectors:
            watch(item)
