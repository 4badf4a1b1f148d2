"""A schema as strict servers demand it, or a refusal that names the place.

What OpenAI and Azure document for ``strict: true``, which others follow:

1. The root is an object. Every object lists all its properties as required and allows no others; so a
   property that has a default is always written, and one that may be None is written as null.
2. ``anyOf``, ``$ref`` (alone) and ``$defs`` are taken, recursion too; ``oneOf`` becomes ``anyOf``.
3. Keywords that only narrow or explain are left out when they are not taken: what comes back is checked by
   ``parse`` anyway. What would *widen* the answer, or cannot be said, is refused: a free-form dict, ``Any``,
   a tuple of different types.
"""

from __future__ import annotations

from typing import Any, cast

from svir.errors import ConfigError
from svir.types._refs import Json, reference, resolved, rooted

__all__ = ["strict_schema"]

KEPT = {
    *("type", "enum", "const", "description", "$ref"),
    *("pattern", "format"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems"),
}
FORMATS = {
    *("date-time", "time", "date", "duration"),
    *("email", "hostname", "ipv4", "ipv6", "uuid"),
}
REFUSED = {
    *("allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    *("patternProperties", "unevaluatedProperties", "unevaluatedItems", "contains"),
}
SAYS_SOMETHING = {"type", "enum", "const", "anyOf", "$ref"}


def strict_schema(schema: Json, name: str) -> Json:
    """The schema in the form that strict servers take.

    Args:
        schema: A schema whose root is no ``$ref``.
        name: The type's name, for the text of a refusal.

    Raises:
        svir.ConfigError: A strict server would refuse it.
    """
    definitions: Json = schema.get("$defs", {})
    writer = _Writer(definitions)
    root = writer.write({key: value for key, value in schema.items() if key != "$defs"}, name)
    if root.get("type") != "object":
        raise ConfigError(f"{name} is no object, which a strict server asks for: make it a field of a class")
    kept = {key: writer.write(one, key) for key, one in definitions.items()}
    return rooted(root | ({"$defs": kept} if kept else {}))


class _Writer:
    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions
        self._inside: list[str] = []  # definitions being copied

    def write(self, schema: object, place: str) -> Json:
        if not isinstance(schema, dict):
            raise _refusal(place, "anything")
        given = _plain(cast("Json", schema), place)
        if (name := reference(given)) is not None and len(given) > 1:
            return self._copied(name, given, place)
        new = {key: given[key] for key in given if key in KEPT}
        if new.get("format") not in FORMATS:
            new.pop("format", None)
        if "anyOf" in given:
            new["anyOf"] = [self.write(one, place) for one in given["anyOf"]]
        kinds = given.get("type", ())
        if "object" in kinds:
            self._object(given, new, place)
        if "array" in kinds:
            new["items"] = self.write(given.get("items"), f"{place}[]")
        if not SAYS_SOMETHING & new.keys():
            raise _refusal(place, "anything")
        return new

    def _copied(self, name: str, given: Json, place: str) -> Json:
        """A reference must stand alone: its words move into a copy of what it refers to.

        Inside that copy it stands alone, without them: a type that contains itself would have no end.
        """
        if name in self._inside:
            return {"$ref": given["$ref"]}
        self._inside.append(name)
        try:
            return self.write(resolved(given, self._definitions), place)
        finally:
            self._inside.pop()

    def _object(self, given: Json, new: Json, place: str) -> None:
        properties: Json | None = given.get("properties")
        if properties is None or given.get("additionalProperties", False) is not False:
            raise _refusal(place, "any keys")
        new["properties"] = {key: self.write(one, f"{place}.{key}") for key, one in properties.items()}
        new["required"] = list(properties)
        new["additionalProperties"] = False


def _plain(given: Json, place: str) -> Json:
    """The same said with the keywords that are taken; raises where that cannot be."""
    given = dict(given)
    if "oneOf" in given:
        given["anyOf"] = given.pop("oneOf")
    merged: list[Json] = given.get("allOf", [])
    if len(merged) == 1:  # how some say "this reference, with a description"
        del given["allOf"]
        given = merged[0] | given
    for key in given:
        if key in REFUSED:
            raise ConfigError(f"{place}: a strict server does not take {key}")
    if (places := given.get("prefixItems")) is not None:
        given["items"] = _common(places, given, place)
    return given


def _common(places: list[Any], given: Json, place: str) -> Json:
    """The one schema of all places of a tuple, which then is a list of so many."""
    kinds: list[Json] = [{key: one[key] for key in one if key != "default"} for one in places]
    if any(kind != kinds[0] for kind in kinds) or given.get("maxItems") != len(places):
        raise ConfigError(
            f"{place} is a tuple of different types, which a strict server does not take: use a class"
        )
    return kinds[0]


def _refusal(place: str, what: str) -> ConfigError:
    return ConfigError(
        f"{place} takes {what}, which a strict server does not: say what it holds, or leave strict out"
    )
