"""JSON from a server that may mean no good.

1. Text nested deeper than 128 levels is refused before it is parsed: a parser's own limit depends on the
   stack of its caller.
2. Numbers may have any size; those nobody can count with become infinite: a number is never taken for none.
3. Every text that comes out is valid Unicode.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeGuard

import msgspec

from svir.codec._fault import Fault
from svir.errors import ProtocolError

__all__ = ["MAX_DEPTH", "is_array", "is_object", "parse", "too_deep"]

MAX_DEPTH = 128
"""Deepest nesting that is read."""

MOST_DIGITS = 640
"""Digits of an integer that Python converts whatever its limit on that is set to."""

_loads = msgspec.json.Decoder().decode

# Strings, also one that never ends: matched whole and never again, so that counting brackets is linear.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
# Escapes: a surrogate pair, a lone surrogate, any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def parse(data: bytes, *, strict: bool) -> Any:
    """The value of JSON text.

    Args:
        data: The text; in lenient mode bytes that are no UTF-8, and lone surrogates, become U+FFFD.
        strict: Whether those make it invalid instead.

    Raises:
        ValueError: It is no JSON.
        Fault: It is nested deeper than 128 levels (a parser's own limit depends on its caller's stack), or
            that stack is nearly used up.
    """
    if not strict and not data.isascii():
        data = data.decode("utf-8", "replace").encode()
    if too_deep(data):
        raise Fault(ProtocolError, f"JSON nested deeper than {MAX_DEPTH} levels")
    if not strict:
        data = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)
    try:
        try:
            return _loads(data)
        except msgspec.ValidationError:
            return _loads_any_number(data)  # a number too large for the parser, which is JSON all the same
    except RecursionError:
        pass  # told below: skipped as no JSON, a part of the answer would be lost
    raise Fault(ProtocolError, "an event that the caller's stack leaves no room to read")


def too_deep(data: bytes) -> bool:
    """Whether JSON text is nested deeper than 128 levels."""
    if len(data) <= 2 * MAX_DEPTH or data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for byte in _STRING.sub(b"", data).translate(None, _NO_BRACKETS):
        depth += 1 if byte in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _loads_any_number(data: bytes) -> Any:
    """JSON with numbers of any size."""
    if any(found[1] for found in _ESCAPE.finditer(data)):
        raise ValueError("a lone surrogate")
    return json.loads(
        data.decode(),
        parse_int=lambda digits: int(digits) if len(digits) <= MOST_DIGITS else float(digits),
        parse_float=float,
        parse_constant=_no_constant,
    )


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)
