"""What the hints of a class say beyond what msgspec reads from them.

1. A plain string in ``Annotated[str, "the river's name"]`` is a description, at any depth of a field's hint;
   so is what describes itself: a ``Doc``, or pydantic's ``Field(description=...)``.
2. A ``datetime`` is described as ``date-time``: both kinds are read, but a model needs to be told a form.
3. Nothing else changes: a hint without either comes back as it was.
"""

from __future__ import annotations

import datetime as dt
import types
from inspect import get_annotations
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec.inspect
from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["class_fields", "declared_order", "described", "described_fields"]

DATE_TIME = Meta(extra_json_schema={"format": "date-time"})
WRAPPERS = {"NotRequired", "Required", "ReadOnly", "Final"}
CONTAINERS = ("builtins", "collections", "collections.abc")


def described(hint: Any) -> Any:
    """The hint with its plain strings turned into what msgspec takes for descriptions."""
    if hint is dt.datetime:
        return Annotated[hint, DATE_TIME]
    origin = get_origin(hint)
    if origin is Annotated:
        return _annotated(hint)
    if getattr(origin, "_name", None) in WRAPPERS:
        return described(get_args(hint)[0])
    if type(hint).__name__ == "TypeAliasType":  # ``type Km = ...``, from Python 3.12 on
        meant = described(hint.__value__)
        return hint if meant is hint.__value__ else meant
    args = get_args(hint)
    union = origin is Union or origin is types.UnionType
    if not union and getattr(origin, "__module__", "") not in CONTAINERS:
        return hint  # a Literal's strings are values; a class of one's own has its own fields
    new = tuple(described(arg) for arg in args)
    if all(one is other for one, other in zip(new, args, strict=True)):
        return hint
    return Union[new] if union else cast("Any", origin)[new]  # noqa: UP007 (made at run time)


def _annotated(hint: Any) -> Any:
    inner, *extras = get_args(hint)
    metas = [extra for extra in extras if isinstance(extra, Meta)]
    words = [word for extra in extras if (word := _word(extra))]
    if inner is not dt.datetime or all(meta.tz is None for meta in metas):
        inner = described(inner)
    if words and all(meta.description is None for meta in metas):
        metas.append(Meta(description=words[0]))
    for meta in metas:
        inner = Annotated[inner, meta]
    return inner


def _word(extra: object) -> str:
    """The description that a piece of ``Annotated`` gives, if it gives one."""
    if isinstance(extra, Meta):
        return ""  # msgspec reads it itself
    given = (extra, getattr(extra, "documentation", None), getattr(extra, "description", None))
    return next((word for word in given if isinstance(word, str)), "")


def class_fields(infos: Iterable[msgspec.inspect.Type]) -> dict[Any, tuple[msgspec.inspect.Field, ...]]:
    """Every class with fields that types are made of, and its fields."""
    found: dict[Any, tuple[msgspec.inspect.Field, ...]] = {}

    def visit(part: Any) -> None:
        fields = getattr(part, "fields", None)
        if fields is not None and part.cls not in found:
            found[part.cls] = fields
            for field in fields:
                visit(field.type)
        for name in ("type", "item_type", "key_type", "value_type"):
            if isinstance(inner := getattr(part, name, None), msgspec.inspect.Type):
                visit(inner)
        for name in ("types", "item_types"):
            for inner in getattr(part, name, ()):
                visit(inner)

    for info in infos:
        visit(info)
    return found


def described_fields(cls: Any, fields: tuple[msgspec.inspect.Field, ...]) -> Iterator[tuple[int, Any]]:
    """The fields whose hints say more than msgspec reads, by their place, with the hint that says it."""
    hints = _hints_of(cls)
    for n, field in enumerate(fields):
        hint = hints.get(field.name)
        if (new := described(hint)) is not hint:
            yield n, new


def _hints_of(cls: Any) -> dict[str, Any]:
    """The hints of a class, with the types that a generic one was given; those that cannot be told left out.

    A type variable means something else in each class of a line: each class's own hints are filled in turn.
    """
    owner = get_origin(cls) or cls
    found: dict[str, Any] = {}
    for base in reversed(getattr(owner, "__orig_bases__", owner.__bases__)):
        if isinstance(get_origin(base) or base, type):
            found |= _hints_of(base)
    resolved = get_type_hints(owner, include_extras=True)
    found |= {name: resolved[name] for name in get_annotations(owner) if name in resolved}
    known = dict(zip(getattr(owner, "__parameters__", ()), get_args(cls), strict=False))
    return {name: filled for name, hint in found.items() if (filled := _filled(hint, known)) is not None}


def declared_order(cls: Any) -> list[str]:
    """The keys of a TypedDict as they were written, which msgspec does not keep; nothing for other classes.

    A model answers in the order of the schema, and what it is to consider first is written first.
    """
    owner = get_origin(cls) or cls
    return list(owner.__annotations__) if is_typeddict(owner) else []


def _filled(hint: Any, variables: dict[Any, Any]) -> Any:
    """A hint of a generic class, with the types it was given; None when they cannot be told."""
    if isinstance(hint, TypeVar):
        return variables.get(hint)
    open_ones = getattr(hint, "__parameters__", ())
    if not open_ones or isinstance(hint, type):
        return hint
    if not all(one in variables for one in open_ones):
        return None
    return hint[tuple(variables[one] for one in open_ones)]
