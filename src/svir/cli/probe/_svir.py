"""What svir makes of an answer: a client is given it again, byte for byte, and says.

So every rule is the library's own: which status is which error, what an event stream is, and what each mode
reads. There is no second copy of any of them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from svir.cli.probe._ask import ANSWER_BYTES
from svir.cli.probe._text import plural
from svir.client import Client
from svir.errors import Error, ResponseLimitError, TransportError

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir import Mode
    from svir.cli.probe._ask import Answer
    from svir.http import Abort, Headers, HttpRequest
    from svir.types import Completion

__all__ = ["Outcome", "outcome", "outcome_of_listing"]

T = TypeVar("T")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a call that gets this answer ends: one of the first three is set.

    Attributes:
        completion: The whole answer.
        models: The names of a listing.
        error: Why there is none.
        said: It in a few words, none of them the server's.
    """

    completion: Completion | None = None
    models: tuple[str, ...] | None = None
    error: Error | None = None
    said: str


class Replayed:
    """An answer as a backend's response."""

    def __init__(self, answer: Answer) -> None:
        self.status: int = answer.status or 0
        self.headers: Headers = answer.headers
        self._left = [answer.body] if answer.body else []
        self._error = answer.error
        if answer.stopped == "size":
            self._error = ResponseLimitError(f"the probe reads {ANSWER_BYTES // 1024} KiB of an answer")
        elif answer.stopped:
            self._error = TransportError("the answer was left by the probe", retryable=False)

    def read(self, timeout: float | None) -> bytes:  # noqa: ARG002 (the seam's)
        """All of the body, then its end."""
        if self._left:
            return self._left.pop()
        if self._error is not None:
            raise self._error.with_traceback(None)
        return b""

    def close(self) -> None:
        """Nothing is open."""


class Replay:
    """A backend that answers every request with the same answer."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def send(self, request: HttpRequest, **limits: object) -> Replayed:  # noqa: ARG002 (the seam's)
        """The answer, or why there was none."""
        if self._answer.status is None:
            raise self._answer.error or TransportError("no answer came")
        return Replayed(self._answer)

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Nobody waits for an answer that is there."""

    def call(self, function: Callable[[], T]) -> T:
        """Runs it."""
        return function()

    def close(self) -> None:
        """Nothing is open."""


def outcome(answer: Answer, mode: Mode) -> Outcome:
    """How a call ends that gets this answer in this mode."""
    # No usage is asked for: with nothing to leave out, the client asks once.
    with Client.openai(
        "http://127.0.0.1", model="m", backend=Replay(answer), mode=mode, include_usage=False
    ) as client:
        try:
            completion = client.complete("")
        except Error as error:
            return Outcome(error=error, said=_failed(error))
    return Outcome(completion=completion, said=_whole(completion))


def outcome_of_listing(answer: Answer) -> Outcome:
    """How ``client.models()`` ends that gets this answer."""
    with Client.openai("http://127.0.0.1", backend=Replay(answer)) as client:
        try:
            models = tuple(model.id for model in client.models())
        except Error as error:
            return Outcome(error=error, said=_failed(error))
    return Outcome(models=models, said=f"a list of {plural(len(models), 'model')}")


def _failed(error: Error) -> str:
    name = type(error).__name__
    return f"{name}: {error.detail}" if error.detail else name


def _whole(completion: Completion) -> str:
    said = [f"a whole answer, finish {completion.finish}"]
    if completion.text:
        said.append(f"{plural(len(completion.text), 'character')} of text")
    said += [f"reasoning by {part.source}" for part in completion.reasoning]
    calls = (*completion.calls, *completion.cut_calls)
    if calls:
        said.append(plural(len(calls), "call") + (" (cut)" if completion.cut_calls else ""))
    if completion.usage is not None:
        said.append(f"{completion.usage.output} tokens")
    return ", ".join(said)
