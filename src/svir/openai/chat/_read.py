"""Reads one event's data by every rule: the reference that the typed reader of ``_wire.py`` is a shortcut of.

1. ``strict`` refuses what the protocol does not know; ``lenient`` skips it where the answer cannot become
   wrong by that (P8).
2. A whole chunk is judged before any of it counts: a fault leaves nothing behind.
3. What depends on earlier chunks is not decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svir.codec._fault import Fault
from svir.codec._json import is_array, is_object
from svir.errors import ProtocolError, UnsupportedError
from svir.openai.chat._wire import (
    BLOCKING,
    NO_VERDICTS,
    Annotation,
    Choice,
    Chunk,
    Delta,
    Details,
    Function,
    Piece,
    WireUsage,
)

if TYPE_CHECKING:
    from svir.codec._options import Mode

__all__ = ["ChunkReader", "blocks"]

SKIPS = "mode='lenient' skips it"
FINISHES = frozenset({"stop", "tool_calls", "length", "content_filter"})
TEXT_KEYS = ("content", "reasoning_content", "reasoning", "refusal")
DELTA_KEYS = frozenset({*TEXT_KEYS, "role", "tool_calls"})
PIECE_KEYS = frozenset({"index", "id", "type", "function"})
FUNCTION_KEYS = frozenset({"name", "arguments"})


class ChunkReader:
    """Makes chunks of parsed JSON objects.

    Args:
        mode: What is done with what the protocol does not know.
    """

    def __init__(self, mode: Mode) -> None:
        self._strict = mode == "strict"

    def read(self, value: dict[str, Any], index: int | None = None) -> Chunk | None:
        """The chunk, or None when it says nothing of the answer.

        Args:
            value: The parsed data.
            index: Of the choice that is read, once it is known. Lenient mode does not judge another one.

        Raises:
            Fault: It breaks the protocol, or strict mode refuses it.
        """
        choices = value.get("choices")
        if not is_array(choices):
            self._refuse(ProtocolError, "a chunk without choices")
            choices = []
        if not choices and _is_prompt_report(value):
            return None
        if not self._strict and len(choices) + (index is not None) > 1:
            choices = _read_ones(choices, index)
        read = [self._choice(choice) for choice in choices]
        if len(read) > 1:
            self._refuse(UnsupportedError, "more than one choice", "mode='lenient' reads the first")
            raise Fault(ProtocolError, "the same choice twice in one chunk")
        return Chunk(
            [choice for choice in read if choice],
            self._name(value, "id"),
            self._name(value, "model"),
            self._usage(value.get("usage")),
        )

    def _refuse(self, kind: type[ProtocolError | UnsupportedError], what: str, hint: str = SKIPS) -> None:
        """In strict mode, an error."""
        if self._strict:
            raise Fault(kind, what, hint)

    def _name(self, value: dict[str, Any], key: str) -> str | None:
        name = value.get(key)
        if name is None or isinstance(name, str):
            return name
        self._refuse(ProtocolError, f"a chunk whose {key} is no text")
        return None

    def _usage(self, value: Any) -> WireUsage | None:
        if value is None:
            return None
        if is_object(value):
            sent, made = _count(value, "prompt_tokens"), _count(value, "completion_tokens")
            if sent is not None and made is not None:
                output, prompt = (
                    _details(value, key) for key in ("completion_tokens_details", "prompt_tokens_details")
                )
                return WireUsage(sent, made, _count(value, "total_tokens"), output, prompt)
        what = "usage without the counts prompt_tokens and completion_tokens"
        self._refuse(ProtocolError, what, "mode='lenient' ignores it")
        return None

    def _choice(self, value: Any) -> Choice | None:
        if not is_object(value):
            self._refuse(ProtocolError, "a choice that is no object")
            return None
        index = _index(value)
        if index != 0:
            self._refuse(UnsupportedError, "a choice other than the first", "mode='lenient' reads one")
        verdicts = BLOCKING if blocks(value.get("content_filter_results")) else NO_VERDICTS
        delta = value.get("delta")
        annotation = delta is None and value.get("content_filter_offsets") is not None
        finish = _finish(value.get("finish_reason"), annotation=annotation)
        if annotation:
            return Annotation(Delta(), index, finish, verdicts)
        if delta is None:
            self._refuse(ProtocolError, "a choice without a delta", "mode='lenient' takes it as empty")
            delta = {}
        return Choice(self._delta(delta), index, finish, verdicts)

    def _delta(self, value: Any) -> Delta:
        if not is_object(value):
            raise Fault(ProtocolError, "a delta that is no object")
        told = {key: item for key, item in value.items() if item is not None}
        if not told.keys() <= DELTA_KEYS:
            self._refuse(UnsupportedError, "an unknown key in a delta")
        if told.get("role", "assistant") != "assistant":
            self._refuse(UnsupportedError, "a role other than assistant", "mode='lenient' ignores it")
        texts: dict[str, str] = {}
        for key in TEXT_KEYS:
            text = told.get(key)
            if isinstance(text, str):
                texts[key] = text
            elif key == "content" and text is not None:
                # Skipping it would lose the answer, so lenient mode refuses it too.
                raise Fault(UnsupportedError, "content that is no text")
            elif text is not None:
                self._refuse(UnsupportedError, f"a delta whose {key} is no text")
        return Delta(
            None,
            texts.get("content"),
            texts.get("reasoning_content"),
            texts.get("reasoning"),
            texts.get("refusal"),
            self._pieces(told.get("tool_calls")),
        )

    def _pieces(self, value: Any) -> list[Piece] | None:
        if value is None:
            return None
        if not is_array(value):
            raise Fault(ProtocolError, "tool_calls that are no array")
        return [self._piece(piece) for piece in value]

    def _piece(self, value: Any) -> Piece:
        """A piece of a call: what could make the call wrong is refused in both modes (P8)."""
        if not is_object(value):
            raise Fault(ProtocolError, "a piece of a tool call that is no object")
        told = {key: item for key, item in value.items() if item is not None}
        index = told.get("index")
        if type(index) is not int or index < 0:
            raise Fault(ProtocolError, "a piece of a tool call without an index")
        if told.get("type", "function") != "function":
            raise Fault(UnsupportedError, "a tool call of a type other than function")
        function = told.get("function", {})
        if not is_object(function):
            raise Fault(ProtocolError, "a function of a tool call that is no object")
        inner = {key: item for key, item in function.items() if item is not None}
        if not (told.keys() <= PIECE_KEYS and inner.keys() <= FUNCTION_KEYS):
            self._refuse(UnsupportedError, "an unknown key in a tool call")
        texts = (told.get("id"), inner.get("name"), inner.get("arguments"))
        if not all(text is None or isinstance(text, str) for text in texts):
            raise Fault(ProtocolError, "an id, a name or arguments of a tool call that are no text")
        return Piece(index, texts[0], None, Function(texts[1], texts[2]))


def blocks(results: Any) -> bool:
    """Whether a filter's verdicts block: ``filtered`` does, ``detected`` alone does not (D35).

    A verdict is an object, or a list of them.
    """
    for verdict in results.values() if is_object(results) else ():
        for one in verdict if is_array(verdict) else (verdict,):
            if is_object(one) and one.get("filtered") is True:
                return True
    return False


def _index(choice: dict[str, Any]) -> int:
    index = choice.get("index", 0)
    if type(index) is int:
        return index
    return 0 if index is None else -1


def _read_ones(choices: list[Any], index: int | None) -> list[Any]:
    """The choices with the index that is read: the one seen first, for the whole stream."""
    objects = [choice for choice in choices if is_object(choice)]
    wanted = index if index is not None or not objects else _index(objects[0])
    return [choice for choice in objects if _index(choice) == wanted]


def _is_prompt_report(value: dict[str, Any]) -> bool:
    """A filter's report on the prompt: no part of the answer, skipped whole."""
    return value.get("prompt_filter_results") is not None or value.get("prompt_annotations") is not None


def _finish(value: Any, *, annotation: bool) -> Any:
    if value is None:
        return None
    if not isinstance(value, str):
        raise Fault(ProtocolError, "a finish reason that is no text")
    if annotation and value != "content_filter":
        raise Fault(
            UnsupportedError, "a filter annotation with another finish reason than content_filter"
        )  # D35
    if value not in FINISHES:
        # D35: nobody knows whether the answer is whole, so lenient mode refuses it too.
        raise Fault(UnsupportedError, "an unknown finish reason")
    return value


def _count(value: dict[str, Any], key: str) -> int | None:
    count = value.get(key)
    return count if type(count) is int and 0 <= count < 10**18 else None


def _details(value: dict[str, Any], key: str) -> Details | None:
    details = value.get(key)
    if not is_object(details):
        return None
    return Details(_count(details, "reasoning_tokens"), _count(details, "cached_tokens"))
