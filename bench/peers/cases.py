"""The cases: what the server says, and what the application asks it. One fault a case."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bench.peers.server import Reply

KEY = "sk-peers-0123456789abcdef"
"""The key every library is given. It opens nothing."""

WORDS = "turnip-4711"
"""A word in every error text of the server, by which it is found again."""

MEGABYTE = 1_000_000
IMAGE_BYTES = 100 * MEGABYTE


# ---- what streams are made of --------------------------------------------------------------


def event(delta: dict[str, object], finish: str | None = None) -> bytes:
    """One event of a stream."""
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
HEAD = event({"role": "assistant", "content": ""})
TEXT = (HEAD, event({"content": "Because "}), event({"content": "water is lazy."}))
WHOLE = (*TEXT, event({}, "stop"), DONE)


def opening(arguments: str = "") -> bytes:
    """The first event of a call."""
    function = {"name": "weather", "arguments": arguments}
    call = {"index": 0, "id": "call-1", "type": "function", "function": function}
    return event({"role": "assistant", "content": None, "tool_calls": [call]})


def arguments(piece: str) -> bytes:
    """A further piece of a call's arguments."""
    return event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})


CALL = (opening(), arguments('{"city": '), arguments('"Oslo"}'), event({}, "tool_calls"), DONE)
HALF = (opening(), arguments('{"city": '), arguments('"Os'))


def failure(message: str, kind: str = "invalid_request_error", code: object = None) -> dict[str, object]:
    """An error object, as servers of this API send it."""
    return {"error": {"message": f"{message} ({WORDS})", "type": kind, "param": None, "code": code}}


def refused(status: str, body: dict[str, object]) -> Reply:
    """A response with an error object."""
    return Reply((json.dumps(body).encode(),), status, "application/json")


# ---- the cases -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One situation.

    Attributes:
        says: What the server does, as the page tells it.
        replies: To the first request, the second, ...
        ask: What is asked: ``text``, ``tool`` (a tool is offered), or ``image`` (a small one, then a large).
        proxied: Whether the environment names a proxy.
        seconds: How long the process may take.
        memory: Bytes it may grow by, once it asks; None: as it likes.
    """

    says: str
    replies: tuple[Reply, ...]
    ask: str = "text"
    proxied: bool = False
    seconds: float = 60.0
    memory: int | None = None


PLAIN = Reply(WHOLE)
LONG = event({"content": "river " * 20_000})

CASES = {
    "plain": Case("sends a whole answer", (PLAIN,)),
    "call": Case("sends a whole call, and a whole answer to its result", (Reply(CALL), PLAIN), "tool"),
    # broken off
    "cut": Case("closes the connection in the middle of the body", (Reply(TEXT, ends="cut"),)),
    "ended": Case(
        "ends the body in an orderly way after half of the answer, without a finish reason and `[DONE]`",
        (Reply(TEXT),),
    ),
    "no-done": Case(
        "ends the body after the finish reason, without `[DONE]`", (Reply((*TEXT, event({}, "stop"))),)
    ),
    # calls
    "call-cut": Case(
        'ends the body in an orderly way inside of a call\'s arguments, `{"city": "Os`',
        (Reply(HALF), PLAIN),
        "tool",
    ),
    "call-named": Case(
        "ends the body in an orderly way when of a call only its name has come",
        (Reply((opening(),)), PLAIN),
        "tool",
    ),
    "call-length": Case(
        'cuts a call by the length limit (`finish_reason` is `length`), at `{"city": "Os`',
        (Reply((*HALF, event({}, "length"), DONE)), PLAIN),
        "tool",
    ),
    "call-length-whole": Case(
        'does the same where the arguments happen to be JSON: `{"city": "Oslo"}`',
        (Reply((*CALL[:3], event({}, "length"), DONE)), PLAIN),
        "tool",
    ),
    # no answer
    "error-object": Case(
        "sends half of an answer, then an error object, then `[DONE]`",
        (Reply((*TEXT, b"data: " + json.dumps(failure("overloaded")).encode() + b"\n\n", DONE)),),
    ),
    "error-event": Case(
        "sends half of an answer, then `event: error` with the error's text as data",
        (Reply((*TEXT, f"event: error\ndata: overloaded {WORDS}\n\n".encode())),),
    ),
    "html": Case(
        "answers with status 200 and a page of HTML",
        (Reply((f"<!DOCTYPE html><title>{WORDS}</title><p>Sign in".encode(),), media="text/html"),),
    ),
    # reasoning
    "think": Case(
        "sends `<think>Hm.</think>Because water is lazy.`, the tags cut in the middle",
        (
            Reply(
                (
                    HEAD,
                    *(event({"content": piece}) for piece in ("<th", "ink>Hm.", "</thi", "nk>Because ")),
                    event({"content": "water is lazy."}),
                    event({}, "stop"),
                    DONE,
                )
            ),
        ),
    ),
    "reasoning": Case(
        "sends the reasoning under `reasoning_content`",
        (Reply((HEAD, event({"reasoning_content": "Hm."}), *WHOLE[1:])),),
    ),
    # limits
    "endless": Case(
        "sends the same event with text again and again, without end",
        (Reply((HEAD, LONG), ends="never"),),
        memory=200 * MEGABYTE,
        seconds=120,
    ),
    "endless-line": Case(
        "begins an event, and never ends its line",
        (Reply((HEAD, b'data: {"id":"', b"x" * 32768), ends="never"),),
        memory=200 * MEGABYTE,
        seconds=120,
    ),
    # where it goes
    "redirect-port": Case(
        "redirects (307) to another port",
        (Reply((), "307 Temporary Redirect", headers=(("location", "http://127.0.0.1:{other}/v1/x"),)),),
    ),
    "redirect-host": Case(
        "redirects (307) to another host",
        (Reply((), "307 Temporary Redirect", headers=(("location", "http://localhost:{other}/v1/x"),)),),
    ),
    "proxy": Case("sends a whole answer, and `HTTP_PROXY` names another one", (PLAIN,), proxied=True),
    "busy": Case("answers every request with status 503", (refused("503 Busy", failure("busy")),)),
    # errors
    "overflow": Case(
        "refuses a conversation that is too long, as OpenAI does (400, `context_length_exceeded`)",
        (
            refused(
                "400 Bad Request",
                failure(
                    "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"
                ),
            ),
        ),
    ),
    "overflow-local": Case(
        "refuses it as llama.cpp does (400, `exceed_context_size_error`)",
        (
            refused(
                "400 Bad Request",
                failure(
                    "the request exceeds the available context size, try increasing it",
                    "exceed_context_size_error",
                    400,
                ),
            ),
        ),
    ),
    "bad-request": Case(
        "refuses a field (400, `unknown_parameter`)",
        (refused("400 Bad Request", failure("Unknown parameter.", code="unknown_parameter")),),
    ),
    "unauthorized": Case(
        "refuses the key (401)",
        (refused("401 Unauthorized", failure("Incorrect API key.", code="invalid_api_key")),),
    ),
    "unauthorized-echo": Case(
        "refuses the key (401), and repeats it",
        (refused("401 Unauthorized", failure(f"Incorrect API key: {KEY}.", code="invalid_api_key")),),
    ),
    # costs
    "image": Case("takes the request in, and sends a whole answer", (PLAIN,), "image", seconds=180),
}
