"""Headers a caller or a layer adds to a request: what they may be (D38)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from svir.errors import ConfigError
from svir.http._seam import Headers
from svir.types._value import check, check_text

__all__ = ["RESERVED", "TOKEN", "checked_headers"]

# D38: what svir or HTTP itself writes is not for a caller to set.
RESERVED = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "expect"}
    | {"host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade", "user-agent"}
)
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
FIELD_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?")  # no control characters; ASCII


def checked_headers(given: Mapping[str, str], key_header: str | None = None) -> Headers:
    """D38: added headers, names lowercase; an error names the header, never its value.

    Raises:
        svir.ConfigError: A name or a value is not valid, or the header is svir's own or the key's.
        TypeError: They are no mapping of texts.
    """
    check(given, Mapping, "headers")
    fields: dict[str, str] = {}
    for name, value in given.items():
        check_text(name, "a header's name")
        check_text(value, "a header's value")
        lower = name.lower()
        if TOKEN.fullmatch(name) is None:
            raise ConfigError("a header's name is not valid")
        if lower in RESERVED or lower == key_header:
            raise ConfigError(f"the header {lower} is written by svir and cannot be set")
        if FIELD_VALUE.fullmatch(value) is None:
            raise ConfigError(
                f"the value of the header {lower} must be printable ASCII without surrounding blanks"
            )
        fields[lower] = value
    return Headers(list(fields.items()))
