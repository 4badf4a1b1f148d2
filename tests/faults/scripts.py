"""From the words of a row to the acts of a server.

Bytes are written as text, in which ``<name>`` stands for a piece of ``pieces.json`` (which may name others).
Where a place takes bytes it takes a text, or a list of texts and of these:

- ``{"chunk": bytes}``: as one chunk of a chunked body.
- ``{"sized": bytes, "off": n}``: as the body of an answer whose head gives its length, n too many; ``status``
  and ``type`` are other ones than ``200 OK`` and an event stream.
- ``{"gzip": bytes}``: packed; ``{"times": n, "of": bytes}``: so many times
- ``{"first": bytes, "less": bytes}``: the one without the other at its end.
"""

from __future__ import annotations

import gzip
import json
import re
import ssl
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.faults import acts
from tests.support import loopback

PIECES: dict[str, Any] = json.loads((Path(__file__).parent / "pieces.json").read_text("ascii"))
NAME = re.compile(r"<([a-z][a-z 0-9-]*)>")
SIZED = "HTTP/1.1 {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n"

ENDS = (
    loopback.Cut,
    loopback.Reset,
    loopback.Gone,
    acts.Flood,
    acts.HalfClose,
    acts.Deaf,
    acts.Sip,
    acts.Drip,
)
"""Acts that end a script: after any other one the client is waited for, or served."""


def data_of(written: Any) -> bytes:
    """The bytes that a row writes down."""
    if isinstance(written, str):
        return NAME.sub(lambda found: piece(found[1]), written).encode("latin-1")
    if isinstance(written, list):
        return b"".join(map(data_of, written))
    match written:
        case {"chunk": inner}:
            data = data_of(inner)
            return b"%x\r\n%s\r\n" % (len(data), data)
        case {"sized": inner, **more} if more.keys() <= {"off", "status", "type"}:
            data = data_of(inner)
            kind = more.get("type", "text/event-stream")
            return (
                SIZED.format(more.get("status", "200 OK"), kind, len(data) + more.get("off", 0)).encode()
                + data
            )
        case {"gzip": inner}:
            return packed(data_of(inner))
        case {"first": whole, "less": rest}:
            return data_of(whole).removesuffix(data_of(rest))
        case {"times": count, "of": inner}:
            return data_of(inner) * count
    raise AssertionError(f"bytes cannot be written as {written}")


@cache
def packed(data: bytes) -> bytes:
    """What is slow to make, once."""
    return gzip.compress(data, mtime=0)


@cache
def piece(name: str) -> str:
    """A piece, as text of Latin-1."""
    return data_of(PIECES[name]).decode("latin-1")


class Stage:
    """What the acts of one row share.

    Args:
        contexts: Gives the server's side of TLS by the name of its certificate.
        upstream: The server behind the network, if the row is about that.
    """

    def __init__(
        self, contexts: Callable[[str], ssl.SSLContext], upstream: tuple[str, int] | None = None
    ) -> None:
        self.contexts = contexts
        self.upstream = upstream
        self.over = threading.Event()
        """Set when the first call is over."""
        self.idled = threading.Event()
        """Set when everything was done that happens between the calls."""

    def script(self, written: list[Any], *, then: list[loopback.Act]) -> acts.Script:
        """The acts of the first connection.

        Args:
            written: As in the row.
            then: What follows when the server is still there.
        """
        performed = [self.act(one) for one in written]
        between = "idle" in written
        if between and isinstance(performed[-1], ENDS):
            performed = [*performed[:-1], *around(performed[-1], self.idled)]
        elif between:
            performed.append(loopback.Signal(self.idled))
        if not isinstance(performed[-1], ENDS):
            performed += then
        return acts.Script(performed)

    def act(self, written: Any) -> loopback.Act:
        """One act."""
        match written:
            case str():
                return self._plain(written)
            case {"send": data}:
                return loopback.Send(data_of(data))
            case {"raw": data}:
                return acts.Raw(data_of(data))
            case {"trickle": data, "every_ms": pace}:
                return loopback.Trickle(data_of(data), pace / 1000)
            case {"drip": data, "every_ms": pace}:
                return acts.Drip(data_of(data), pace / 1000)
            case {"flood": data}:
                block = data_of(data)
                return acts.Flood(block * (65536 // len(block) + 1))
            case {"take": size}:
                return loopback.Take(size)
            case {"sip": size, "every_ms": pace}:
                return acts.Sip(self.over, size, pace / 1000)
            case {"pause_ms": pause}:
                return loopback.Pause(pause / 1000)
            case {"tls": name}:
                return acts.Tls(self.contexts(name))
            case {"hello": size}:
                return acts.Hello(self.contexts("good"), size)
            case {"relay": limits} if limits.keys() <= {"up", "down", "every_ms"}:
                assert self.upstream is not None
                every = limits.get("every_ms", 0) / 1000
                up, down = (size_of(limits.get(way)) for way in ("up", "down"))
                return acts.Relay(self.upstream, up, down, every)
        raise AssertionError(f"no act: {written}")

    def _plain(self, word: str) -> loopback.Act:
        return {
            "request": loopback.Request,
            "cut": loopback.Cut,
            "half close": acts.HalfClose,
            "close notify": acts.CloseNotify,
            "reset": loopback.Reset,
            "silence": loopback.Gone,
            "deaf": lambda: acts.Deaf(self.over),
            "idle": lambda: loopback.Await(self.over),
        }[word]()


def size_of(written: Any) -> int | None:
    """A number of bytes, perhaps given as the bytes."""
    return written if written is None or isinstance(written, int) else len(data_of(written))


def around(act: loopback.Act, done: threading.Event) -> list[loopback.Act]:
    """An act that ends a connection between two calls, and the word that it was done."""
    if isinstance(act, acts.HalfClose):  # it waits for the client, which must not wait for it
        shut = loopback.Call(lambda peer: peer.sock.shutdown(1))
        return [shut, loopback.Signal(done), loopback.Gone()]
    if isinstance(act, (loopback.Cut, loopback.Reset)):
        return [act, loopback.Signal(done)]
    if isinstance(
        act, acts.Flood
    ):  # what comes only after a request is its answer, as far as anyone can tell
        return [loopback.Send(act.data), loopback.Signal(done), act]
    return [loopback.Signal(done), act]
