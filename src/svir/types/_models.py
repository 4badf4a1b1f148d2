"""pydantic, known by what its classes offer, and never imported.

1. A model is a class with ``model_validate_json`` and ``model_json_schema``, whoever made it.
2. A type made of models (a list, a union, a pydantic dataclass) needs pydantic's ``TypeAdapter``: whoever has
   such a type has loaded pydantic, so it is looked up among the loaded modules.
3. A pydantic error quotes the input. Only its kind, and the places a schema names, are ever told.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, cast, get_args

from svir.types._refs import subschemas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["is_model", "model_problem", "model_reader", "model_schema", "unusable_model"]

KIND = re.compile(r"[a-z][a-z_0-9]{0,40}")


def is_model(kind: object) -> bool:
    """Whether a class is a pydantic model or dataclass, or offers what models do."""
    return isinstance(kind, type) and (
        (hasattr(kind, "model_validate_json") and hasattr(kind, "model_json_schema"))
        or hasattr(kind, "__pydantic_validator__")
    )


def _holds_model(kind: object) -> bool:
    return is_model(kind) or any(_holds_model(part) for part in get_args(kind))


def _adapter(kind: object) -> Any:
    """A ``TypeAdapter`` for a model or a type made of some; None for all other types."""
    make = getattr(sys.modules.get("pydantic"), "TypeAdapter", None)
    if make is None or not _holds_model(kind):
        return None
    try:
        return make(kind)
    except Exception:  # noqa: BLE001 (pydantic's own, which cannot be imported to be named)
        return None  # models beside what pydantic does not know: msgspec tells whether it does


def model_reader(kind: object) -> Callable[[str | bytes], object] | None:
    """What reads JSON text into a model or a type made of models; None for all other types."""
    if isinstance(kind, type) and is_model(kind) and hasattr(kind, "model_validate_json"):
        return cast("Callable[[str | bytes], object]", cast("Any", kind).model_validate_json)
    adapter = _adapter(kind)
    return None if adapter is None else adapter.validate_json


def model_schema(kind: object) -> dict[str, Any] | None:
    """The JSON Schema of a model or a type made of models, as pydantic writes it; None for others."""
    if isinstance(kind, type) and is_model(kind) and hasattr(kind, "model_json_schema"):
        return cast("dict[str, Any]", cast("Any", kind).model_json_schema())
    adapter = _adapter(kind)
    return None if adapter is None else adapter.json_schema()


def model_problem(error: ValueError, kind: object) -> str:
    """What a pydantic error says, in words that cannot come from the input: ``missing at `$.length.km` ``."""
    if not hasattr(error, "errors"):
        return ""
    found: list[Mapping[str, Any]] = cast("Any", error).errors(
        include_url=False, include_context=False, include_input=False
    )
    first = next(iter(found), None)
    if first is None or not KIND.fullmatch(str(first.get("type"))):
        return ""
    try:
        known = set(_property_names(model_schema(kind)))
    except Exception:  # noqa: BLE001 (pydantic's own: a field that JSON Schema has nothing for)
        known = set[str]()
    place = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" if step in known else "[...]"
        for step in first.get("loc", ())
    )
    return f"{str(first['type']).replace('_', ' ')} at `${place}`"


def unusable_model(error: Exception) -> str:
    """What pydantic says of a model that cannot be used, whatever the input; nothing for other errors."""
    return str(error).partition("\n")[0] if type(error).__module__ == "pydantic.errors" else ""


def _property_names(schema: dict[str, Any] | None) -> Iterator[str]:
    for one in subschemas(schema or {}):
        yield from one.get("properties", ())
