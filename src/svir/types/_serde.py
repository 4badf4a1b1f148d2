"""Values as JSON-able data, and back: a form that is a contract (D22), the same in every implementation.

1. Parts and events are tagged from outside: ``{"text": "hi"}``, ``{"tool_call": {"id": ...}}``. Inside a
   completion, whose lists hold one kind each, calls and reasoning stand without a tag.
2. What is at its default is left out. What only this implementation has is a further key, left out when
   empty, so that the others, which ignore unknown keys, read what is written here.
3. A completion's calls and cut calls are both under ``calls``: its finish tells them apart.

The tables below are the form; golden files pin it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, overload

from svir.errors import ConfigError
from svir.types._attachment import BytesSource, Image, PathSource, TextFile, UrlSource
from svir.types._forms import (
    BASE64,
    COUNT,
    FLAG,
    FREE,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    Bare,
    Field,
    Form,
    Many,
    OneOf,
    Record,
    Word,
)
from svir.types._message import REASONING_SOURCES, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from svir.types._request import Effort, Request, Schema, ToolChoice
from svir.types._response import (
    Completed,
    Completion,
    Event,
    FinishReason,
    ModelInfo,
    ReasoningDelta,
    TextDelta,
    Timing,
    ToolCallDelta,
    Usage,
)
from svir.types._tool import Tool
from svir.types._value import Value

__all__ = ["from_dict", "to_dict"]

T = TypeVar("T")


class _CompletionRecord(Record):
    """Both kinds of calls have one key; an answer cut by the length limit has none to answer (D5)."""

    def write(self, value: Any) -> object:
        # S8: one key cannot say it, and calls that were cut would be read back as calls to answer.
        wrong = "calls" if value.finish == FinishReason.LENGTH else "cut_calls"
        if getattr(value, wrong):
            raise ConfigError(f"a completion that finished with {str(value.finish)!r} has no {wrong}")
        return super().write(value)

    def content(self, value: Any, name: str) -> Any:
        return value.calls + value.cut_calls if name == "calls" else super().content(value, name)

    def made(self, read: dict[str, Any], path: str) -> Any:
        if read.get("finish") is FinishReason.LENGTH and "calls" in read:
            read["cut_calls"] = read.pop("calls")
        return super().made(read, path)


class _MessageRecord(Record):
    """A message of the wire has ``content``: read as ours, it would lose all that it says (S120)."""

    def read(self, data: object, path: str) -> Any:
        given = OBJECT.read(data, path)
        found = next((key for key in WIRE_KEYS if key in given), None)
        if found and "parts" not in given:
            raise ConfigError(
                f"{path} has {found!r}, as messages have it on the wire; svir's have 'parts'"
                " (from_wire() in docs/migrating.md converts)"
            )
        return super().read(given, path)


WIRE_KEYS = ("content", "tool_calls")
REASONING_SOURCE = Word(REASONING_SOURCES)
CALL = Record(ToolCall, Field("id", TEXT), Field("name", TEXT), Field("arguments", TEXT, always=True))
REASONING = Record(Reasoning, Field("source", REASONING_SOURCE), Field("text", TEXT))

SOURCES = OneOf(
    "source",
    {
        "path": Bare(PathSource, "path", TEXT),
        "bytes": Bare(BytesSource, "data", BASE64),
        "url": Bare(UrlSource, "url", TEXT),
    },
)
PARTS = OneOf(
    "part",
    {
        "text": Bare(Text, "text", TEXT),
        "image": Record(
            Image,
            Field("source", SOURCES, ""),
            Field("media_type", TEXT),
            Field("detail", Word(("auto", "low", "high"))),
        ),
        "file": Record(
            TextFile,
            Field("source", SOURCES.only(PathSource, BytesSource), ""),
            Field("name", TEXT),
            Field("escaped_len", COUNT),
        ),
        "reasoning": REASONING,
        "tool_call": CALL,
        "tool_result": Record(
            ToolResult, Field("call_id", TEXT), Field("content", TEXT), Field("is_error", FLAG)
        ),
    },
)
MESSAGE = _MessageRecord(Message, Field("role", Word(Role)), Field("parts", Many(PARTS), always=True))
TOOL = Record(
    Tool,
    Field("name", TEXT),
    Field("description", TEXT, always=True),
    Field("input_schema", FREE, always=True),
)
SCHEMA = Record(Schema, Field("name", TEXT), Field("schema", FREE), Field("strict", FLAG))
TOOL_CHOICE = OneOf("tool choice", {"tool": Bare(ToolChoice, "name", TEXT)}, ("auto", "none", "required"))
REQUEST = Record(
    Request,
    Field("model", TEXT, always=True),
    Field("system", TEXT),
    Field("messages", Many(MESSAGE), always=True),
    Field("tools", Many(TOOL)),
    Field("tool_choice", TOOL_CHOICE),
    Field("response_format", OneOf("response format", {"schema": SCHEMA}, ("text", "json"))),
    Field("max_tokens", COUNT),
    Field("temperature", NUMBER),
    # The other implementations know the effort "none" as "off"; both words are read.
    Field("effort", Word(Effort, {"none": "off"}), "reasoning"),
    Field("include_usage", FLAG),
    Field("send_reasoning", FLAG),
    Field("top_p", NUMBER),
    Field("stop", Many(TEXT)),
    Field("seed", WHOLE),
    Field("parallel_tool_calls", FLAG),
    Field("extra", FREE),
)
USAGE = Record(Usage, *(Field(name, COUNT) for name in ("input", "output", "total", "reasoning", "cached")))
TIMING = Record(Timing, Field("first_token_ms", COUNT), Field("last_token_ms", COUNT))
COMPLETION = _CompletionRecord(
    Completion,
    Field("finish", Word(FinishReason)),
    Field("text", TEXT, always=True),
    Field("reasoning", Many(REASONING)),
    Field("calls", Many(CALL)),
    Field("usage", USAGE),
    Field("timing", TIMING),
    *(Field(name, TEXT) for name in ("response_id", "model", "raw_finish", "request_id")),
    Field("dropped", Many(TEXT)),
)
EVENTS = OneOf(
    "event",
    {
        "text": Bare(TextDelta, "text", TEXT),
        "reasoning": Record(ReasoningDelta, Field("source", REASONING_SOURCE), Field("text", TEXT)),
        "tool_call_delta": Record(
            ToolCallDelta,
            Field("index", COUNT),
            Field("id", TEXT),
            Field("name", TEXT),
            Field("arguments", TEXT),
        ),
        "completed": Bare(Completed, "completion", COMPLETION),
    },
)
MODEL = Record(ModelInfo, Field("id", TEXT), Field("name", TEXT))

TAGGED = (PARTS, EVENTS, SOURCES, TOOL_CHOICE)
RECORDS = (MESSAGE, TOOL, SCHEMA, REQUEST, USAGE, TIMING, COMPLETION, MODEL)
FORMS: dict[type, Form] = {
    **{form.kind: form for form in RECORDS},
    **{kind: tagged.only(kind) for tagged in TAGGED for kind in tagged.tags},
}


@overload
def to_dict(value: Value) -> dict[str, object]: ...
@overload
def to_dict(value: Iterable[Value]) -> list[dict[str, object]]: ...
def to_dict(value: object) -> object:
    """A value, or several, as data that ``json`` can write: made to be stored, and read by ``from_dict``.

    The form is a public contract (D22). A part or an event standing alone is tagged. Bytes become base64;
    paths stay paths. Nothing of it is shared with the value.

    Raises:
        TypeError: Something that is no request, answer, or part of one.
        svir.ConfigError: A completion made by hand has calls to answer after a ``length`` finish, or cut ones
            after another: the form cannot tell them apart.

    Example:
        >>> from svir.types import to_dict, user
        >>> to_dict(user("hi"))
        {'role': 'user', 'parts': [{'text': 'hi'}]}
    """
    kind = type(value)
    if isinstance(value, Value):
        return _form(kind).write(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return [to_dict(item) for item in cast("Iterable[Value]", value)]
    raise _formless(kind)


@overload
def from_dict(type: type[T], data: object) -> T: ...
@overload
def from_dict(type: UnionType, data: object) -> Part | Event: ...
def from_dict(type: object, data: object) -> object:  # noqa: A002 (the word says it best)
    """A value from its serialized form.

    Args:
        type: The type of a value, ``Part``, ``Event``, or several of one: ``tuple[Message, ...]``,
            ``list[Message]``.
        data: What ``json`` read. Unknown keys are ignored, unless it is a message as the wire has it, with
            ``content`` in the place of ``parts``: that is refused (S120).

    Raises:
        svir.ConfigError: The data is not such a value; the error says where: ``$.messages[0].parts[1]``.
            Nothing else is raised, whatever the data is.
        TypeError: There is no serialized form of that type.

    Example:
        >>> from svir.types import Message, from_dict
        >>> from_dict(Message, {"role": "user", "parts": [{"text": "hi"}]})
        Message(role='user', parts=(Text(text='hi'),))
        >>> from_dict(Message, {"role": "user", "parts": [{"video": "a.mp4"}]})
        Traceback (most recent call last):
        svir.errors.ConfigError: the configuration is invalid: $.parts[0] has no known part, but 'video'
    """
    kinds = get_args(type)
    if get_origin(type) is tuple and len(kinds) == 2 and kinds[1] is ...:
        return Many(_form(kinds[0])).read(data, "$")
    if get_origin(type) is list:
        return list(Many(_form(kinds[0])).read(data, "$"))
    return _form(type).read(data, "$")


def _form(kind: object) -> Form:
    if isinstance(kind, type) and kind in FORMS:
        return FORMS[kind]
    kinds = cast("tuple[type, ...]", get_args(kind)) if isinstance(kind, UnionType) else ()
    for tagged in (PARTS, EVENTS):
        if kinds and all(one in tagged.tags for one in kinds):
            return tagged.only(*kinds)
    raise _formless(kind)


def _formless(kind: object) -> TypeError:
    return TypeError(f"{kind.__name__ if isinstance(kind, type) else kind} has no serialized form")
