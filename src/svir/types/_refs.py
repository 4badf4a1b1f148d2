"""JSON Schemas as data: where one holds others, and what its references mean.

Nothing here changes a schema; every function returns a new one. A property may be called ``default`` or
``$ref``: the tables say which keywords hold schemas, and everything else is passed on unread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from svir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "REF",
    "Json",
    "inlined",
    "mapped",
    "reference",
    "resolved",
    "retargeted",
    "rooted",
    "subschemas",
    "typed",
]

Json = dict[str, Any]

REF = "#/$defs/"

NAMED = {"properties", "patternProperties", "dependentSchemas", "$defs"}
LISTED = {"anyOf", "oneOf", "allOf", "prefixItems"}
SINGLE = {
    *("items", "contains", "unevaluatedItems", "additionalProperties", "unevaluatedProperties"),
    *("propertyNames", "not", "if", "then", "else"),
}

JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def mapped(schema: Json, change: Callable[[Json], Json]) -> Json:
    """The schema with each schema directly inside it changed; true and false stay."""

    def one(inner: Any) -> Any:
        return change(cast("Json", inner)) if isinstance(inner, dict) else inner

    new: Json = {}
    for key, value in schema.items():
        if key in NAMED:
            new[key] = {name: one(inner) for name, inner in value.items()}
        elif key in LISTED:
            new[key] = [one(inner) for inner in value]
        else:
            new[key] = one(value) if key in SINGLE else value
    return new


def subschemas(schema: Json) -> Iterator[Json]:
    """The schema, and every schema inside it at any depth."""
    yield schema
    found: list[Json] = []

    def note(inner: Json) -> Json:
        found.append(inner)
        return inner

    mapped(schema, note)
    for inner in found:
        yield from subschemas(inner)


def reference(schema: Json) -> str | None:
    """The name of the definition that a schema refers to."""
    ref = schema.get("$ref")
    if not isinstance(ref, str) or not ref.startswith(REF):
        return None
    return ref.removeprefix(REF).replace("~1", "/").replace("~0", "~")


def retargeted(schema: Json, new: Callable[[str], str]) -> Json:
    """The schema with every reference, a discriminator's too, changed."""
    schema = mapped(schema, lambda inner: retargeted(inner, new))
    if isinstance(ref := schema.get("$ref"), str):
        schema["$ref"] = new(ref)
    choice: Json = schema.get("discriminator", {})
    if "mapping" in choice:
        targets = {tag: new(ref) for tag, ref in choice["mapping"].items()}
        schema["discriminator"] = {**choice, "mapping": targets}
    return schema


def resolved(schema: Json, definitions: Json) -> Json:
    """The schema, or what it refers to with its own words added."""
    while (name := reference(schema)) is not None and name in definitions:
        schema = {**definitions[name], **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def rooted(schema: Json) -> Json:
    """The schema with no ``$ref`` at its root, and no definition that nothing refers to."""
    definitions: Json = schema.get("$defs", {})
    root = resolved({key: value for key, value in schema.items() if key != "$defs"}, definitions)
    wanted: set[str] = set()
    waiting = [root]
    while waiting:
        for inner in subschemas(waiting.pop()):
            name = reference(inner)
            if name is not None and name in definitions and name not in wanted:
                wanted.add(name)
                waiting.append(definitions[name])
    kept = {name: definitions[name] for name in definitions if name in wanted}
    return root | ({"$defs": kept} if kept else {})


def inlined(schema: Json) -> Json:
    """The schema with every definition put where it is used.

    Raises:
        svir.ConfigError: A type contains itself; the text names it.
    """
    definitions: Json = schema.get("$defs", {})

    def put(inner: Json, inside: tuple[str, ...]) -> Json:
        name = reference(inner)
        if name in inside:
            raise ConfigError(f"{name} contains itself: its definition cannot be put where it is used")
        if name is not None and name in definitions:
            target = resolved({"$ref": inner["$ref"]}, definitions) | inner
            inner = {key: value for key, value in target.items() if key != "$ref"}
            inside = (*inside, name)
        choice: Json = inner.get("discriminator", {})
        if "mapping" in choice:  # it would point to definitions that are gone
            inner = {**inner, "discriminator": {"propertyName": choice["propertyName"]}}
        return mapped(inner, lambda one: put(one, inside))

    return put({key: value for key, value in schema.items() if key != "$defs"}, ())


def typed(schema: Json) -> Json:
    """The schema with a ``type`` beside each ``enum`` and ``const`` that has none."""
    schema = mapped(schema, typed)
    words: list[Any] = schema.get("enum", [schema["const"]] if "const" in schema else [])
    kinds = sorted({JSON_TYPES.get(word.__class__, "") for word in words})
    if not words or "type" in schema or "" in kinds:
        return schema
    said: Json = {key: schema[key] for key in ("title", "description") if key in schema}
    return {**said, "type": kinds[0] if len(kinds) == 1 else kinds, **schema}
