"""Finding what cannot be written: text that is not Unicode, and values that are not JSON.

Encoding is fast because it does not look: it fails when it meets such a thing. Only then is the request
walked here, once, to say where the thing is, so that the error names a place and never the content.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from svir.errors import ConfigError, Error, UnsupportedError
from svir.types import (
    Image,
    Reasoning,
    Schema,
    Text,
    TextFile,
    ToolCall,
    ToolResult,
    UrlSource,
)
from svir.types._free import DEEPEST, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svir.types import Part, Request

__all__ = ["fault", "is_broken"]


def fault(request: Request) -> Error:
    """Why a request cannot be written as JSON: an error that names the first place that is at fault."""
    for place, value in _given(request):
        for where, problem in _faults(value, place, 0):
            kind = UnsupportedError if problem == NOT_UNICODE else ConfigError
            return kind(f"{where} {problem}")
    return ConfigError("the request cannot be written as JSON")


NOT_UNICODE = "is not valid Unicode: it has a lone surrogate"


def _given(request: Request) -> Iterator[tuple[str, object]]:
    """Everything of a request that is free text or free JSON, with its place."""
    yield "model", request.model
    yield "system", request.system
    for n, message in enumerate(request.messages):
        for m, part in enumerate(message.parts):
            for value in _texts(part):
                yield f"messages[{n}].parts[{m}]", value
    for n, tool in enumerate(request.tools):
        yield f"tools[{n}].name", tool.name
        yield f"tools[{n}].description", tool.description
        yield f"tools[{n}].input_schema", tool.input_schema
    if isinstance(request.response_format, Schema):
        yield "response_format.schema", request.response_format.schema
    for n, text in enumerate(request.stop or ()):
        yield f"stop[{n}]", text
    for name in ("max_tokens", "temperature", "top_p", "seed"):
        yield name, getattr(request, name)
    yield "extra", request.extra


def _texts(part: Part) -> tuple[str | None, ...]:
    match part:
        case Text(text) | Reasoning(_, text):
            return (text,)
        case Image(source):
            return (part.media_type, source.url if isinstance(source, UrlSource) else None)
        case TextFile():
            return (part.name,)
        case ToolCall(call_id, name, arguments):
            return (call_id, name, arguments)
        case ToolResult(call_id, content):
            return (call_id, content)


def _faults(value: object, place: str, depth: int) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            if is_broken(value):
                yield place, NOT_UNICODE
        case None | bool():
            pass
        case int():
            if _too_large(value):
                yield place, "is a number too large to be written"
        case float():
            if not math.isfinite(value):
                yield place, "is not a finite number, which JSON cannot say"
        case dict() | list() | tuple() if depth >= DEEPEST:
            yield place, "is nested too deeply"
        case dict():
            for key, inner in cast("dict[object, object]", value).items():
                if not isinstance(key, str):
                    yield place, f"has a key that is not text, but {type(key).__name__}"
                    return
                if is_broken(key):
                    yield f"a key of {place}", NOT_UNICODE
                yield from _faults(inner, within(place, key), depth + 1)
        case list() | tuple():
            for n, inner in enumerate(cast("list[object]", value)):
                yield from _faults(inner, within(place, n), depth + 1)
        case _:
            yield place, f"is not JSON, but {type(value).__name__}"


def is_broken(text: str) -> bool:
    """Whether a text is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _too_large(number: int) -> bool:
    try:
        str(number)
    except ValueError:  # more than sys.get_int_max_str_digits()
        return True
    return False
