"""svir's values as fields of pydantic models, and so in a FastAPI application and its OpenAPI page.

1. A field takes a value, or its serialized form (``to_dict``); it is dumped in that form, in every mode.
2. The JSON Schema is read off the table of the form, so that it cannot say anything else.
3. A value without a serialized form (a client's limits) is taken as it is, and described as anything.
4. The form of an attachment may be a path, which is read when the request is sent. What a model is validated
   from often comes from strangers, who could have any file of the server sent: so a path in data is refused,
   unless the validation's context allows it. A value that a program made itself is taken as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import msgspec

from svir.errors import ConfigError
from svir.types._attachment import PathSource
from svir.types._forms import (
    BASE64,
    COUNT,
    FLAG,
    FREE,
    NUMBER,
    TEXT,
    WHOLE,
    Bare,
    Many,
    OneOf,
    Record,
    Word,
)
from svir.types._serde import FORMS, from_dict, to_dict

if TYPE_CHECKING:
    from svir.types._forms import Form
    from svir.types._refs import Json
    from svir.types._value import Value

__all__ = ["core_schema_of", "json_schema_of"]

DECISIONS = re.compile(r" \([A-Z]\d+(?:, [A-Z]\d+)*\)")
"""What a docstring's reader may look up, and an OpenAPI page's cannot."""

ALLOWS_PATHS = "svir_paths"
"""The key of pydantic's validation context that lets data name files."""

PLAIN: dict[int, Json] = {
    id(TEXT): {"type": "string"},
    id(FLAG): {"type": "boolean"},
    id(WHOLE): {"type": "integer"},
    id(COUNT): {"type": "integer", "minimum": 0},
    id(NUMBER): {"type": "number"},
    id(FREE): {"type": "object"},
    id(BASE64): {"type": "string", "contentEncoding": "base64"},
}
"""Forms of content that JSON has a type for; each is one object, known by being it."""


def core_schema_of(kind: type[Value]) -> Any:
    """What pydantic's core does with a value."""
    from pydantic_core import PydanticCustomError, PydanticSerializationUnexpectedValue, core_schema

    if kind not in FORMS:
        return core_schema.is_instance_schema(kind)

    def read(given: object, info: Any) -> object:
        if isinstance(given, kind):
            return given
        try:
            value = from_dict(kind, given)
        except ConfigError as error:
            problem = error.detail
        else:
            context = cast("dict[str, object]", info.context or {})
            if context.get(ALLOWS_PATHS) or not _names_a_file(value):
                return value
            problem = f"data may not name a file to read (unless context={{{ALLOWS_PATHS!r}: True}} says so)"
        raise PydanticCustomError("value_form", "{problem}", {"problem": problem})

    def write(value: object) -> object:
        if not isinstance(value, kind):  # a union tries its members one after the other
            raise PydanticSerializationUnexpectedValue(f"expected {kind.__name__}")
        return to_dict(value)

    return core_schema.with_info_plain_validator_function(
        read,
        ref=f"{kind.__module__}.{kind.__qualname__}:{id(kind)}",
        serialization=core_schema.plain_serializer_function_ser_schema(write),
    )


def _names_a_file(value: object) -> bool:
    if isinstance(value, PathSource):
        return True
    if isinstance(value, msgspec.Struct):
        return any(_names_a_file(getattr(value, name)) for name in value.__struct_fields__)
    return isinstance(value, tuple) and any(_names_a_file(item) for item in cast("tuple[object, ...]", value))


def json_schema_of(kind: type[Value]) -> Json:
    """The JSON Schema of a value's serialized form; of a value without one, any."""
    schema = _schema(FORMS[kind]) if kind in FORMS else {}
    summary = DECISIONS.sub("", (kind.__doc__ or "").partition("\n")[0])
    return {"title": kind.__name__, **({"description": summary} if summary else {}), **schema}


def _schema(form: Form) -> Json:
    match form:
        case Word(words=words):
            return {"type": "string", "enum": list(words)}
        case Many(form=inner):
            return {"type": "array", "items": _schema(inner)}
        case Bare(form=inner):
            return _schema(inner)
        case OneOf():
            options = _options(form)
            return options[0] if len(options) == 1 else {"anyOf": options}
        case Record():
            return _record(form)
        case _:
            return dict(PLAIN[id(form)])


def _options(form: OneOf) -> list[Json]:
    words: list[Json] = [{"type": "string", "enum": list(form.words)}] if form.words else []
    return words + [
        {"type": "object", "properties": {tag: _schema(inner)}, "required": [tag]}
        for tag, inner in form.kinds.items()
    ]


def _record(form: Record) -> Json:
    properties: Json = {}
    one_of: Json = {}
    for field in form.fields:
        if field.key:
            properties[field.key] = _schema(field.form)
        elif isinstance(field.form, OneOf):  # its tags stand among the record's own keys
            options = _options(field.form)
            for option in options:
                properties |= option["properties"]
            one_of = {"anyOf": [{"required": option["required"]} for option in options]}
    required = [
        field.key for field in form.fields if form.defaults[field.name] is msgspec.NODEFAULT and field.key
    ]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        **one_of,
    }
