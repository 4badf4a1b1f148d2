"""An answer's events as they stand there, for describing them: nothing is refused here, and nothing repaired.

What svir makes of the same bytes is another question (`_svir`). This looks at what a decoder would refuse,
and at what it passes over.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Call", "Chunk", "Reading", "Usage", "as_json", "as_list", "as_object"]

REASONING_KEYS = ("reasoning_content", "reasoning")
END_OF_EVENT = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n")
DEEPEST = 100
"""Brackets that may be open in JSON that is looked at; a parser would go on until the stack is used up."""


class Chunk(NamedTuple):
    """One event.

    Attributes:
        end: Where it ends in the body.
        raw: Its bytes.
        data: The payload of its data lines.
        value: That as JSON; None when it is none.
    """

    end: int
    raw: bytes
    data: bytes
    value: Any

    @property
    def choices(self) -> list[dict[str, Any]]:
        """The choices that are objects."""
        return [
            choice for choice in as_list(as_object(self.value).get("choices")) if isinstance(choice, dict)
        ]

    @property
    def delta(self) -> dict[str, Any]:
        """What the first choice adds."""
        return as_object(self.choices[0].get("delta")) if self.choices else {}

    @property
    def visible(self) -> bool:
        """Whether it brings text or reasoning."""
        return any(
            isinstance(self.delta.get(key), str) and self.delta[key] for key in ("content", *REASONING_KEYS)
        )


class Usage(NamedTuple):
    """A report of token counts, and where it stands."""

    chunk: Chunk
    counts: dict[str, Any]
    alone: bool
    """Whether its chunk has no choices."""

    def tokens(self, name: str) -> int | None:
        """One of the counts."""
        value = self.counts.get(name)
        return value if type(value) is int else None


class Call(NamedTuple):
    """The pieces of one call, in their order."""

    at: object
    """Its index."""
    pieces: list[tuple[Chunk, dict[str, Any]]]

    @property
    def ids(self) -> list[object]:
        """The id of each piece that has the key."""
        return [piece["id"] for _, piece in self.pieces if "id" in piece]

    @property
    def names(self) -> list[object]:
        """The name of each piece that has the key."""
        functions = [as_object(piece.get("function")) for _, piece in self.pieces]
        return [function["name"] for function in functions if "name" in function]

    @property
    def arguments(self) -> list[object]:
        """The arguments of each piece that has the key."""
        functions = [as_object(piece.get("function")) for _, piece in self.pieces]
        return [function["arguments"] for function in functions if "arguments" in function]

    @property
    def joined(self) -> str:
        """All of the arguments."""
        return "".join(part for part in self.arguments if isinstance(part, str))


class Reading:
    """The events of an answer.

    Args:
        body: The answer's body.
    """

    def __init__(self, body: bytes) -> None:
        self.body = body

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """The events that have data."""
        return tuple(_chunks(self.body))

    @cached_property
    def objects(self) -> tuple[Chunk, ...]:
        """The events whose data is a JSON object."""
        return tuple(chunk for chunk in self.chunks if isinstance(chunk.value, dict))

    @property
    def done(self) -> bool:
        """Whether ``[DONE]`` came."""
        return any(chunk.data == b"[DONE]" for chunk in self.chunks)

    @cached_property
    def text(self) -> str:
        """The text."""
        return self._joined("content")

    @cached_property
    def reasoning(self) -> dict[str, str]:
        """The reasoning, by the key it came under."""
        return {key: text for key in REASONING_KEYS if (text := self._joined(key))}

    @cached_property
    def visible(self) -> tuple[Chunk, ...]:
        """The events that bring text or reasoning."""
        return tuple(chunk for chunk in self.objects if chunk.visible)

    @cached_property
    def finishes(self) -> tuple[tuple[Chunk, str], ...]:
        """Every finish reason that is not null, one that is no text as its JSON, and its event."""
        return tuple(
            (chunk, found if isinstance(found, str) else msgspec.json.encode(found).decode())
            for chunk in self.objects
            for choice in chunk.choices
            if (found := choice.get("finish_reason")) is not None
        )

    @property
    def finish(self) -> str | None:
        """The last finish reason; None when there was none."""
        return self.finishes[-1][1] if self.finishes else None

    @cached_property
    def usages(self) -> tuple[Usage, ...]:
        """Every report of token counts."""
        return tuple(
            Usage(chunk, counts, not chunk.choices)
            for chunk in self.objects
            if isinstance(counts := chunk.value.get("usage"), dict)
        )

    @property
    def usage(self) -> Usage | None:
        """The last report of token counts."""
        return self.usages[-1] if self.usages else None

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls, in the order in which they began, told apart by their index alone."""
        calls: dict[str, Call] = {}
        for chunk in self.objects:
            for piece in map(as_object, as_list(chunk.delta.get("tool_calls"))):
                if piece:
                    at: object = piece.get("index")
                    calls.setdefault(repr(at), Call(at, [])).pieces.append((chunk, piece))
        return tuple(calls.values())

    def _joined(self, key: str) -> str:
        parts = (chunk.delta.get(key) for chunk in self.objects)
        return "".join(part for part in parts if isinstance(part, str))


def as_json(data: bytes) -> Any:
    """The value of JSON text; None when it is none."""
    if data.count(b"[") + data.count(b"{") > DEEPEST and _depth(data) > DEEPEST:
        return None
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def as_object(value: object) -> dict[str, Any]:
    """A JSON object; empty for anything else."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def as_list(value: object) -> list[Any]:
    """A JSON array; empty for anything else."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def _depth(data: bytes) -> int:
    """How deep brackets are nested, those in texts included: more than enough to be careful."""
    depth = deepest = 0
    for byte in data:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _chunks(body: bytes) -> Iterator[Chunk]:
    at = 0
    for end in [*(found.end() for found in END_OF_EVENT.finditer(body)), len(body)]:
        raw, at = body[at:end], end
        lines = [line[5:].removeprefix(b" ") for line in raw.splitlines() if line.startswith(b"data:")]
        if lines:
            data = b"\n".join(lines).strip()
            yield Chunk(end, raw, data, as_json(data))
