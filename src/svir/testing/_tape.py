"""What is on a cassette: requests and their answers, as one JSON file that people read and review.

1. The file is ASCII. A body that is text is a list of its lines, so that a change to it is a change of lines.
2. Of a request only method, path and body are kept, of an answer status, headers and body. The request's
   headers and query, which hold keys, are never written.
3. A body is kept as JSON when that is short, else as the SHA-256 of what it says: two bodies that differ in
   the order of keys or in blanks are the same.
4. Reading takes anything, and raises ``ConfigError`` with the place where something is wrong.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, cast

import msgspec

from svir.codec._fault import Fault
from svir.codec._json import is_array, is_object, parse, too_deep
from svir.errors import ConfigError
from svir.types._forms import BASE64, COUNT, TEXT, Field, Form, Many, Record, Word, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Answer", "Asked", "Exchange", "asked", "difference", "read_tape", "write_tape"]

VERSION = 1
ENDS = ("whole", "cut", "reset", "broken", "left")
"""How an answer ended: whole; cut short; by a broken connection; in bytes that are no HTTP; or it was left by
the client before it ended."""

LONGEST_BODY = 64 * 1024
"""Bytes of a request's body that are kept as JSON; an image is not something to review."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


class Asked(msgspec.Struct, frozen=True):
    """What identifies a request.

    Attributes:
        method: ``GET`` or ``POST``.
        path: Without the query.
        body: What the body says, when it is kept.
        sha256: Of what the body says, when it is not; None for both when there is no body.
    """

    method: str
    path: str
    body: object = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        if self.sha256 is not None and not _DIGEST.fullmatch(self.sha256):
            raise ConfigError("sha256 must be 64 of 0-9 and a-f")

    @property
    def key(self) -> tuple[str, str, str | None]:
        """Equal for requests that are the same."""
        digest = self.sha256 if self.body is None else _digest(_canonical(self.body))
        return self.method, self.path, digest


class Answer(msgspec.Struct, frozen=True):
    """A response as it was read.

    Attributes:
        status: Its status.
        headers: Its headers, names in lower case, but for those that are withheld.
        body: Its body, without HTTP's framing, as far as it was read.
        end: How it ended; one of ``ENDS``.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    end: str = "whole"

    def __post_init__(self) -> None:
        if not 200 <= self.status <= 999:
            raise ConfigError("status must be a final status of HTTP")


class Exchange(msgspec.Struct, frozen=True):
    """A request and its answer."""

    request: Asked
    response: Answer


class _Tape(msgspec.Struct, frozen=True):
    version: int
    exchanges: tuple[Exchange, ...]


class _Json:
    """Anything, as JSON has it; a number beyond all floats is read as null, as it is from a request."""

    def write(self, value: Any) -> object:
        return value

    def read(self, data: object, path: str) -> Any:
        del path
        return json.loads(_canonical(data))


class _Pair:
    """A header field: its name and its value."""

    def write(self, value: Any) -> object:
        return list(value)

    def read(self, data: object, path: str) -> Any:
        pair = Many(TEXT).read(data, path)
        if len(pair) != 2:
            raise ConfigError(f"{path} must be a name and a value, not {len(pair)} texts")
        return (pair[0].lower(), pair[1])


class _Body:
    """Bytes: under ``text`` the lines of those that are UTF-8, under ``base64`` any others."""

    def write(self, value: Any) -> object:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return {"base64": BASE64.write(value)}
        return {"text": _LINES.findall(text)}

    def read(self, data: object, path: str) -> Any:
        given = cast("dict[str, object]", data)
        if "text" in given:
            lines = cast("tuple[str, ...]", Many(TEXT).read(given["text"], f"{path}.text"))
            return "".join(lines).encode()
        if "base64" in given:
            return BASE64.read(given["base64"], f"{path}.base64")
        raise ConfigError(f"{path} has neither text nor base64")


JSON: Form = _Json()
ASKED = Record(Asked, Field("method", TEXT), Field("path", TEXT), Field("body", JSON), Field("sha256", TEXT))
ANSWER = Record(
    Answer,
    Field("status", COUNT),
    Field("headers", Many(_Pair()), always=True),
    Field("end", Word(ENDS), always=True),
    Field("body", _Body(), ""),
)
TAPE = Record(
    _Tape,
    Field("version", COUNT, "svir_cassette"),
    Field("exchanges", Many(Record(Exchange, Field("request", ASKED), Field("response", ANSWER)))),
)


def asked(method: str, path: str, content: bytes, secrets: Iterable[str] = ()) -> Asked:
    """What identifies a request; a body that holds a secret is not kept, only its digest.

    Example:
        >>> asked("POST", "/v1/x", b'{"model": "m"}').body
        {'model': 'm'}
    """
    if not content:
        return Asked(method, path)
    try:
        said = parse(content, strict=True)
    except (ValueError, Fault):
        return Asked(method, path, sha256=_digest(content))
    canonical = _canonical(said)
    # The file nests the body, and may itself be no deeper than JSON is read.
    deep = too_deep(b"[" * 8 + content + b"]" * 8)
    if said is None or deep or len(content) > LONGEST_BODY or any(s.encode() in content for s in secrets):
        return Asked(method, path, sha256=_digest(canonical))
    return Asked(method, path, json.loads(canonical))


def write_tape(exchanges: Iterable[Exchange]) -> bytes:
    """The file of some exchanges."""
    data = TAPE.write(_Tape(VERSION, tuple(exchanges)))
    return json.dumps(data, indent=1, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def read_tape(data: bytes) -> tuple[Exchange, ...]:
    """The exchanges of a file.

    Raises:
        svir.ConfigError: It is no cassette; the error says where.

    Example:
        >>> read_tape(b'{"svir_cassette": 1, "exchanges": [{"request": {"method": "GET"}}]}')
        Traceback (most recent call last):
        svir.errors.ConfigError: the configuration is invalid: $.exchanges[0].request.path is missing
    """
    problem = "it is no JSON"
    try:
        value = parse(data, strict=True)
    except ValueError:
        value = None
    except Fault as fault:
        value, problem = None, fault.what
    if value is None:
        raise ConfigError(problem)
    version: object = value.get("svir_cassette") if is_object(value) else None
    if version != VERSION or isinstance(version, bool):
        raise ConfigError(f"$.svir_cassette must be {VERSION}, not {shown(version)}")
    exchanges: tuple[Exchange, ...] = TAPE.read(value, "$").exchanges
    return exchanges


def difference(one: object, other: object, place: str = "$") -> str | None:
    """Where two JSON values first differ; None when they do not.

    Example:
        >>> difference({"a": [1, 2]}, {"a": [1, 3]})
        '$.a[1]'
    """
    if is_object(one) and is_object(other):
        for key in [*one, *(key for key in other if key not in one)]:
            if key not in one or key not in other:
                return f"{place}.{key}"
            if found := difference(one[key], other[key], f"{place}.{key}"):
                return found
        return None
    if is_array(one) and is_array(other):
        for n, (ours, theirs) in enumerate(zip(one, other, strict=False)):
            if found := difference(ours, theirs, f"{place}[{n}]"):
                return found
        return None if len(one) == len(other) else f"{place}[{min(len(one), len(other))}]"
    return None if type(one) is type(other) and one == other else place


def _canonical(value: object) -> bytes:
    """The same for every way of writing the same; numbers that JSON cannot say become null."""
    return msgspec.json.encode(value, order="sorted")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
