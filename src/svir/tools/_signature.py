"""A tool from a function: its signature, hints and docstring say all that a model needs (D18).

What cannot be described is refused when it is added, with the parameter named: a schema that is wrong in
silence would only show in what a model does.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, cast

import msgspec

from svir.errors import ConfigError
from svir.tools._arguments import Named, Parameter, Whole, reader_of
from svir.tools._docstring import read_docstring
from svir.tools._handler import Handler, check_function
from svir.tools._hints import description_of, resolved, underlying, with_limits
from svir.tools._injected import is_injected, mentions_injected
from svir.tools._json import json_text
from svir.types import Tool
from svir.types._schema import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["described", "with_tool"]

EMPTY = inspect.Parameter.empty

REFUSED: dict[object, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*{0}: a model can only give parameters by their names",
    inspect.Parameter.VAR_KEYWORD: "**{0}: a model can only give parameters that are described",
    inspect.Parameter.POSITIONAL_ONLY: "parameter {0}: a model can only give parameters by their names",
}
"""Kinds of parameters that no schema describes."""

RESERVED = {"concurrency"}
"""Keywords of ``acall_all``, where injected values are given too."""


def described(
    function: Callable[..., object], *, name: str | None, description: str | None, lax: bool
) -> Handler:
    """The tool that a function is.

    Raises:
        svir.ConfigError: It cannot be described.
        TypeError: It is no function.
    """
    check_function(function)
    name = _name(function) if name is None else name
    said, parameters_said = read_docstring(underlying(function).__doc__, name)
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    readers: list[Parameter] = []
    injected: dict[str, bool] = {}
    for parameter in _parameters(function, name):
        where = f"tool {name}, parameter {parameter.name}"
        if problem := REFUSED.get(parameter.kind):
            raise ConfigError(f"tool {name}, {problem.format(parameter.name)}")
        hint = _hint(parameter, function, where)
        if is_injected(hint):
            injected[parameter.name] = parameter.default is EMPTY
            continue
        if type(parameter.default).__name__ == "FieldInfo":
            raise ConfigError(f"{where}: Field(...) belongs in Annotated[...], and a default after the =")
        schema, read = _described(hint, where, lax=lax)
        _define(definitions, schema, hint)
        required = parameter.default is EMPTY
        if not required and (default := _default(parameter.default)):
            schema["default"] = default[0]
        words = description_of(hint) or parameters_said.get(parameter.name)
        properties[parameter.name] = ({"description": words} if words else {}) | {
            key: value for key, value in schema.items() if not (words and key == "description")
        }
        readers.append(Parameter(parameter.name, read, required, _choices(with_limits(hint))))
    input_schema: dict[str, object] = {"type": "object", "properties": properties}
    if names := [reader.name for reader in readers if reader.required]:
        input_schema["required"] = names
    if definitions:
        input_schema["$defs"] = definitions
    tool = Tool(name, said if description is None else description, input_schema)
    return Handler(tool, function, Named(readers), injected)


def with_tool(tool: Tool, function: Callable[..., object], *, lax: bool) -> Handler:
    """A handler for a tool that is described already; it takes the arguments as one value.

    Raises:
        svir.ConfigError: It takes none or more than one, or its type cannot be read.
        TypeError: It is no function.
    """
    check_function(function)
    name = tool.name
    injected: dict[str, bool] = {}
    hint: Any = None
    for parameter in _parameters(function, name):
        where = f"tool {name}, parameter {parameter.name}"
        own = EMPTY if parameter.annotation is EMPTY else _hint(parameter, function, where)
        if is_injected(own):
            injected[parameter.name] = parameter.default is EMPTY
        elif hint is None and parameter.kind <= inspect.Parameter.VAR_POSITIONAL:
            hint = dict[str, Any] if own is EMPTY else own
        elif parameter.default is EMPTY and parameter.kind not in VARIADIC:
            raise ConfigError(f"{where}: a handler beside a Tool takes the arguments as its one parameter")
    if hint is None:
        raise ConfigError(f"tool {name}: a handler beside a Tool takes the arguments as its one parameter")
    _, read = _described(hint, f"tool {name}, its arguments", lax=lax)
    return Handler(tool, function, Whole(read), injected)


VARIADIC = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _name(function: object) -> str:
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise ConfigError("a tool needs a name: give name=")
    return name


def _parameters(function: Callable[..., object], name: str) -> list[inspect.Parameter]:
    """All parameters but those that a ``functools.partial`` has given by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, NameError) as error:  # a builtin; an annotation, from Python 3.14 on
        problem = str(error)
    else:
        given = function.keywords if isinstance(function, functools.partial) else {}
        return [parameter for parameter in parameters if parameter.name not in given]
    raise ConfigError(f"tool {name}: its signature cannot be read: {problem}")


def _hint(parameter: inspect.Parameter, function: object, where: str) -> Any:
    if parameter.annotation is EMPTY:
        raise ConfigError(f"{where} has no type annotation")
    hint = resolved(parameter.annotation, function, where)
    if not is_injected(hint):
        if mentions_injected(hint):
            raise ConfigError(f"{where}: Injected[...] must be the whole annotation, with any union inside")
    elif parameter.name in RESERVED:
        raise ConfigError(f"{where}: an injected parameter cannot have this name")
    return hint


def _described(hint: Any, where: str, *, lax: bool) -> tuple[dict[str, Any], Callable[[bytes], object]]:
    """A type's schema and what reads it: without one of the two it is refused."""
    try:
        limited = with_limits(hint)
        return schema_of(limited), reader_of(limited, lax=lax)
    except ConfigError as error:
        problem = error.detail
    except (TypeError, ValueError) as error:
        problem = str(error).partition("\n")[0]
    raise ConfigError(f"{where} cannot be described: {problem}")


def _default(value: object) -> tuple[object, ...]:
    """A default as JSON data, in a tuple; an empty one when it is none, and then goes unmentioned."""
    try:
        return (msgspec.json.decode(json_text(value)),)
    except Exception:  # noqa: BLE001 (whatever the value's own type does)
        return ()


def _choices(hint: Any) -> tuple[object, ...]:
    """The values of a Literal or an enum, and None where it may be."""
    try:
        info = msgspec.inspect.type_info(hint)
    except TypeError:  # a type of pydantic's
        return ()
    found: list[object] = []
    for part in info.types if isinstance(info, msgspec.inspect.UnionType) else (info,):
        match part:
            case msgspec.inspect.LiteralType(values):
                found += values
            case msgspec.inspect.EnumType(kind):
                found += kind
            case msgspec.inspect.NoneType():
                found.append(None)
            case _:
                return ()
    return tuple(found)


def _define(definitions: dict[str, Any], schema: dict[str, Any], hint: Any) -> None:
    """Moves a parameter's definitions to those of the tool; what two parameters call the same is inlined."""
    own = cast("dict[str, Any]", schema.pop("$defs", {}))
    if any(definitions.get(name, one) != one for name, one in own.items()):
        schema.clear()
        schema |= schema_of(with_limits(hint), inline=True)
    else:
        definitions |= own
