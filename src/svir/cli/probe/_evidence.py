"""Everything that was heard so far, and what follows from it for the requests that come next."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from svir.cli.probe._reading import Reading, as_json, as_list, as_object
from svir.cli.probe._svir import Outcome, outcome, outcome_of_listing

if TYPE_CHECKING:
    from svir import Mode
    from svir.cli.probe._ask import Answer
    from svir.cli.probe._departure import Departure
    from svir.errors import Error

__all__ = ["Dialect", "Evidence", "Heard", "effort_step"]

USUAL_PATH, OTHER_PATH = "/v1/chat/completions", "/chat/completions"
MODELS_PATH = "/v1/models"
WEATHER = "get_weather"
"""The tool that is offered."""
PROPERTIES = {"qx_river": {"type": "string"}, "qx_length_km": {"type": "integer"}}
"""What an answer to a schema has: names that no model comes upon by itself."""
STOP = "e"
"""Where an answer is to stop: a letter that English cannot do without for long."""
WORD = "PINEAPPLE"
"""What the system prompt asks for."""
BOGUS = "svir-no-such-effort"
MAX_TOKENS, COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
OTHER_PATH_OPTION = f"path={OTHER_PATH!r}"
COMPLETION_TOKENS_OPTION = f"max_tokens_field={COMPLETION_TOKENS!r}"
NO_USAGE_OPTION = "include_usage=False"
REJECTIONS = frozenset({400, 422})
NOT_THERE = frozenset({404, 405})


IN_STREAM = frozenset({"server", "context_overflow"})
"""The kinds of error that a server reports inside a stream."""
CONTEXT_KEYS = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "context_window")
"""What listings call the length of a model's context, in tokens."""
LONGEST_CONTEXT = 64 * 1024
"""Tokens; a longer context is not overflowed."""
UNKNOWN_CONTEXT = 8 * 1024
"""Tokens of the prompt that is sent when nobody says how long the context is."""


def effort_step(word: str) -> str:
    """The name of the step that tries a word for the effort."""
    return f"effort_{word}"


class Heard:
    """One answer, read in every way.

    Args:
        answer: The answer.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.confirmed: bool | None = None
        """Whether the simplest request was still answered after this one had failed; None when not tried."""
        self.reading = Reading(answer.body)

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
        inside = self.success and error.kind in IN_STREAM and not self.reading.visible
        return error if inside or (error.status is not None and error.status >= 400) else None

    @property
    def failed(self) -> bool:
        """Whether it may be the server that failed, and not the request."""
        status = self.answer.status
        inside = self.refusal is not None and self.success
        return status is None or self.answer.late or inside or (status >= 500 and status != 501)

    @property
    def reported(self) -> Error | None:
        """The error that the server reported in the midst of an answer."""
        error = self.lenient.error
        return error if self.streamed and error is not None and error.kind in IN_STREAM else None

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
        """Whether the server sent all of it, as far as it goes; svir may want more, as ``[DONE]``."""
        if self.lenient.completion is not None:
            return True
        cut = self.answer.error is not None or self.answer.stopped or self.reported is not None
        return self.streamed and not cut and self.reading.finish is not None


def _came_of(answer: Answer) -> tuple[bool, int]:
    """How much came of an answer."""
    return answer.status is not None, len(answer.body)


class Dialect(NamedTuple):
    """How this server is asked, as far as it is known."""

    path: str = USUAL_PATH
    max_tokens_field: str = MAX_TOKENS
    usage: bool = True

    @property
    def options(self) -> tuple[str, ...]:
        """What a client is told, so that it asks in this way."""
        wanted = (
            (OTHER_PATH_OPTION, self.path != USUAL_PATH),
            (COMPLETION_TOKENS_OPTION, self.max_tokens_field != MAX_TOKENS),
            (NO_USAGE_OPTION, not self.usage),
        )
        return tuple(option for option, is_wanted in wanted if is_wanted)


class Evidence:
    """The answers by the names of the steps that brought them."""

    def __init__(self, model: str = "") -> None:
        self.model = model
        self.heard: dict[str, Heard] = {}
        self.departure: Departure | None = None
        self.unreached: tuple[str, ...] = ()
        """The steps that were not taken any more."""
        self.ended = ""
        """Why not."""

    def add(self, name: str, answer: Answer) -> None:
        """Takes in the answer to a step; of one that was asked again in vain, what more came of stays."""
        before = self.heard.get(name)
        if before is None or not answer.lost or _came_of(answer) >= _came_of(before.answer):
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
        """The answer to a plain question, asked for at some length; or the one that came in its place."""
        tried = [self.heard[name] for name in ("lean", "plain") if name in self.heard]
        return next((heard for heard in tried if heard.streamed), tried[-1] if tried else None)

    @property
    def streams(self) -> list[Heard]:
        """Every answer that is a stream and was read to its end, or to where it broke."""
        return [heard for heard in self.heard.values() if heard.streamed and not heard.answer.stopped]

    @property
    def whole(self) -> list[Heard]:
        """Those of them that the server neither broke off nor reported as failed."""
        return [heard for heard in self.streams if heard.answer.error is None and heard.reported is None]

    @property
    def unreadable(self) -> bool:
        """Whether svir takes none of the answers that came to their end for whole, whatever the mode."""
        return bool(self.whole) and all(heard.lenient.error is not None for heard in self.whole)

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

    @property
    def context(self) -> int | None:
        """Tokens of the model's context, where the listing says how many."""
        listing = self.heard.get("models")
        if listing is None:
            return None
        entries = [as_object(entry) for entry in as_list(as_object(as_json(listing.answer.body)).get("data"))]
        for entry in entries:
            if entry.get("id") == self.model:
                told = {**as_object(entry.get("meta")), **entry}
                counts = (told.get(key) for key in CONTEXT_KEYS)
                return next((count for count in counts if type(count) is int and count > 0), None)
        return None

    @property
    def overflow_letters(self) -> int | None:
        """How many letters, each a token at least, are more than the context; None when it is too long."""
        context = self.context
        if context is None:
            return UNKNOWN_CONTEXT
        return context + context // 4 if context <= LONGEST_CONTEXT else None
