"""How a value is shown: short whatever it holds, and without ever raising.

1. All that one value shows shares a number of characters; when they are used up, the rest is counted.
2. Only what is small by nature is shown by its own ``repr``; of all else its type. Texts, lists and dicts are
   cut, bytes and huge numbers counted, and nesting ends at a depth.
3. The work is bounded like the text: nothing is walked that is not shown.

A value may be asked while it is made of whatever a caller passed: debuggers do.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Shown", "shown_text"]

LONGEST_SHOWN = 2000
LONGEST_TEXT = 100
LONGEST_SEQUENCE = 8
DEEPEST_SHOWN = 10
LARGEST_SHOWN = 128
"""Most bits of a number; Python itself refuses to write very large ones."""


class Shown(msgspec.Struct, frozen=True):
    """A struct that shows the fields that differ from their defaults."""

    def __repr__(self) -> str:
        return _Printer().struct(self, 0)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, _Plain(text)) for name, text in _Printer().fields(self, 0)]


class _Plain:
    """A text that a pretty printer shows without quoting it again."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown_text(content: object) -> str:
    """Anything, in a few characters."""
    return _Printer().one(content, 0)


class _Printer:
    """Shows one value; ``left`` is how much more it may show."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = LONGEST_SHOWN

    def struct(self, value: msgspec.Struct, depth: int) -> str:
        shown = ", ".join(f"{name}={text}" for name, text in self.fields(value, depth))
        return f"{type(value).__name__}({shown})"

    def fields(self, value: msgspec.Struct, depth: int) -> Iterator[tuple[str, str]]:
        for field in msgspec.structs.fields(value):
            content: object = getattr(value, field.name)
            if not _is_default(content, field):
                self.left -= len(field.name) + 1
                yield field.name, self.one(content, depth + 1)

    def one(self, content: object, depth: int) -> str:
        self.left -= 4  # brackets, and what stands between it and the next
        if self.left <= 0 or depth > DEEPEST_SHOWN:
            return "..."
        match content:
            case tuple() | list():
                items = cast("list[object]", content)
                comma = "," if len(items) == 1 else ""
                return f"({self._listed((self.one(item, depth + 1) for item in items), len(items))}{comma})"
            case dict():
                pairs = cast("dict[object, object]", content)
                texts = (f"{self.one(key, depth + 1)}: {self.one(pairs[key], depth + 1)}" for key in pairs)
                return f"{{{self._listed(texts, len(pairs))}}}"
            case Shown() if type(content).__repr__ is Shown.__repr__:
                return self.struct(content, depth)
            case _:
                text = _leaf(content)
                self.left -= len(text)
                return text

    def _listed(self, texts: Iterator[str], count: int) -> str:
        shown: list[str] = []
        for text in islice(texts, LONGEST_SEQUENCE):
            shown.append(text)
            if self.left <= 0:
                break
        if count > len(shown):
            shown.append(f"...<{count - len(shown)} more>")
            self.left -= len(shown[-1])
        return ", ".join(shown)


def _is_default(content: object, field: msgspec.structs.FieldInfo) -> bool:
    if field.default is not msgspec.NODEFAULT:
        # Of the default's type first: a stranger's == may do anything.
        return type(content) is type(field.default) and content == field.default
    made = field.default_factory is not msgspec.NODEFAULT
    return made and isinstance(content, (tuple, dict)) and not content


def _leaf(content: object) -> str:
    match content:
        case str():
            text = str.__str__(content.value if isinstance(content, StrEnum) else content)
            cut = f"...<{len(text)} characters>" if len(text) > LONGEST_TEXT else ""
            return f"{text[:LONGEST_TEXT]!r}{cut}"
        case bytes() | bytearray():
            return f"<{len(content)} bytes>"
        case None | bool():
            return repr(content)
        case float():
            return float.__repr__(content)
        case int():
            bits = int.bit_length(content)
            return int.__repr__(content) if bits <= LARGEST_SHOWN else f"<a number of {bits} bits>"
        case Shown():
            return repr(content)  # one that withholds what it holds
        case _:
            return f"<{type(content).__name__[:LONGEST_TEXT]}>"
