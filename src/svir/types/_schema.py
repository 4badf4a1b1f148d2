"""JSON Schema from a type: msgspec writes it, pydantic its own models, and the shape is settled here.

1. The root is never a ``$ref``: servers that make a grammar from a schema, and chat templates that print one,
   look for its properties at the top. ``$defs`` stay for what is used, and for types that contain themselves.
2. Models inside other types keep their own schema; their definitions move up beside the others.
3. A list of words names its ``type`` too: strict servers and several chat templates ask for it.
4. What could never be read back is refused here, before anything is sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import msgspec.inspect
import msgspec.json

from svir.errors import ConfigError
from svir.types._convert import alternatives, type_name
from svir.types._hints import class_fields, declared_order, described, described_fields
from svir.types._models import is_model, model_schema
from svir.types._refs import REF, Json, inlined, reference, retargeted, rooted, typed

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ["schema_name", "schema_of"]

MODEL = "#/models/"
"""Where a model's schema goes, until the names of all definitions are known."""


def schema_of(type: TypeForm[Any], *, inline: bool = False, strict: bool = False) -> Json:  # noqa: A002
    """The JSON Schema (draft 2020-12) of a type.

    Args:
        type: A dataclass, TypedDict, NamedTuple, attrs class, msgspec struct, pydantic model, builtin,
            Literal, enum, or a list, dict or union of them, described by strings or ``msgspec.Meta`` in
            ``Annotated``.
        inline: Put definitions where they are used, for servers that do not follow ``$ref``.
        strict: Write what strict servers demand: every property required, no others allowed.

    Raises:
        svir.ConfigError: The type has no schema, or could not be read back; it contains itself and cannot be
            inlined; or it holds what a strict server refuses. The text names the place.

    Example:
        >>> from typing import Annotated, TypedDict
        >>> class River(TypedDict):
        ...     name: Annotated[str, "as locals call it"]
        >>> schema_of(River)["properties"]
        {'name': {'description': 'as locals call it', 'type': 'string'}}
    """
    schema = rooted(typed(_written(type)))
    if strict:
        from svir.types._strict import strict_schema

        schema = strict_schema(schema, type_name(type))
    return inlined(schema) if inline else schema


def schema_name(type: TypeForm[Any]) -> str:  # noqa: A002
    """A name for a type's schema: at most 64 of ``[A-Za-z0-9_-]``, which is what servers take."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", type_name(type)).strip("_")[:64] or "answer"


def _written(kind: Any) -> Json:
    """The schema as msgspec or pydantic write it, descriptions and definitions complete."""
    name = type_name(kind)
    try:
        words = [extra for extra in get_args(kind)[1:] if isinstance(extra, str)]
        described_by = {"description": words[0]} if get_origin(kind) is Annotated and words else {}
        schema = model_schema(kind)
        if schema is None:
            schema = _by_msgspec(alternatives(kind))
        return described_by | schema
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 (msgspec, pydantic and hints each fail in their own ways)
        problem = str(error).partition("\n")[0]
    raise ConfigError(f"{name} has no JSON Schema: {problem}")


def _by_msgspec(kinds: tuple[Any, ...]) -> Json:
    models: list[Any] = []

    def hook(cls: Any) -> Json:
        if not is_model(cls):
            raise TypeError(f"{type_name(cls)} is no type that can be described")
        if cls not in models:
            models.append(cls)
        return {"$ref": f"{MODEL}{models.index(cls)}"}

    classes = class_fields(msgspec.inspect.multi_type_info(kinds))
    better = [(cls, n, hint) for cls, fields in classes.items() for n, hint in described_fields(cls, fields)]
    # All in one call, so that the names of definitions agree.
    asked = [*map(described, kinds), *classes, *(hint for _, _, hint in better)]
    written, definitions = msgspec.json.schema_components(asked, schema_hook=hook)
    roots, others = written[: len(kinds)], written[len(kinds) :]
    homes = {cls: reference(schema) for cls, schema in zip(classes, others, strict=False)}
    for (cls, n, _), schema in zip(better, others[len(classes) :], strict=True):
        home = definitions[homes[cls] or ""]
        definitions[homes[cls] or ""] = _with_field(home, n, len(classes[cls]), schema)
    for cls, home in homes.items():
        if order := declared_order(cls):
            definitions[home or ""] = _in_order(definitions[home or ""], order)
    whole = {**(roots[0] if len(roots) == 1 else {"anyOf": list(roots)}), "$defs": definitions}
    for n, model in enumerate(models):
        whole = _with_model(whole, f"{MODEL}{n}", model)
    return whole


def _with_field(owner: Json, n: int, count: int, schema: Json) -> Json:
    """A class's schema with that of its n-th field changed; a tag, which is no field, comes first."""
    keyword = "properties" if "properties" in owner else "prefixItems"
    named: bool = keyword == "properties"
    places: Any = owner[keyword]
    key: Any = list(places)[n - count] if named else len(places) - count + n
    new = schema | {word: places[key][word] for word in ("default",) if word in places[key]}
    changed = {**places, key: new} if named else [*places[:key], new, *places[key + 1 :]]
    return {**owner, keyword: changed}


def _in_order(owner: Json, order: list[str]) -> Json:
    """A class's schema with its properties in the order given."""
    properties: Json = owner["properties"]
    required: list[str] = owner["required"]
    return {
        **owner,
        "properties": {key: properties[key] for key in order},
        "required": [key for key in order if key in required],
    }


def _with_model(whole: Json, marker: str, model: Any) -> Json:
    """The schema with a model's own, and its definitions, beside the others under names that are free."""
    schema = model_schema(model) or {}
    inner: Json = schema.pop("$defs", {})
    own = reference(schema) or model.__name__
    inner.setdefault(own, schema)
    taken: Json = whole["$defs"]
    free = {name: _free(name, taken) for name in inner}
    moved = {
        free[name]: retargeted(one, lambda ref: REF + free.get(ref.removeprefix(REF), ref))
        for name, one in inner.items()
    }
    whole = retargeted(whole, lambda ref: REF + free[own] if ref == marker else ref)
    return {**whole, "$defs": whole["$defs"] | moved}


def _free(name: str, taken: Json) -> str:
    numbered = (f"{name}_{n}" for n in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)
