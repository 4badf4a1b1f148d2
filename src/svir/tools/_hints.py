"""Type hints, resolved one by one so that an error can name its parameter, and what ``Annotated`` adds.

Descriptions and limits are read by the names of their attributes, so that those of msgspec, pydantic,
annotated-types and ``typing_extensions.Doc`` are understood and none of them is needed.
"""

from __future__ import annotations

import functools
import inspect
from types import GenericAlias, MethodType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from svir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["description_of", "resolved", "underlying", "with_limits"]

LIMITS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
"""Attributes that state a limit; ``msgspec.Meta`` has the same names."""

UNIONS = (Union, UnionType)
COLLECTIONS = (list, set, frozenset, tuple, dict)


def underlying(function: object) -> Any:
    """The plain function below decorators, methods, partials and callable objects: it knows its module."""
    while True:
        if isinstance(function, functools.partial):
            function = cast("functools.partial[object]", function).func
        elif isinstance(function, MethodType):
            function = function.__func__
        elif callable(wrapped := getattr(function, "__wrapped__", None)):
            function = wrapped
        elif inspect.isroutine(function) or not callable(function):
            return function
        elif inspect.isroutine(call := type(function).__call__):
            function = call
        else:
            return function


def resolved(annotation: object, function: object, where: str) -> Any:
    """The type that an annotation means, where the function was defined.

    Raises:
        svir.ConfigError: It names something that is not known there.
    """
    names: dict[str, Any] = getattr(underlying(function), "__globals__", {})

    def holder() -> None: ...

    holder.__annotations__ = {"it": annotation}
    try:
        return get_type_hints(holder, globalns=names, include_extras=True)["it"]
    except NameError as error:
        problem = f"{where}: its annotation names {error.name}, which its module does not have at run time"
    except Exception as error:  # noqa: BLE001 (an annotation is any expression)
        problem = f"{where}: its annotation cannot be read: {error}"
    raise ConfigError(problem)


def description_of(hint: object) -> str | None:
    """What ``Annotated`` says in words: a plain string, or an object with a description."""
    for extra in _extras(hint):
        for said in (extra, getattr(extra, "description", None), getattr(extra, "documentation", None)):
            if isinstance(said, str) and said:
                return inspect.cleandoc(said)
    return None


def with_limits(hint: Any) -> Any:
    """The hint with limits as msgspec checks them: on itself, in unions and in plain collections.

    Raises:
        ValueError, TypeError: Limits that contradict each other.
    """
    inner = get_args(hint)
    origin: Any = get_origin(hint)
    if origin in UNIONS:
        return Union[tuple(with_limits(member) for member in inner)]  # noqa: UP007 (made of a tuple)
    if origin in COLLECTIONS:
        return GenericAlias(origin, tuple(one if one is ... else with_limits(one) for one in inner))
    if origin is not Annotated:
        return hint
    base, *extras = inner
    limits: dict[str, Any] = {}
    for extra in _spread(extras):
        if not isinstance(extra, msgspec.Meta):
            limits |= {name: limit for name in LIMITS if (limit := getattr(extra, name, None)) is not None}
    if isinstance(pattern := getattr(limits.get("pattern"), "pattern", None), str):  # a compiled one
        limits["pattern"] = pattern
    base = with_limits(base)
    if limits:
        base = _limited(base, msgspec.Meta(**limits))
    return Annotated[base, *extras]


def _limited(hint: Any, limits: msgspec.Meta) -> Any:
    """A limit of a number that may be missing is on the number, for msgspec."""
    if get_origin(hint) in UNIONS:
        members = (one if one is NoneType else _limited(one, limits) for one in get_args(hint))
        return Union[tuple(members)]  # noqa: UP007 (made of a tuple)
    return Annotated[hint, limits]


def _extras(hint: object) -> tuple[object, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _spread(extras: Iterable[object]) -> Iterator[object]:
    """Each extra, and those that a pydantic ``Field`` keeps inside."""
    for extra in extras:
        yield extra
        inner = getattr(extra, "metadata", None)
        if isinstance(inner, list):
            yield from cast("list[object]", inner)
