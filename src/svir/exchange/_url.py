"""The base URL: what is accepted, and where requests go.

1. With or without ``/v1`` and trailing slashes; a path before that is kept. ``http`` and ``https`` only.
2. Credentials, a query and a fragment are refused (P4): keys and queries have options of their own, which are
   redacted. No error text repeats the URL, which may hold one.
3. Plain HTTP goes to loopback only, unless the caller allows more. Loopback is told by its usual spellings;
   another spelling of the same address is refused with the usual one named, so that a typing error never
   looks like a remote host, nor the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from svir.errors import ConfigError
from svir.http._seam import Origin
from svir.types._value import check, check_text

__all__ = ["Base", "as_query", "check_path", "parse_base"]

PORTS = {"http": 80, "https": 443}

URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)")
AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
# RFC 3986 pchar and "/": what may stand in a path as it is.
PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*")
QUERY = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*")
DOTTED_LOOPBACK = re.compile(r"127(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}")
# What inet_aton and some resolvers read as an IPv4 address: numbers of base 8, 10 or 16, one to four of them.
NUMBER = r"(?:0[xX][0-9A-Fa-f]{0,32}|[0-9]{1,32})"
NUMERIC_HOST = re.compile(rf"{NUMBER}(?:\.{NUMBER}){{0,3}}\.?")


class Base(msgspec.Struct, frozen=True):
    """Where a server's API begins.

    Attributes:
        origin: The server.
        prefix: The path before ``/v1``.
        path: The whole path, ``/v1`` included if it was given; what a caller's own ``path=`` is joined to.
    """

    origin: Origin
    prefix: str
    path: str


def parse_base(url: str, *, allow_http: bool) -> Base:
    """Reads a base URL.

    Raises:
        svir.ConfigError: The URL is not accepted; the text says why, and never repeats it.
    """
    match = URL.fullmatch(url)
    if match is None or match["scheme"].lower() not in PORTS:
        raise ConfigError("the URL must begin with http:// or https://, and hold no line breaks")
    scheme, authority, path = match["scheme"].lower(), match["authority"], match["path"]
    if match["rest"].startswith("?"):
        raise ConfigError("the URL has a query; give it with query=, where it is kept out of logs")
    if match["rest"]:
        raise ConfigError("the URL has a fragment")
    if "@" in authority:
        raise ConfigError("the URL has credentials; give the key with api_key=")
    parts = AUTHORITY.fullmatch(authority)
    if parts is None:
        raise ConfigError("the URL's host or port is not valid (host names are ASCII)")
    port = int(parts["port"]) if parts["port"] else PORTS[scheme]
    if not 0 < port < 65536:
        raise ConfigError("the URL's port must be between 1 and 65535")
    if PATH.fullmatch(path) is None:
        raise ConfigError("the URL's path holds a character that must be percent-encoded")
    if path.rstrip("/").endswith("/chat/completions"):
        raise ConfigError("the URL ends in /chat/completions, which svir adds: leave it out, or use path=")
    host = _six(parts["six"]) if parts["six"] else parts["name"].lower()
    if scheme == "http" and not allow_http:
        _require_loopback(host)
    path = path.rstrip("/")
    prefix = path[:-3].rstrip("/") if path.endswith("/v1") else path
    return Base(Origin(scheme, host, port), prefix, path)


def _six(text: str) -> str:
    from ipaddress import IPv6Address  # slow to import, and few URLs have one

    try:
        IPv6Address(text)
    except ValueError:
        pass
    else:
        return text.lower()
    raise ConfigError("the URL's IPv6 address is not valid")


def _require_loopback(host: str) -> None:
    if host == "localhost" or host.endswith(".localhost") or host == "::1" or DOTTED_LOOPBACK.fullmatch(host):
        return
    if host.startswith("::ffff:") and DOTTED_LOOPBACK.fullmatch(host[7:]):
        return
    if usual := _usual_spelling(host):
        raise ConfigError(f"plain HTTP to loopback in an unusual spelling: write {usual}")
    raise ConfigError(
        "plain HTTP to a host that is not loopback: use https, or allow_http=True on a trusted network"
    )


def _usual_spelling(host: str) -> str | None:
    """How a loopback address is usually written, when this is one."""
    if host == "localhost.":
        return "localhost"
    if ":" in host:
        from ipaddress import IPv6Address

        address = IPv6Address(host)
        if (four := address.ipv4_mapped) is not None:  # asked first: Python 3.13 calls these loopback, too
            return _usual_four(int(four))
        return "[::1]" if address.is_loopback else None
    if not NUMERIC_HOST.fullmatch(host):
        return None
    numbers = [_number(text) for text in host.rstrip(".").split(".")]
    value = numbers[-1] + sum(n << 24 - 8 * place for place, n in enumerate(numbers[:-1]))
    return _usual_four(value)


def _number(text: str) -> int:
    if text[:2] in {"0x", "0X"}:
        return int(text[2:] or "0", 16)
    octal = len(text) > 1 and text[0] == "0" and set(text) <= set("01234567")
    return int(text, 8 if octal else 10)


def _usual_four(value: int) -> str | None:
    return ".".join(map(str, value.to_bytes(4, "big"))) if value >> 24 == 127 else None


def check_path(path: str) -> str:
    """A path the caller gave, checked: it is joined as it is.

    Raises:
        svir.ConfigError: It does not start with ``/``, or holds something that must be percent-encoded.
        TypeError: It is no string.
    """
    check_text(path, "path")
    if not path.startswith("/") or PATH.fullmatch(path) is None:
        raise ConfigError("path= must start with / and hold no characters that must be percent-encoded")
    return path


def as_query(query: str | Mapping[str, str] | None) -> str:
    """A query the caller gave, without its ``?``: a string as it is, a mapping percent-encoded.

    Raises:
        svir.ConfigError: It holds something that must be percent-encoded, or is not valid Unicode.
        TypeError: It is neither, or a mapping of something else than strings.
    """
    if query is None:
        return ""
    check(query, (str, Mapping), "query")
    if not isinstance(query, str):
        return "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query.items())
    if QUERY.fullmatch(query) is None:
        raise ConfigError("query= holds a character that must be percent-encoded")
    return query.removeprefix("?")


def _quoted(text: str) -> str:
    check_text(text, "a name or value of query")
    try:
        from urllib.parse import quote

        return quote(text, safe="")
    except UnicodeEncodeError:
        pass  # it holds the text, so ours is raised outside the handler
    raise ConfigError("query= holds text that is not valid Unicode")
