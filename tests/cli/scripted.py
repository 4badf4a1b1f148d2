"""Whole responses of a server, for whole commands."""

from __future__ import annotations

import json

from tests.support.loopback import Act, Cut, Request, Send

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def chunk(delta: dict | None = None, finish: str | None = None, **more) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "r1", "model": "m", "choices": [choice], **more}).encode() + b"\n\n"


def answer(*texts: str, finish: str = "stop", usage: dict | None = None, deltas: tuple = ()) -> bytes:
    """A whole response that streams these pieces of text, after these other deltas."""
    pieces = [*deltas, *({"content": text} for text in texts)]
    counts = {} if usage is None else {"usage": usage}
    events = [chunk(piece) for piece in pieces] + [chunk(finish=finish, **counts)]
    return HEAD + b"".join(events) + b"data: [DONE]\n\n"


def reply(status: str, body: dict) -> bytes:
    """A whole JSON response."""
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + data


def served(response: bytes) -> list[Act]:
    """A connection that answers one request with this response, and ends."""
    return [Request(), Send(response), Cut()]
