"""The base of all values: frozen, compared by value, and short when shown.

1. A value stores exactly what its annotations say: tuples, never lists; enums, never bare words; ``str``
   itself, never a subclass, which msgspec does not write and ``format`` may show as something else.
2. What a constructor *accepts* is wider, and written as an ``__init__`` that only type checkers see;
   ``__post_init__`` turns it into what is stored, and does nothing the second time (copying calls it again).
3. A wrong Python type is a ``TypeError``, a word outside a closed list a ``ConfigError``. What a server may
   refuse (a range, a role's parts) is not judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Never, TypeVar, cast

from msgspec.structs import force_setattr

from svir.errors import ConfigError
from svir.types._show import Shown, shown_text

__all__ = [
    "Elsewhere",
    "Value",
    "check",
    "check_count",
    "check_number",
    "check_text",
    "keep_texts",
    "plain",
    "several",
    "store",
    "word",
]

NO_SEQUENCES = (str, bytes, bytearray, memoryview, Mapping, set, frozenset)
"""What can be iterated over, and is never several of something."""

W = TypeVar("W", bound=str)

store = force_setattr
"""Sets a field of a frozen value, for ``__post_init__`` alone."""


class Elsewhere:
    """An attribute that a value has in other libraries: reading it raises, and says what has it here.

    A class with ``__getattr__`` would read every attribute more slowly, and with this one does not.
    """

    __slots__ = ("_name",)

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, value: object, owner: type) -> Never:
        from svir.types._elsewhere import no_such_attribute  # for a mistake only

        raise no_such_attribute(value, owner, self._name)


class Value(Shown, frozen=True):
    """The base of everything that is said: requests, answers, and their parts."""

    def __dir__(self) -> list[str]:
        kinds = type(self).__mro__
        absent = {name for kind in kinds for name, held in vars(kind).items() if isinstance(held, Elsewhere)}
        return [name for name in super().__dir__() if name not in absent]

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> Any:
        """What makes a value a field of a pydantic model; pydantic asks for it."""
        from svir.types._pydantic import core_schema_of

        return core_schema_of(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, _core: object, _handler: object) -> dict[str, Any]:
        """What an OpenAPI page says of the value; pydantic asks for it."""
        from svir.types._pydantic import json_schema_of

        return json_schema_of(cls)


def check(value: object, kinds: type | tuple[type, ...], where: str) -> None:
    """Raises ``TypeError`` unless the value is of one of the kinds; a bool is no number."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise TypeError(f"{where} must be {names}, not {type(value).__name__}")


def check_text(value: object, where: str, *, optional: bool = False) -> None:
    """Raises ``TypeError`` unless the value is a string (or None, where that is allowed)."""
    check(value, (str, type(None)) if optional else str, where)


def plain(value: object) -> Any:
    """A text or number of a subclass (markup, an enum's member, numpy's) as one of Python's own."""
    match value:
        case bool():
            return value
        case str():
            return str.__str__(value)  # not str(value): a subclass may show itself as something else
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case _:
            return value


def keep_texts(value: Value, *names: str, optional: bool = False) -> None:
    """Checks the fields that are text, and stores them as ``str`` itself."""
    for name in names:
        given: object = getattr(value, name)
        if given.__class__ is str or (optional and given is None):
            continue  # almost always, and at once
        check_text(given, f"{type(value).__name__}.{name}")
        store(value, name, plain(given))


def several(given: object, expected: str) -> tuple[object, ...]:
    """What an iterable gives, in its order.

    A mapping would give its keys, bytes numbers, a set any order: these are mistakes, which would be sent.

    Raises:
        TypeError: It is one of these, or gives nothing; ``expected`` says what must be what.
    """
    if isinstance(given, (tuple, list)):
        return tuple(cast("Iterable[object]", given))
    kind = type(given).__name__
    if isinstance(given, NO_SEQUENCES) or not isinstance(given, Iterable):
        raise TypeError(f"{expected}, not {kind}")
    return tuple(cast("Iterable[object]", given))


def check_count(value: object, where: str) -> None:
    """Raises unless the value is None or a whole number that is not negative."""
    check(value, (int, type(None)), where)
    if isinstance(value, int) and value < 0:
        raise ConfigError(f"{where} must not be negative")


def check_number(value: object, where: str) -> None:
    """Raises unless the value is None or a finite number: NaN and infinity are not JSON."""
    check(value, (int, float, type(None)), where)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 (NaN)
        raise ConfigError(f"{where} must be a finite number")


def word(words: Iterable[W], value: object, where: str) -> W:
    """The member of a closed list of words; ``ConfigError`` names the list."""
    check_text(value, where)
    known = tuple(words)
    for member in known:
        if member == value:
            return member
    raise ConfigError(f"{where} must be one of {', '.join(known)}, not {shown_text(value)}")
