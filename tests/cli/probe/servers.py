"""Servers that answer a probe: each request by what it asks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.cli.scripted import HEAD, chunk, reply
from tests.support.loopback import Act, Loopback, Peer, Received, Request, Send

Behaviour = Callable[[str, dict], "bytes | list[Act] | None"]
"""Given the request's line and its JSON, the answer; None: the one of a server that does everything right."""


@dataclass
class Behave(Act):
    """Answers the requests of a connection until one of them ends it."""

    behaviour: Behaviour

    def perform(self, peer: Peer) -> None:
        while peer.open and (first := peer.recv()):
            peer.left_over = first
            Request().perform(peer)
            request = peer.server.requests[-1]
            line, body = request.line.rpartition(" ")[0], body_of(request)
            answer = self.behaviour(line, body)
            if answer is None:
                answer = good(line, body)
            for act in [Send(answer)] if isinstance(answer, bytes) else answer:
                act.perform(peer)
            return  # every answer here ends with its connection


def body_of(request: Received) -> dict:
    try:
        return json.loads(request.body)
    except ValueError:
        return {}


def serving(behaviour: Behaviour = lambda line, body: None) -> Loopback:
    """A server for as many connections as come."""
    return Loopback(repeat=[Behave(behaviour)])


def stream(*events: bytes, done: bool = True, head: bytes = HEAD) -> bytes:
    """A whole response of these events."""
    return head + b"".join(events) + (b"data: [DONE]\n\n" if done else b"")


def text(*pieces: str, finish: str = "stop", usage: bool = False, tokens: int = 0) -> bytes:
    """A whole answer as the API's documents have it."""
    counts = {"prompt_tokens": 5, "completion_tokens": tokens or len(pieces), "total_tokens": 5 + len(pieces)}
    return stream(
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}) for piece in pieces),
        chunk({}, finish),
        *([usage_chunk(counts)] if usage else []),
    )


def usage_chunk(counts: dict) -> bytes:
    return (
        b"data: " + json.dumps({"id": "r1", "model": "m", "choices": [], "usage": counts}).encode() + b"\n\n"
    )


def refused(status: str = "400 Bad Request", message: str = "no", **more: object) -> bytes:
    return reply(status, {"error": {"message": message, "type": "invalid_request_error", **more}})


def good(line: str, body: dict) -> bytes:
    """What a server answers that does everything as the API's documents have it."""
    if line == "GET /v1/models":
        return reply("200 OK", {"object": "list", "data": [{"id": "m", "object": "model"}]})
    if line != "POST /v1/chat/completions":
        return refused("404 Not Found", "no such path")
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    words = ["The ", "sea ", "is ", "wide."]
    usage = body.get("stream_options") == {"include_usage": True}
    cut = limit is not None and limit < len(words)
    return text(*words[: limit if cut else None], finish="length" if cut else "stop", usage=usage)
