"""Free JSON, which a caller puts into ``extra`` and schemas: kept as a plain copy.

1. It is a copy, all the way down: a frozen value does not change when the dict it was made of does.
2. It is plain: dicts, lists, and texts and numbers that are no subclasses.
3. What JSON cannot say is refused with its place: a key that is no text (1 and "1" would be one key, twice),
   a value of another type, nesting deeper than can be written. So a copy has no cycles, and can be walked.

Whether its text is Unicode, and its numbers finite, is seen when it is written (S45, S54).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from svir.errors import ConfigError
from svir.types._value import plain

__all__ = ["DEEPEST", "free_json", "within"]

DEEPEST = 100
"""Most levels of nesting; json itself gives up at a depth nobody can tell."""

LONGEST_PLACE = 100

PLAIN_KEY = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)


def free_json(given: object, where: str) -> dict[str, Any]:
    """A plain copy of a mapping.

    Raises:
        TypeError: It is no mapping.
        svir.ConfigError: Something in it is not JSON; the text names the place, which begins with ``where``.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"{where} must be a mapping, not {type(given).__name__}")
    return cast("dict[str, Any]", _copied(cast("object", given), where, 1))


def _copied(value: object, place: str, depth: int) -> object:
    match value:
        case None | str() | int() | float():
            return plain(value)
        case Mapping() | list() | tuple() if depth > DEEPEST:
            raise ConfigError(f"{place} is nested too deeply")
        case Mapping():
            copy: dict[str, object] = {}
            for key, inner in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    raise ConfigError(f"{place} has a key that is not text, but {type(key).__name__}")
                name: str = plain(key)
                copy[name] = _copied(inner, within(place, name), depth + 1)
            return copy
        case list() | tuple():
            items = cast("list[object]", value)
            return [_copied(inner, within(place, n), depth + 1) for n, inner in enumerate(items)]
        case _:
            raise ConfigError(f"{place} is not JSON, but {type(value).__name__}")


def within(place: str, step: str | int) -> str:
    """The place of what is under a key or at an index; far inside, only the beginning of the way there."""
    if len(place) > LONGEST_PLACE:
        return place if place.endswith("...") else f"{place}..."
    if isinstance(step, int):
        return f"{place}[{step}]"
    return f"{place}.{step}" if PLAIN_KEY.fullmatch(step) else f"{place}[{step[:64]!r}]"
