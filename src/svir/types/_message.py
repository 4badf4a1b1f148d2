"""What is said in a turn: a role, and parts in the order they were given."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeVar

from svir.errors import ConfigError
from svir.types._attachment import Image, TextFile
from svir.types._value import Elsewhere, Value, check, keep_texts, several, store, word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import TypeForm

__all__ = [
    "Message",
    "Part",
    "Reasoning",
    "ReasoningSource",
    "Role",
    "Text",
    "ToolCall",
    "ToolResult",
    "assistant",
    "user",
]

T = TypeVar("T")

ReasoningSource = Literal["reasoning_content", "reasoning", "think"]
"""How reasoning arrived: under one of two keys, or between ``<think>`` tags in the text."""

REASONING_SOURCES: tuple[ReasoningSource, ...] = ("reasoning_content", "reasoning", "think")


class Role(StrEnum):
    """Who speaks. A system prompt is a field of the request, not a role."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Text(Value, frozen=True):
    """Text of a message. A plain string says the same wherever a part is taken.

    Args:
        text: The text; sent as it is.
    """

    text: str

    def __post_init__(self) -> None:
        keep_texts(self, "text")


class Reasoning(Value, frozen=True):
    """What a model thought, and how it arrived; a server expects its own field back unchanged (P5).

    Args:
        source: Its key, ``reasoning_content`` or ``reasoning``; or ``think``, for tags in the text.
        text: All of it that came this way.
    """

    source: ReasoningSource
    text: str

    def __post_init__(self) -> None:
        # Decoders make them, so what they bring is taken at once.
        source: object = self.source
        if not (type(source) is type(self.text) is str and source in REASONING_SOURCES):
            store(self, "source", word(REASONING_SOURCES, self.source, "Reasoning.source"))
            keep_texts(self, "text")


class ToolCall(Value, frozen=True):
    """A call the model asks for.

    Args:
        id: The server's ID of the call, which the result names.
        name: The tool's name, as the model wrote it.
        arguments: The arguments as they were sent: JSON by intention, valid only if the model made it so.
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        function = Elsewhere()

    id: str
    name: str
    arguments: str = "{}"

    def __post_init__(self) -> None:
        # Decoders make them, so what they bring is taken at once.
        if not (type(self.id) is type(self.name) is type(self.arguments) is str):
            keep_texts(self, "id", "name", "arguments")

    def parse(self, type: TypeForm[T]) -> T:  # noqa: A002 (the word says it best)
        """The arguments as a type: dataclass, TypedDict, msgspec struct, attrs class, pydantic model, dict.

        Blank arguments are read as ``{}``.

        Raises:
            svir.AnswerError: The arguments are no JSON, or do not fit the type.
            svir.ConfigError: Nothing can be read into the type.

        Example:
            >>> from svir import ToolCall
            >>> ToolCall("call-1", "lookup", '{"value": 3}').parse(dict[str, int])
            {'value': 3}
        """
        blank = not self.arguments.strip()
        from svir.types._convert import from_json  # as long to import as all values

        return from_json("{}" if blank else self.arguments, type, "what the call passes")


class ToolResult(Value, frozen=True):
    """The answer to a call. A failed one is marked, so that each wire API can say so as it can (D37).

    Args:
        call_id: The ID of the call that this answers.
        content: What the tool said, for the model.
        is_error: Whether it failed.

    Example:
        >>> from svir import ToolResult
        >>> ToolResult("call-1", "no such file", is_error=True).is_error
        True
    """

    call_id: str
    content: str
    is_error: bool = False

    def __post_init__(self) -> None:
        keep_texts(self, "call_id", "content")
        check(self.is_error, bool, "ToolResult.is_error")


Part = Text | Image | TextFile | Reasoning | ToolCall | ToolResult
"""One part of a message. Which parts a role may carry is checked when the request is encoded."""

PARTS = (Text, Image, TextFile, Reasoning, ToolCall, ToolResult)
KINDS = " or ".join(kind.__name__ for kind in (str, *PARTS))


class Message(Value, frozen=True):
    """One turn.

    Args:
        role: ``user``, ``assistant`` or ``tool``.
        parts: A part, a string, or several of them; kept in the order given.

    Example:
        >>> from svir import Message, Image
        >>> Message("user", ["What is this?", Image("river.jpg")]).parts[0]
        Text(text='What is this?')
    """

    if not TYPE_CHECKING:  # these are none, and say what is one
        content = Elsewhere()
        tool_calls = Elsewhere()

    role: Role
    parts: tuple[Part, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            role: Role | Literal["user", "assistant", "tool"],
            parts: str | Part | Iterable[str | Part] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        store(self, "role", word(Role, self.role, "Message.role"))
        alone = isinstance(self.parts, (str, *PARTS))
        given = (self.parts,) if alone else several(self.parts, f"Message.parts must be {KINDS}, or several")
        store(self, "parts", tuple(_as_part(part, n) for n, part in enumerate(given)))


def _as_part(given: object, n: int) -> Part:
    if isinstance(given, str):
        return Text(given)
    if not isinstance(given, PARTS):
        raise TypeError(f"Message.parts[{n}] must be {KINDS}, not {type(given).__name__}")
    return given


def user(*parts: str | Part) -> Message:
    """A user's turn.

    Raises:
        svir.ConfigError: There is no part.

    Example:
        >>> import svir
        >>> svir.user("What changed?", svir.TextFile("diff.patch")).role
        <Role.USER: 'user'>
    """
    if not parts:
        raise ConfigError("user() needs a part: a string, an Image or a TextFile")
    return Message(Role.USER, parts)


def assistant(*parts: str | Part) -> Message:
    """A model's turn. To add an answer to a conversation, prefer ``request.with_turns(completion)``.

    Example:
        >>> import svir
        >>> svir.assistant("Because they can.").parts
        (Text(text='Because they can.'),)
    """
    return Message(Role.ASSISTANT, parts)
