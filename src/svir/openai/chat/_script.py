"""Writes the stream a correct server would send for an answer: for tests of whatever reads one.

1. One event, one chunk: the n-th chunk is what the decoder makes the n-th event of. The finish reason, the
   usage (when there is one) and ``[DONE]`` follow in chunks of their own.
2. What is written has been read by the strict decoder before it is handed out. Events that no correct answer
   brings (text after ``Completed``, calls with a gap, ...) are refused here, where the test's author sees it,
   and not by the client under test.
3. Nothing is left to chance: the same events give the same bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from svir.codec._options import Limits
from svir.errors import ConfigError, Error
from svir.openai.chat._decoder import DONE, Decoder
from svir.types import (
    Completed,
    Completion,
    Event,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from svir.types._value import check, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from svir.types import ReasoningSource, ToolCall

__all__ = ["answer_events", "write_events", "write_models"]

RESPONSE_ID = "chatcmpl-1"
MODEL = "test-model"

# D42: a refusal is told by its key, not by a finish reason of its own.
FINISHES = {finish: finish.value for finish in FinishReason} | {FinishReason.REFUSAL: "stop"}

ROOMY = Limits(wire_bytes=2**40, event_bytes=2**40, tool_calls=2**20)
"""A test of a client's limits needs an answer that is over them."""

_PIECES = re.compile(r"\s*\S+|\s+\Z")
ARGUMENT_PIECE = 12
"""Characters of a call's arguments in one chunk: short enough that few calls come whole in one."""


def answer_events(text: str = "", reasoning: str = "", calls: Iterable[ToolCall] = ()) -> list[Event]:
    """The events of an answer as a server might send it: a word at a time, calls last.

    Example:
        >>> answer_events("Hello there")
        [TextDelta(text='Hello'), TextDelta(text=' there')]
    """
    events: list[Event] = _thoughts("reasoning_content", reasoning)
    events += [TextDelta(piece) for piece in _pieces(text)]
    for index, call in enumerate(calls):
        events.append(ToolCallDelta(index, call.id, call.name, ""))
        starts = range(0, len(call.arguments), ARGUMENT_PIECE)
        events += [
            ToolCallDelta(index, None, None, call.arguments[start : start + ARGUMENT_PIECE])
            for start in starts
        ]
    return events


def write_events(
    events: Iterable[Event],
    *,
    usage: Usage | None = None,
    finish: FinishReason | str | None = None,
) -> list[bytes]:
    r"""The server-sent events of an answer, one entry each, ``[DONE]`` last.

    Args:
        events: What the client is to hand out. A ``Completed`` at the end says how the answer finished, its
            usage, ID and model; alone, it is the whole answer.
        usage: Token counts; none are sent when neither this nor ``Completed`` has any.
        finish: How it finished; ``tool_calls`` when there are calls and nothing else is said, else ``stop``.

    Raises:
        svir.ConfigError: A correct server never sends such an answer.
        TypeError: Something that is no event.

    Example:
        >>> from svir import TextDelta
        >>> len(write_events([TextDelta("Hi")]))  # its text, its finish reason, [DONE]
        3
    """
    *deltas, last = [*events, None]
    if deltas and isinstance(deltas[-1], Completed):
        last = deltas.pop()
    done = last.completion if isinstance(last, Completed) else None
    if done is not None and not deltas:
        deltas = _events_of(done)
    has_calls = any(isinstance(event, ToolCallDelta) for event in deltas)
    finish = FinishReason.TOOL_CALLS if finish is None and done is None and has_calls else finish
    finish = word(FinishReason, finish or (done.finish if done else FinishReason.STOP), "finish")
    if usage is None and done is not None:
        usage = done.usage
    writer = _Writer(done, refusal=finish is FinishReason.REFUSAL)
    chunks = [writer.chunk(delta) for event in deltas for delta in writer.deltas(event)]
    chunks += [writer.chunk(delta) for delta in writer.rest()]
    chunks.append(writer.chunk({}, _wire_finish(finish, done)))
    if usage is not None:
        chunks.append(writer.chunk(None, usage=_usage(usage)))
    chunks.append(DONE)
    _check(chunks)
    return chunks


def write_models(models: Iterable[tuple[str, str | None]]) -> bytes:
    """A listing of models, each an ID and perhaps a name.

    Example:
        >>> write_models([("small", None)])
        b'{"object":"list","data":[{"id":"small","object":"model"}]}'
    """
    data = [
        {"id": key, "object": "model", **({} if name is None else {"name": name})} for key, name in models
    ]
    return _json({"object": "list", "data": data})


class _Writer:
    """Writes the chunks of one answer."""

    def __init__(self, done: Completion | None, *, refusal: bool) -> None:
        self._head = {
            "id": (done and done.response_id) or RESPONSE_ID,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": (done and done.model) or MODEL,
        }
        self._text = "refusal" if refusal else "content"
        self._begun = False
        self._thinking = False  # D23: whether a <think> is open in the text

    def deltas(self, event: object) -> Iterator[dict[str, object]]:
        """What a chunk's delta says for an event."""
        match event:
            case TextDelta(text):
                yield {self._text: self._closed(text)}
            case ReasoningDelta("think", text):
                opening = "" if self._thinking else "<think>"
                self._thinking = True
                yield {"content": opening + text}
            case ReasoningDelta(source, text):
                yield {source: text}
            case ToolCallDelta():
                yield {"tool_calls": [_piece(event)]}
            case Completed():
                raise ConfigError("Completed is the last event of an answer")
            case _:
                check(event, (TextDelta, ReasoningDelta, ToolCallDelta, Completed), "an event")

    def rest(self) -> Iterator[dict[str, object]]:
        """What must still be said when there are no more events."""
        if self._thinking:
            yield {"content": self._closed("")}

    def _closed(self, text: str) -> str:
        closing, self._thinking = "</think>" if self._thinking else "", False
        return closing + text

    def chunk(
        self,
        delta: dict[str, object] | None,
        finish: str | None = None,
        usage: dict[str, object] | None = None,
    ) -> bytes:
        """A chunk with a choice, or without one when there is no delta."""
        choices: list[object] = []
        if delta is not None:
            role = {} if self._begun else {"role": "assistant"}
            self._begun = True
            choices = [{"index": 0, "delta": role | delta, "finish_reason": finish}]
        told = self._head | {"choices": choices} | ({} if usage is None else {"usage": usage})
        return b"data: " + _json(told) + b"\n\n"


def _pieces(text: str) -> list[str]:
    return _PIECES.findall(text)


def _thoughts(source: ReasoningSource, text: str) -> list[Event]:
    return [ReasoningDelta(source, piece) for piece in _pieces(text)]


def _events_of(done: Completion) -> list[Event]:
    """The events a completion may have come from."""
    thoughts = [event for told in done.reasoning for event in _thoughts(told.source, told.text)]
    return thoughts + answer_events(done.text, calls=(*done.calls, *done.cut_calls))


def _wire_finish(finish: FinishReason, done: Completion | None) -> str:
    """The server's own word, where it leads to the same: calls may finish with ``stop`` (D45)."""
    same = done is not None and done.finish is finish and finish is not FinishReason.CONTENT_FILTER
    return (done.raw_finish if same and done else None) or FINISHES[finish]


def _piece(event: ToolCallDelta) -> dict[str, object]:
    head: dict[str, object] = {} if event.id is None else {"id": event.id, "type": "function"}
    name: dict[str, object] = {} if event.name is None else {"name": event.name}
    return {"index": event.index, **head, "function": {**name, "arguments": event.arguments}}


def _usage(usage: Usage) -> dict[str, object]:
    told: dict[str, object] = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
    if usage.total is not None:
        told["total_tokens"] = usage.total
    if usage.reasoning is not None:
        told["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    if usage.cached is not None:
        told["prompt_tokens_details"] = {"cached_tokens": usage.cached}
    return told


def _json(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError):
        pass  # raised below, without the foreign error, which quotes the text
    raise ConfigError("a scripted answer holds text that is not valid Unicode, or no JSON")


def _check(chunks: list[bytes]) -> None:
    decoder, failure = Decoder(limits=ROOMY), None
    try:
        for chunk in chunks:
            for _ in decoder.push(chunk):
                pass
        decoder.finish()
    except Error as error:
        failure = error.detail
    if failure is not None:
        raise ConfigError(f"no correct server sends such an answer: {failure}")
