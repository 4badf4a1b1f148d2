"""What is asked: one request, whatever the wire API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict

import msgspec

from svir.errors import ConfigError
from svir.types._free import free_json
from svir.types._message import Message, Role, ToolResult, user
from svir.types._response import Completion
from svir.types._tool import Offers, Tool
from svir.types._value import (
    Value,
    check,
    check_count,
    check_number,
    check_text,
    keep_texts,
    plain,
    several,
    store,
    word,
)

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ["Effort", "Request", "RequestFields", "ResponseFormat", "Schema", "ToolChoice", "Turn"]

Turn = str | Message | Completion | ToolResult
"""What can be added to a conversation: a string is a user's turn, a completion the assistant's."""

TURNS = "a Message (as svir.user(...) makes one), str, Completion or ToolResult"


class Effort(StrEnum):
    """How much a model should reason; each word is sent as it is."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class ToolChoice(Value, frozen=True):
    """A call of one tool is required. The other choices are words: ``auto``, ``none``, ``required`` (D40).

    Args:
        name: The tool's name.

    Example:
        >>> from svir import Request, Tool, ToolChoice
        >>> Request("m", tools=Tool("lookup"), tool_choice=ToolChoice.tool("lookup")).tool_choice
        ToolChoice(name='lookup')
    """

    name: str

    def __post_init__(self) -> None:
        keep_texts(self, "name")

    @classmethod
    def tool(cls, name: str) -> ToolChoice:
        """Requires a call of the tool with this name."""
        return cls(name)


class _SchemaHead(Value, frozen=True):
    name: str
    schema: dict[str, Any]


class Schema(_SchemaHead, frozen=True, kw_only=True):
    """A JSON Schema the answer must meet (D40). ``Schema.of`` makes one from a type.

    Args:
        name: ASCII letters, digits, ``_`` and ``-``; at most 64.
        schema: The JSON Schema; copied.
        strict: Ask the server to keep to it strictly; sent only when true.
    """

    strict: bool = False

    if TYPE_CHECKING:

        def __init__(self, name: str, schema: Mapping[str, object], *, strict: bool = False) -> None: ...

    def __post_init__(self) -> None:
        keep_texts(self, "name")
        allowed = self.name.isascii() and all(c.isalnum() or c in "_-" for c in self.name)
        if not allowed or not 0 < len(self.name) <= 64:
            raise ConfigError("Schema.name must be 1 to 64 ASCII letters, digits, _ or -")
        store(self, "schema", free_json(self.schema, "Schema.schema"))
        check(self.strict, bool, "Schema.strict")

    @classmethod
    def of(
        cls,
        type: TypeForm[Any],  # noqa: A002 (the word says it best)
        *,
        name: str | None = None,
        strict: bool = False,
        inline: bool = False,
    ) -> Self:
        """The JSON Schema of a type, for ``completion.parse(type)`` to read the answer back (D41).

        Args:
            type: A dataclass, TypedDict, NamedTuple, attrs class, msgspec struct, pydantic model, builtin,
                Literal, enum, or a list, dict or union of them. Strings in ``Annotated`` describe fields.
            name: The schema's name; made of the type's own when left out.
            strict: Write the schema as strict servers demand it, and ask them to keep to it: every property
                is required, so that one with a default is always written.
            inline: Put definitions where they are used, for servers that do not follow ``$ref``.

        Raises:
            svir.ConfigError: The type has no schema or could not be read back, contains itself and cannot be
                inlined, or holds what a strict server refuses, such as a dict with any keys; the text names
                the place.

        Example:
            >>> import dataclasses
            >>> from svir import Schema
            >>> @dataclasses.dataclass
            ... class River:
            ...     name: str
            ...     length_km: float | None = None
            >>> Schema.of(River, strict=True).schema["required"]
            ['name', 'length_km']
        """
        from svir.types._schema import schema_name, schema_of

        schema = schema_of(type, strict=strict, inline=inline)
        return cls(schema_name(type) if name is None else name, schema, strict=strict)


EffortWord = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
ToolChoiceWord = Literal["auto", "none", "required"]
CHOICES: tuple[ToolChoiceWord, ...] = ("auto", "none", "required")
ResponseFormat = Literal["text", "json"] | Schema
"""What the answer must be: text (the default), any JSON, or JSON to a schema."""


class _RequestHead(Value, frozen=True):
    model: str = ""


class Request(_RequestHead, frozen=True, kw_only=True):
    """What to ask a model. Nothing is sent that is not set (P11).

    Args:
        model: The model's ID; empty means the client's default.
        messages: The conversation so far: messages, strings (user's turns), completions, tool results.
        system: The system prompt.
        tools: Tools, or anything with a ``tools()`` method.
        tool_choice: ``auto``, ``none``, ``required`` or ``ToolChoice.tool(name)`` (D40).
        response_format: ``text``, ``json``, a ``Schema``, or a type, of which one is made (D40).
        max_tokens: Most tokens of the answer.
        temperature: Sampling temperature; ranges are the server's.
        top_p: Nucleus sampling.
        stop: A text, or several, at which the answer ends.
        seed: For servers that can repeat themselves.
        parallel_tool_calls: Whether several calls may come at once.
        effort: How much to reason.
        include_usage: Ask for token counts; None leaves it to the client, which asks (D21).
        send_reasoning: Send earlier reasoning back under the key it came with (P5, D23).
        extra: Further fields of the body, for what one server understands; copied.

    Raises:
        TypeError: A field has the wrong Python type.
        svir.ConfigError: A word is outside its closed list, a number is negative or not finite, or something
            in ``extra`` is not JSON.

    Example:
        >>> from svir import Request
        >>> request = Request("qwen3-27b", messages=["Why do rivers meander?"], effort="low")
        >>> request.with_turns("And deltas?").messages[-1].parts
        (Text(text='And deltas?'),)
    """

    messages: tuple[Message, ...] = ()
    system: str | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoiceWord | ToolChoice = "auto"
    response_format: ResponseFormat = "text"
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    parallel_tool_calls: bool | None = None
    effort: Effort | None = None
    include_usage: bool | None = None
    send_reasoning: bool = False
    extra: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])

    if TYPE_CHECKING:

        def __init__(
            self,
            model: str = "",
            *,
            messages: Turn | Iterable[Turn] = (),
            system: str | None = None,
            tools: Tool | Offers | Iterable[Tool | Offers] = (),
            tool_choice: ToolChoiceWord | ToolChoice = "auto",
            response_format: ResponseFormat | TypeForm[Any] = ...,
            max_tokens: int | None = None,
            temperature: float | None = None,
            top_p: float | None = None,
            stop: str | Iterable[str] | None = None,
            seed: int | None = None,
            parallel_tool_calls: bool | None = None,
            effort: Effort
            | Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
            | None = None,
            include_usage: bool | None = None,
            send_reasoning: bool = False,
            extra: Mapping[str, object] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        keep_texts(self, "model")
        keep_texts(self, "system", optional=True)
        store(self, "messages", _as_messages(self.messages))
        store(self, "tools", _as_tools(self.tools))
        store(self, "tool_choice", _as_choice(self.tool_choice))
        store(self, "response_format", _as_format(self.response_format))
        check_count(self.max_tokens, "Request.max_tokens")
        check_number(self.temperature, "Request.temperature")
        check_number(self.top_p, "Request.top_p")
        store(self, "stop", _as_stop(self.stop))
        check(self.seed, (int, type(None)), "Request.seed")
        for name in ("max_tokens", "temperature", "top_p", "seed"):
            if (number := getattr(self, name)) is not None:
                store(self, name, plain(number))
        if self.effort is not None:
            store(self, "effort", word(Effort, self.effort, "Request.effort"))
        for name in ("parallel_tool_calls", "include_usage"):
            check(getattr(self, name), (bool, type(None)), f"Request.{name}")
        check(self.send_reasoning, bool, "Request.send_reasoning")
        store(self, "extra", free_json(self.extra, "Request.extra"))

    def replace(self, **changes: Any) -> Self:
        """A copy with other fields.

        Example:
            >>> from svir import Request
            >>> Request("small").replace(model="large", max_tokens=10).max_tokens
            10
        """
        known = self.__struct_fields__
        for name in changes:
            if name not in known:
                from svir.types._elsewhere import FIELDS, no_such_name  # for a mistake only

                raise no_such_name("a request has no field", name, known, FIELDS)
        return type(self)(**{name: changes.get(name, getattr(self, name)) for name in known})

    def with_turns(self, *turns: Turn, keep_tool_choice: bool = False) -> Self:
        """A copy with further turns.

        A string is a user's turn. A completion is the assistant's: its reasoning, text and calls, nothing
        lost; its cut calls are left out. Adding tool results turns a required tool choice back to ``auto``,
        since the model could never stop calling otherwise, unless ``keep_tool_choice`` is true.
        """
        added = _as_messages(turns)
        answered = any(message.role is Role.TOOL for message in added)
        forced = self.tool_choice == "required" or isinstance(self.tool_choice, ToolChoice)
        choice = "auto" if answered and forced and not keep_tool_choice else self.tool_choice
        return self.replace(messages=self.messages + added, tool_choice=choice)


class RequestFields(TypedDict, total=False):
    """The fields of a request as keywords: ``client.complete("Hello", system="Be brief.")``."""

    model: str
    messages: Turn | Iterable[Turn]
    system: str | None
    tools: Tool | Offers | Iterable[Tool | Offers]
    tool_choice: ToolChoiceWord | ToolChoice
    response_format: ResponseFormat | TypeForm[Any]
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    stop: str | Iterable[str] | None
    seed: int | None
    parallel_tool_calls: bool | None
    effort: Effort | EffortWord | None
    include_usage: bool | None
    send_reasoning: bool
    extra: Mapping[str, object]


def _as_messages(given: Turn | Iterable[Turn]) -> tuple[Message, ...]:
    alone = isinstance(given, (str, Message, Completion, ToolResult))
    turns = (given,) if alone else several(given, f"messages must be {TURNS} or several of these")
    return tuple(_as_message(turn, n) for n, turn in enumerate(turns))


def _as_message(turn: object, n: int) -> Message:
    match turn:
        case Message():
            return turn
        case str():
            return user(turn)
        case Completion():
            return turn.to_message()
        case ToolResult():
            return Message(Role.TOOL, (turn,))
        case _:
            raise TypeError(f"turn {n} must be {TURNS}, not {type(turn).__name__}")


def _as_tools(given: object) -> tuple[Tool, ...]:
    if isinstance(given, Tool):
        return (given,)
    offer = getattr(given, "tools", None)
    if callable(offer):
        return _as_tools(offer())
    try:
        given = several(given, "tools must be Tool or have a tools() method, or several of these")
    except TypeError as error:
        problem = f"{error}{_as_tool_here(given)}"
    else:
        return tuple(tool for one in given for tool in _as_tools(one))
    raise TypeError(problem)


def _as_tool_here(given: object) -> str:
    """What makes a tool of what is none."""
    if isinstance(given, Mapping):
        return ": Tool(name, description, schema) has the parts of a dict's function"
    if callable(given) and not isinstance(given, type):
        return ": Tools(function) describes a function, and answers its calls"
    return ""


def _as_choice(given: object) -> ToolChoiceWord | ToolChoice:
    if isinstance(given, ToolChoice):
        return given
    for choice in CHOICES:
        if isinstance(given, str) and given == choice:
            return choice
    raise ConfigError("Request.tool_choice must be auto, none, required or ToolChoice.tool(name)")


def _as_format(given: Any) -> ResponseFormat:
    match given:
        case Schema():
            return given
        case "text":
            return "text"
        case "json":
            return "json"
        case _:
            pass
    # Types come in many shapes, but what they are not is data.
    if given is None or isinstance(given, (str, bytes, int, float, Mapping, list, tuple)):
        raise ConfigError("Request.response_format must be text, json, a Schema or a type")
    return Schema.of(given)


def _as_stop(given: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    stop = (given,) if isinstance(given, str) else several(given, "Request.stop must be a text or several")
    for n, text in enumerate(stop):
        check_text(text, f"Request.stop[{n}]")
    return tuple(map(plain, stop))
