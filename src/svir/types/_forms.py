"""The shapes that serialized values are made of: each writes one kind of content, and reads it back.

Reading takes data as JSON gives it, from anywhere: it raises ``ConfigError`` with the place where something
is not as it must be, and nothing else. Unknown keys are ignored. Free JSON (schemas, ``extra``) is copied, to
a bounded depth; everything else has one anyway.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from svir.errors import ConfigError
from svir.types._free import free_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

__all__ = [
    "BASE64",
    "COUNT",
    "FLAG",
    "FREE",
    "NUMBER",
    "OBJECT",
    "TEXT",
    "WHOLE",
    "Bare",
    "Field",
    "Form",
    "Many",
    "OneOf",
    "Record",
    "Word",
    "shown",
]


KINDS = {
    "dict": "an object",
    "list": "a list",
    "str": "a long text",
    "NoneType": "null",
    "bool": "a boolean",
    "int": "a number",
    "float": "a number",
}
"""What Python's types are called in JSON."""


class Form(Protocol):
    """How one kind of content is written and read."""

    def write(self, value: Any) -> object:
        """The content as JSON-able data."""
        ...

    def read(self, data: object, path: str) -> Any:
        """The content again; ``path`` says where the data is, for errors."""
        ...


def shown(data: object) -> str:
    """What was found, in a few characters; an address or a key may be in it, so never more than a word."""
    if (isinstance(data, str) and len(data) <= 40) or (_is_int(data) and abs(cast("int", data)) < 2**64):
        return repr(data)
    return KINDS.get(type(data).__name__, f"a {type(data).__name__}")


class _Plain:
    """Content that JSON has a type for."""

    def __init__(self, what: str, fits: Callable[[Any], bool]) -> None:
        self.what = what
        self.fits = fits

    def write(self, value: Any) -> object:
        return value

    def read(self, data: object, path: str) -> Any:
        if not self.fits(data):
            raise ConfigError(f"{path} must be {self.what}, not {shown(data)}")
        return data


class _Base64:
    """Bytes, as standard base64."""

    def write(self, value: Any) -> object:
        return binascii.b2a_base64(value, newline=False).decode()

    def read(self, data: object, path: str) -> Any:
        text = TEXT.read(data, path)
        try:
            return binascii.a2b_base64(text, strict_mode=True)
        except ValueError:
            pass  # raised below, without the foreign error, which may quote the text
        raise ConfigError(f"{path} is no base64")


class _Free:
    """Free JSON: an object whose content is the caller's."""

    def write(self, value: Any) -> object:
        return free_json(value, "free JSON in a value")

    def read(self, data: object, path: str) -> Any:
        return free_json(OBJECT.read(data, path), path)


def _is_int(data: object) -> bool:
    return isinstance(data, int) and not isinstance(data, bool)


def _is_object(data: object) -> bool:
    return isinstance(data, dict) and all(isinstance(key, str) for key in cast("dict[object, object]", data))


TEXT = _Plain("text", lambda data: isinstance(data, str))
FLAG = _Plain("true or false", lambda data: isinstance(data, bool))
WHOLE = _Plain("a whole number", _is_int)
COUNT = _Plain("a whole number from 0 on", lambda data: _is_int(data) and data >= 0)
NUMBER = _Plain("a number", lambda data: _is_int(data) or isinstance(data, float))
OBJECT = _Plain("an object with text keys", _is_object)
BASE64 = _Base64()
FREE = _Free()


class Word:
    """A word of a closed list; ``stored`` renames some for the serialized form."""

    def __init__(
        self, words: type[StrEnum] | tuple[str, ...], stored: Mapping[str, str] | None = None
    ) -> None:
        self.words: dict[str, str] = {str(word): word for word in words}
        self.stored = dict(stored or {})
        self.words |= {there: self.words[here] for here, there in self.stored.items()}

    def write(self, value: Any) -> object:
        return self.stored.get(value, str(value))

    def read(self, data: object, path: str) -> Any:
        if not isinstance(data, str) or data not in self.words:
            raise ConfigError(f"{path} must be one of {', '.join(self.words)}, not {shown(data)}")
        return self.words[data]


class Many:
    """Several of one form."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def write(self, value: Any) -> object:
        return [self.form.write(item) for item in value]

    def read(self, data: object, path: str) -> tuple[Any, ...]:
        if not isinstance(data, (list, tuple)):
            raise ConfigError(f"{path} must be a list, not {shown(data)}")
        items = cast("list[object]", data)
        return tuple(self.form.read(item, f"{path}[{n}]") for n, item in enumerate(items))


class Field:
    """A field of a record: left out when it is at its default, unless it is ``always`` written.

    A field with an empty key has its own keys among those of the record.
    """

    def __init__(self, name: str, form: Form, key: str | None = None, *, always: bool = False) -> None:
        self.name = name
        self.form = form
        self.key = name if key is None else key
        self.always = always


class Record:
    """A value as an object, with a key a field."""

    def __init__(self, kind: type[msgspec.Struct], *fields: Field) -> None:
        self.kind = kind
        self.fields = fields
        self.defaults = {field.name: field.default for field in msgspec.structs.fields(kind)}
        for field in msgspec.structs.fields(kind):
            if field.default_factory is not msgspec.NODEFAULT:
                self.defaults[field.name] = cast("Callable[[], object]", field.default_factory)()

    def write(self, value: Any) -> object:
        data: dict[str, object] = {}
        for field in self.fields:
            content = self.content(value, field.name)
            if not field.key:
                data |= cast("dict[str, object]", field.form.write(content))
            elif field.always or content != self.defaults[field.name]:
                data[field.key] = field.form.write(content)
        return data

    def content(self, value: Any, name: str) -> Any:
        """A field's content as it is to be written."""
        return getattr(value, name)

    def read(self, data: object, path: str) -> Any:
        given = OBJECT.read(data, path)
        read: dict[str, Any] = {}
        for field in self.fields:
            if not field.key:
                read[field.name] = field.form.read(given, path)
                continue
            default, there = self.defaults[field.name], given.get(field.key)
            if there is None and default is None:
                continue  # null says what a missing key says
            if field.key in given:
                read[field.name] = field.form.read(there, f"{path}.{field.key}")
            elif default is msgspec.NODEFAULT:
                raise ConfigError(f"{path}.{field.key} is missing")
        return self.made(read, path)

    def made(self, read: dict[str, Any], path: str) -> Any:
        """The value; what its constructor refuses gets a place."""
        return _made(self.kind, read, path)


class Bare:
    """A value of one field, as that field's content."""

    def __init__(self, kind: type[msgspec.Struct], name: str, form: Form) -> None:
        self.kind = kind
        self.name = name
        self.form = form

    def write(self, value: Any) -> object:
        return self.form.write(getattr(value, self.name))

    def read(self, data: object, path: str) -> Any:
        return _made(self.kind, {self.name: self.form.read(data, path)}, path)


class OneOf:
    """One of several kinds of values, as an object whose key is the kind's tag; or a bare word."""

    def __init__(self, what: str, kinds: Mapping[str, Bare | Record], words: tuple[str, ...] = ()) -> None:
        self.what = what
        self.kinds = dict(kinds)
        self.tags = {form.kind: tag for tag, form in kinds.items()}
        self.words = words

    def write(self, value: Any) -> object:
        if isinstance(value, str):
            return value
        tag = self.tags[type(value)]
        return {tag: self.kinds[tag].write(value)}

    def read(self, data: object, path: str) -> Any:
        if isinstance(data, str) and self.words:
            return Word(self.words).read(data, path)
        given = OBJECT.read(data, path)
        match [tag for tag in self.kinds if tag in given]:
            case [tag]:
                return self.kinds[tag].read(given[tag], f"{path}.{tag}")
            case []:
                found = shown(next(iter(given))) if given else "nothing"
                raise ConfigError(f"{path} has no known {self.what}, but {found}")
            case tags:
                raise ConfigError(f"{path} has more than one {self.what}: {', '.join(tags)}")

    def only(self, *kinds: type[msgspec.Struct]) -> OneOf:
        """The same, for some of the kinds."""
        return OneOf(self.what, {self.tags[kind]: self.kinds[self.tags[kind]] for kind in kinds})


def _made(kind: type[msgspec.Struct], read: dict[str, Any], path: str) -> Any:
    try:
        return kind(**read)
    except (ConfigError, TypeError, OverflowError) as error:
        problem = error.detail if isinstance(error, ConfigError) else "does not fit"
    raise ConfigError(f"{path}: {problem}")
