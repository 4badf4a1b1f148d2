"""What is answered: events as they arrive, and the completion they add up to.

These are made by a decoder, on the hot path of a server with thousands of streams: they check nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from svir.errors import AnswerError
from svir.types._message import Message, Reasoning, ReasoningSource, Role, Text, ToolCall
from svir.types._value import Elsewhere, Value

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = [
    "Completed",
    "Completion",
    "Event",
    "FinishReason",
    "ModelInfo",
    "ReasoningDelta",
    "TextDelta",
    "Timing",
    "ToolCallDelta",
    "Usage",
]

T = TypeVar("T")


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    """The server withdrew the answer (D35): the text is what had been sent, and should not be shown."""
    REFUSAL = "refusal"
    """The model refused, and the text is its refusal (D42)."""


UNREADABLE = {
    FinishReason.TOOL_CALLS: "the model calls tools instead of answering: answer its calls, and ask again",
    FinishReason.LENGTH: "the length limit cut it; allow more with max_tokens=",
    FinishReason.CONTENT_FILTER: "a content filter withdrew it",
    FinishReason.REFUSAL: "the model refused",
}
"""Why an answer that did not finish with ``stop`` is not read (D41)."""


class Usage(Value, frozen=True):
    """Tokens as the server counted them; None is what it did not say.

    Attributes:
        input: Tokens of the request.
        output: Tokens of the answer, those of its reasoning included.
        total: Both, by the server's own sum.
        reasoning: The part of ``output`` spent on reasoning.
        cached: The part of ``input`` read from the server's cache.
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        completion_tokens = Elsewhere()
        prompt_tokens = Elsewhere()
        total_tokens = Elsewhere()

    input: int
    output: int
    total: int | None = None
    reasoning: int | None = None
    cached: int | None = None


class Timing(Value, frozen=True):
    """When visible tokens came: text, and reasoning that is shown (P7).

    Attributes:
        first_token_ms: The first one, in milliseconds from the start of the response.
        last_token_ms: The last one, likewise.
    """

    first_token_ms: int
    last_token_ms: int


class _CompletionHead(Value, frozen=True):
    finish: FinishReason
    text: str = ""


class Completion(_CompletionHead, frozen=True, kw_only=True):
    """A whole answer.

    Attributes:
        finish: Why it ended.
        text: The text as the server sent it, untrimmed (D31).
        reasoning: One entry a source, in the order the sources first appeared.
        calls: The calls to answer (D5). Empty when the answer was cut by the length limit.
        cut_calls: The calls of an answer cut by the length limit, however whole they look. Never answer them.
        usage: Token counts, when the server sent them.
        timing: When visible tokens came, when there were any.
        response_id: The server's ID of the answer.
        model: The model as the server named it.
        raw_finish: The finish reason in the server's word.
        request_id: The server's ID of the HTTP request.
        dropped: Optional fields that were left out of the request for this server (D11).
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        choices = Elsewhere()
        content = Elsewhere()
        finish_reason = Elsewhere()
        message = Elsewhere()
        tool_calls = Elsewhere()

    reasoning: tuple[Reasoning, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    cut_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    timing: Timing | None = None
    response_id: str | None = None
    model: str | None = None
    raw_finish: str | None = None
    request_id: str | None = None
    dropped: tuple[str, ...] = ()

    def parse(self, type: TypeForm[T]) -> T:  # noqa: A002 (the word says it best)
        """The text, which is JSON, as a type (D41). Reasoning is never read, and no schema is checked.

        Args:
            type: What ``Schema.of`` takes: a dataclass, TypedDict, NamedTuple, attrs class, msgspec struct,
                pydantic model, or a list, dict, Literal or union. A union's members that JSON does not tell
                apart are tried in turn.

        Raises:
            svir.AnswerError: The answer did not finish with ``stop`` (the text says why), is no JSON, or does
                not fit the type; the error carries this completion.
            svir.ConfigError: Nothing can be read into the type.

        Example:
            >>> from svir import Completion, FinishReason
            >>> Completion(FinishReason.STOP, '{"km": 224}').parse(dict[str, int])
            {'km': 224}
        """
        if self.finish != FinishReason.STOP:  # == holds for the bare word too, of an answer made by hand
            raise AnswerError(UNREADABLE[self.finish], completion=self)
        from svir.types._convert import from_json  # as long to import as all values

        return from_json(self.text, type, "it", self)

    @property
    def tokens_per_second(self) -> float | None:
        """How fast visible tokens came, or None when that cannot be told (P7).

        n tokens span n-1 intervals between the first and the last. Reasoning that was counted but not shown
        is left out; an answer with calls has tokens nobody saw the time of.
        """
        if self.usage is None or self.timing is None or self.calls or self.cut_calls:
            return None
        shown = self.usage.output - (0 if self.reasoning else self.usage.reasoning or 0)
        span = self.timing.last_token_ms - self.timing.first_token_ms
        return (shown - 1) * 1000 / span if span > 0 and shown > 1 else None

    def to_message(self) -> Message:
        """The answer as the assistant's turn: reasoning, text and calls. Cut calls are left out."""
        text = (Text(self.text),) if self.text else ()
        return Message(Role.ASSISTANT, (*self.reasoning, *text, *self.calls))


class TextDelta(Value, frozen=True, gc=False):
    """A piece of the answer's text, for display.

    Attributes:
        text: The piece.
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        choices = Elsewhere()
        content = Elsewhere()
        delta = Elsewhere()

    text: str


class ReasoningDelta(Value, frozen=True, gc=False):
    """A piece of reasoning, for display, and how it arrived.

    Attributes:
        source: The key it came under, or ``think`` for tags in the text.
        text: The piece.
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        choices = Elsewhere()
        delta = Elsewhere()

    source: ReasoningSource
    text: str


class ToolCallDelta(Value, frozen=True, gc=False):
    """A piece of a call, for display only: calls to answer exist only in ``Completed`` (D5).

    Attributes:
        index: Which call of the answer (P6).
        id: The call's ID, in the piece that brings it.
        name: A piece of the tool's name.
        arguments: A piece of the arguments.
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        choices = Elsewhere()
        delta = Elsewhere()

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


class Completed(Value, frozen=True):
    """The answer is whole; always the last event.

    Attributes:
        completion: The answer.
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        choices = Elsewhere()
        delta = Elsewhere()

    completion: Completion


Event = TextDelta | ReasoningDelta | ToolCallDelta | Completed
"""What a stream hands out."""


class ModelInfo(Value, frozen=True):
    """A model as the server lists it.

    Attributes:
        id: What a request names it by.
        name: What the server calls it, if it has such a name.
    """

    id: str
    name: str | None = None
