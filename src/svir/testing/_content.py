"""What a reply sends: a head, pieces, and a tail, each as bytes on the wire.

1. A stream goes out in HTTP chunks, one a piece, so that a cut between two pieces is a body cut short.
2. Anything else has a ``content-length``. Both keep the connection open, unless the test says otherwise.
3. Raw bytes are sent as they are. What then becomes of the connection is judged by the parser svir itself
   uses: it stays open only when another request could follow on it.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from svir.errors import ConfigError
from svir.http import Headers, HttpRequest, Origin
from svir.openai.chat._script import answer_events, write_events, write_models
from svir.types import ModelInfo
from svir.types._value import check, check_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from svir.http._connection import Connection
    from svir.types import Event, FinishReason, ToolCall, Usage

__all__ = ["Content", "answer", "body_content", "listing", "probe", "raw_content", "read_file"]

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

_EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of one response.

    Attributes:
        pieces: The body, in the pieces it is sent in; for a stream, events.
        media_type: Its ``content-type``; None for raw bytes, which have no head of ours.
        head: The status line and the headers, with the blank line.
        tail: What ends the body.
        closes: Whether the connection is ended after it.
    """

    pieces: tuple[bytes, ...]
    media_type: str | None = None
    head: bytes = b""
    tail: bytes = b""
    closes: bool = False

    @property
    def chunked(self) -> bool:
        """Whether the body goes out in HTTP chunks."""
        return self.media_type == EVENT_STREAM

    def framed(self, piece: bytes) -> bytes:
        """A piece as it goes over the wire."""
        return b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece

    def with_head(self, status: int, headers: Mapping[str, str]) -> Content:
        """The same, with its head; raw bytes stay as they are."""
        check(status, int, "status")
        if not 200 <= status <= 599:
            raise ConfigError("a scripted status must be from 200 to 599")
        added = {_checked(name, value): value for name, value in headers.items()}
        if self.media_type is None:
            return self
        size = sum(map(len, self.pieces))
        framing = {"transfer-encoding": "chunked"} if self.chunked else {"content-length": str(size)}
        fields = {"content-type": self.media_type} | framing | added
        lines = [
            f"HTTP/1.1 {status} {_phrase(status)}",
            *(f"{name}: {value}" for name, value in fields.items()),
        ]
        return msgspec.structs.replace(
            self,
            head="\r\n".join([*lines, "", ""]).encode("latin-1"),
            tail=b"0\r\n\r\n" if self.chunked else b"",
            closes="close" in added.get("connection", "").lower(),
        )


def answer(
    events: Iterable[Event] | None,
    text: str,
    reasoning: str,
    calls: Iterable[ToolCall],
    *,
    usage: Usage | None,
    finish: FinishReason | str | None,
) -> Content:
    """An answer in events."""
    check_text(text, "text")
    check_text(reasoning, "reasoning")
    told = answer_events(text, reasoning, calls) if events is None else events
    return Content(pieces=tuple(write_events(told, usage=usage, finish=finish)), media_type=EVENT_STREAM)


def listing(models: Iterable[str | ModelInfo]) -> Content:
    """A listing of models."""
    whole = [ModelInfo(model) if isinstance(model, str) else model for model in models]
    return Content(pieces=(write_models([(model.id, model.name) for model in whole]),), media_type=JSON)


def body_content(body: object, status: int) -> Content:
    """A plain body: text, bytes, or JSON."""
    if body is None and status >= 400:
        body = {
            "error": {"message": f"scripted: {status} {_phrase(status)}", "type": "scripted", "code": None}
        }
    match body:
        case None:
            return Content(pieces=(), media_type=JSON)
        case bytes():
            return Content(pieces=(body,), media_type="application/octet-stream")
        case str():
            return Content(pieces=(_encoded(body),), media_type="text/plain; charset=utf-8")
        case _:
            return Content(pieces=(_encoded(body),), media_type=JSON)


def raw_content(raw: bytes | Iterable[bytes]) -> Content:
    """Bytes as they are."""
    pieces = (raw,) if isinstance(raw, bytes) else tuple(raw)
    for piece in pieces:
        check(cast("object", piece), bytes, "raw")
    parser = probe()
    parser.receive(b"".join(pieces))
    return Content(pieces=pieces, closes=not parser.reusable)


def read_file(file: str | os.PathLike[str]) -> Content:
    """A recording: the body of a stream, or a whole response."""
    path = Path(file)
    if path.suffix not in {".sse", ".http"}:
        raise ConfigError("a recording's name must end in .sse (a stream's body) or .http (a whole response)")
    try:
        data = path.read_bytes()
    except OSError as error:
        problem = error.strerror or "it cannot be read"
    else:
        if path.suffix == ".http":
            return raw_content(data)
        return Content(pieces=tuple(_EVENT.findall(data)), media_type=EVENT_STREAM)
    raise ConfigError(f"the recording {path.name} cannot be read: {problem}")


def probe() -> Connection:
    """The client's own parser of responses, for a request that has nothing to say."""
    from svir.http._connection import Connection

    request = HttpRequest(method="GET", origin=Origin("http", "127.0.0.1", 80), target="/", headers=Headers())
    connection = Connection(request)
    connection.end()
    return connection


def _encoded(body: object) -> bytes:
    try:
        return body.encode() if isinstance(body, str) else msgspec.json.encode(body)
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError, RecursionError):
        pass
    raise ConfigError("body= is not valid Unicode, or nothing that JSON can say")


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "Scripted"


def _checked(name: str, value: str) -> str:
    """A header's name in lower case; what HTTP cannot carry is refused."""
    check_text(name, "a header's name")
    check_text(value, "a header's value")
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise ConfigError(f"the header {name!r} has characters that HTTP does not allow")
    if name.lower() in {"content-length", "transfer-encoding"}:
        raise ConfigError(f"the header {name} frames the body: send raw bytes to get it wrong")
    return name.lower()
