"""Parameters the model never sees: a database, the user, a clock; given by the program at the call."""

from __future__ import annotations

from typing import Annotated, TypeVar, get_args, get_origin

__all__ = ["Injected", "is_injected", "mentions_injected"]

T = TypeVar("T")


class _Marker:
    """Stands in the annotation of an injected parameter."""

    def __repr__(self) -> str:
        return "injected"


INJECTED = _Marker()

Injected = Annotated[T, INJECTED]
"""``Injected[T]`` marks a parameter that stays out of a tool's schema. To the function it is a plain ``T``.

The value is given at the call, by the parameter's name: ``tools.call(call, db=db)``.

Example:
    >>> from svir import Injected, ToolCall, Tools
    >>> def stock(item: str, db: Injected[dict[str, int]]) -> int:
    ...     return db[item]
    >>> tools = Tools(stock)
    >>> list(tools.tools()[0].input_schema["properties"])
    ['item']
    >>> tools.call(ToolCall("1", "stock", '{"item": "nails"}'), db={"nails": 3}).content
    '3'
"""


def is_injected(hint: object) -> bool:
    """Whether a parameter with this type hint is injected."""
    return get_origin(hint) is Annotated and INJECTED in get_args(hint)[1:]


def mentions_injected(hint: object) -> bool:
    """Whether the mark stands deeper in the hint, where it means nothing."""
    return any(is_injected(inner) or mentions_injected(inner) for inner in get_args(hint))
