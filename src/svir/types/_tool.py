"""What a model may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from svir.errors import ConfigError
from svir.types._free import free_json
from svir.types._value import Value, keep_texts, store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Offers", "Tool"]


def _no_arguments() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


class Tool(Value, frozen=True):
    """A tool as it is described to a model.

    Args:
        name: What the model calls it by; must not be empty.
        description: What it does, for the model.
        input_schema: A JSON Schema of the arguments, copied; by default an object without properties.

    Example:
        >>> from svir import Tool
        >>> Tool("today", "Tells the date.").input_schema
        {'type': 'object', 'properties': {}}
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any] = msgspec.field(default_factory=_no_arguments)

    if TYPE_CHECKING:

        def __init__(
            self, name: str, description: str = "", input_schema: Mapping[str, object] | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        keep_texts(self, "name", "description")
        if not self.name:
            raise ConfigError("a tool needs a name")
        given: object = self.input_schema
        schema = _no_arguments() if given is None else free_json(given, "Tool.input_schema")
        store(self, "input_schema", schema)


class Offers(Protocol):
    """Anything that offers tools to a model: what ``Request(tools=...)`` takes."""

    def tools(self) -> Iterable[Tool]:
        """The tools it offers."""
        ...
