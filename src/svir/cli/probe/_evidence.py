"""Everything that was heard so far, and what follows from it for the requests that come next."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from svir.cli.probe._reading import Reading
from svir.cli.probe._svir import Outcome, outcome, outcome_of_listing

if TYPE_CHECKING:
    from svir import Mode
    from svir.cli.probe._ask import Answer
    from svir.errors import Error

__all__ = ["Evidence", "Heard"]

USUAL_PATH, OTHER_PATH = "/v1/chat/completions", "/chat/completions"
MODELS_PATH = "/v1/models"
MAX_TOKENS, COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
REJECTIONS = frozenset({400, 422})
NOT_THERE = frozenset({404, 405})


class Heard:
    """One answer, read in every way.

    Args:
        answer: The answer.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.reading = Reading(answer)

    @cached_property
    def strict(self) -> Outcome:
        """What svir makes of it in strict mode."""
        return self._outcome("strict")

    @cached_property
    def lenient(self) -> Outcome:
        """The same in lenient mode."""
        return self._outcome("lenient")

    def _outcome(self, mode: Mode) -> Outcome:
        listing = self.answer.asked.path == MODELS_PATH
        return outcome_of_listing(self.answer) if listing else outcome(self.answer, mode)

    @property
    def success(self) -> bool:
        """Whether its status says that it is an answer."""
        return self.answer.status is not None and 200 <= self.answer.status < 300

    @cached_property
    def refusal(self) -> Error | None:
        """The error with which the server said no: by a status, or inside a stream that it had opened."""
        error = self.lenient.error
        if self.answer.status is None or error is None:
            return None
        inside = self.success and error.kind in {"server", "context_overflow"} and not self.reading.visible
        return error if inside or (error.status is not None and error.status >= 400) else None

    @property
    def streamed(self) -> bool:
        """Whether it is a stream with at least one chunk of an answer."""
        return (
            self.success
            and self.answer.content_type == "text/event-stream"
            and self.refusal is None
            and any(chunk.choices for chunk in self.reading.objects)
        )

    @property
    def complete(self) -> bool:
        """Whether svir takes it for a whole answer, in one of its modes."""
        return self.lenient.completion is not None


class Dialect(NamedTuple):
    """How this server is asked, as far as it is known."""

    path: str
    max_tokens_field: str
    usage: bool


class Evidence:
    """The answers by the names of the steps that brought them."""

    def __init__(self, model: str = "") -> None:
        self.model = model
        self.heard: dict[str, Heard] = {}

    def add(self, name: str, answer: Answer) -> None:
        """Takes in the answer to a step."""
        self.heard[name] = Heard(answer)

    def get(self, name: str) -> Heard | None:
        """The answer to a step; None when it was not asked."""
        return self.heard.get(name)

    def streamed(self, name: str) -> bool:
        """Whether a step was answered by a stream."""
        heard = self.heard.get(name)
        return heard is not None and heard.streamed

    @property
    def baseline(self) -> Heard | None:
        """An answer to the simplest request there is; None when no such request was answered by a stream.

        As long as there is none, a server that says no says it to everything, and not to what was added.
        """
        names = ("bare", "elsewhere", "completion", "plain", "lean")
        return next((self.heard[name] for name in names if self.streamed(name)), None)

    @property
    def talk(self) -> Heard | None:
        """The longest plain answer there is, or what came in its place."""
        tried = [self.heard[name] for name in ("lean", "plain", "elsewhere", "bare") if name in self.heard]
        return next((heard for heard in tried if heard.streamed), tried[0] if tried else None)

    @property
    def dialect(self) -> Dialect:
        """How this server is asked."""
        path = OTHER_PATH if self.streamed("elsewhere") else USUAL_PATH
        other_field = not (self.streamed("bare") or self.streamed("elsewhere")) and self.streamed(
            "completion"
        )
        field = COMPLETION_TOKENS if other_field else MAX_TOKENS
        return Dialect(path, field, usage=not self.streamed("lean"))

    def rejected(self, name: str) -> bool:
        """Whether a step was answered by a status that rejects the request as it is."""
        heard = self.heard.get(name)
        return heard is not None and heard.answer.status in REJECTIONS

    def not_there(self, name: str) -> bool:
        """Whether a step was answered as if nothing were at this path."""
        heard = self.heard.get(name)
        return heard is not None and heard.answer.status in NOT_THERE
