"""A server that answers a probe: every request as the API's documents have it, but for those a test says.

A request is known by what it asks (`step_of`), as the probe calls its steps. An answer is bytes, or the acts
of the rest of the connection; each connection answers one request and ends.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field

from svir.cli.probe._ask import WRONG_KEY, Asker
from svir.cli.probe._evidence import WEATHER
from svir.cli.probe._plan import make_plan
from svir.cli.probe._probe import Named, probe
from svir.cli.probe._report import Report, Row
from svir.exchange import settings_from
from svir.http import Abort, Http11Backend, Secret
from svir.types import Effort
from tests.cli.scripted import HEAD, chunk, reply
from tests.support.loopback import Act, Call, Cut, Gone, Loopback, Pause, Peer, Received, Request, Send

Answer = bytes | list[Act]
USAGE = {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}
FORM = '{"qx_river": "Glomma", "qx_length_km": 621}'


def step_of(request: Received) -> str:
    """Which of the probe's steps a request belongs to."""
    method, target, _ = request.line.split(" ")
    path = target.partition("?")[0]
    if method == "GET":
        return "models" if path == "/v1/models" else path
    try:
        body = json.loads(request.body)
    except ValueError:
        return "bad_json"
    last = body["messages"][-1]
    if path == "/chat/completions":
        return "elsewhere"
    if request.headers.get("authorization") == f"Bearer {WRONG_KEY.reveal()}":
        return "wrong_key"
    if body["model"] == "svir-no-such-model":
        return "unknown_model"
    for name in ("stop", "logprobs"):
        if name in body:
            return name
    if "svir_unknown_field" in body:
        return "unknown"
    if "reasoning_effort" in body:
        return f"effort_{body['reasoning_effort']}"
    if "response_format" in body:
        of_schema = body["response_format"].get("json_schema")
        return "json" if of_schema is None else "strict" if of_schema.get("strict") else "schema"
    if last["role"] == "tool":
        return "result"
    if "tools" in body:
        choice = body.get("tool_choice", "auto")
        by_itself = "auto" if "weather" in last["content"] else "unforced"
        if any(len(turn.get("tool_calls", ())) > 1 for turn in body["messages"]):
            return "several"
        return "named" if isinstance(choice, dict) else by_itself if choice == "auto" else choice
    if isinstance(last["content"], list):
        return "image"
    if body["messages"][0]["role"] == "system":
        return "system"
    if last["content"].startswith("Describe"):
        return "plain" if "stream_options" in body else "lean"
    if last["content"].startswith("Tell"):
        return "long"
    if last["content"].startswith("a b c "):
        return "overflow"
    return "completion" if "max_completion_tokens" in body else "bare"


def stream(*events: bytes, done: bool = True, head: bytes = HEAD) -> bytes:
    """A whole response of these events."""
    return head + b"".join(events) + (b"data: [DONE]\n\n" if done else b"")


def data(value: object) -> bytes:
    """An event of any JSON."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def role() -> bytes:
    return chunk({"role": "assistant", "content": ""})


def counts(usage: dict | None = None) -> bytes:
    return data({"id": "r1", "model": "m", "choices": [], "usage": usage or USAGE})


def text(*pieces: str, finish: str | None = "stop", usage: dict | None = None) -> bytes:
    """A whole answer of text as the API's documents have it."""
    end = [counts(usage)] if usage else []
    return stream(role(), *(chunk({"content": piece}) for piece in pieces), chunk({}, finish), *end)


def piece(index: int | None, *, first: bool = False, **function: object) -> dict:
    """A piece of a call, as it stands in a delta."""
    head = {"id": f"call-{index}", "type": "function"} if first else {}
    at = {} if index is None else {"index": index}
    return {**at, **head, "function": {"name": WEATHER, **function} if first else function}


def calls(*pieces: dict, finish: str = "tool_calls") -> bytes:
    """A whole answer of calls, each piece in a chunk of its own."""
    return stream(role(), *(chunk({"tool_calls": [one]}) for one in pieces), chunk({}, finish))


GOOD_CALLS = (
    piece(0, first=True, arguments=""),
    piece(0, arguments='{"city":'),
    piece(0, arguments='"Paris"}'),
    piece(1, first=True, arguments=""),
    piece(1, arguments='{"city":"Bergen"}'),
)


def refused(status: str = "400 Bad Request", message: str = "no", **more: object) -> bytes:
    return reply(status, {"error": {"message": message, "type": "invalid_request_error", **more}})


ONE = text("Yes", finish="length")
GOOD: dict[str, Answer] = {
    "models": reply("200 OK", {"object": "list", "data": [{"id": "m", "object": "model"}]}),
    "plain": text("The ", "sea ", "is ", "wide.", usage=USAGE),
    "lean": text("The ", "sea ", "is ", "wide."),
    "result": text("In Rome: 17 degrees, wind."),
    "auto": calls(*GOOD_CALLS),
    "several": calls(*GOOD_CALLS),
    "unforced": text("Hello!"),
    "required": calls(*GOOD_CALLS[:3]),
    "named": calls(*GOOD_CALLS[:3], finish="stop"),
    "system": text("PINEAPPLE"),
    "json": text('{"name": ', '"Glomma"}'),
    "schema": text(FORM),
    "strict": text(FORM),
    "image": text("Red."),
    "stop": text("Th"),
    "logprobs": stream(
        role(),
        data(
            {
                "choices": [
                    {"index": 0, "delta": {"content": "Yes"}, "logprobs": {"content": [{"token": "Yes"}]}}
                ]
            }
        ),
        chunk({}, "length"),
    ),
    "unknown": refused(message="Unrecognized request argument supplied: svir_unknown_field"),
    "unknown_model": refused("404 Not Found", "no such model", code="model_not_found"),
    "bad_json": refused(message="could not parse the body"),
    "wrong_key": ONE,
    "effort_svir-no-such-effort": refused(message="no such effort"),
    "overflow": refused(message="too long", code="context_length_exceeded"),
    "/slots": refused("404 Not Found"),
    "/metrics": refused("404 Not Found"),
    "elsewhere": refused("404 Not Found"),
}


JSON_200 = reply("200 OK", {"choices": [{"message": {"content": "hi"}}]})
HTML_200 = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html><body>Welcome</body></html>"
DIES = text("on", finish=None).removesuffix(b"data: [DONE]\n\n")
CUT_CALLS = calls(*GOOD_CALLS[:2], finish="length")
TALK_CUT = text("on", finish="length")
BUSY = refused("503 Service Unavailable", "busy")
ZIPPED = HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n") + b"\x1f\x8b"
NOT_HERE = refused("404 Not Found", "nothing here")


def slowly(end: bytes) -> list:
    """An answer of three pieces, with time between them."""
    piece = chunk({"content": "so "})
    paced = [act for _ in range(3) for act in (Send(piece), Pause(0.04))]
    return [Send(HEAD + role()), *paced, Send(chunk({}, "stop") + end + b"data: [DONE]\n\n"), Cut()]


SLOW, SLOW_UNCOUNTED = slowly(counts()), slowly(b"")
SLOW_CUT = [*SLOW[:-2], Cut()]
NO_DONE = stream(role(), chunk({"content": "Sunny."}), chunk({}, "stop"), done=False)


def everywhere(answer: bytes, *names: str) -> dict[str, bytes]:
    return dict.fromkeys(names, answer)


PLAIN = ("bare", "completion", "plain", "lean", "stop")
CHOICES = ("auto", "several", "required", "named")
EFFORTS = [f"effort_{word}" for word in (*Effort, "svir-no-such-effort")]


@dataclass
class Behave(Act):
    """Answers the request of a connection, and ends it; with ``key``, those alone that have this header."""

    answers: dict[str, object]
    active: set[int] = field(default_factory=set)
    key: tuple[str, str] | None = None
    others: set[int] = field(default_factory=set)
    """What it makes for somebody else."""

    def perform(self, peer: Peer) -> None:
        first = peer.recv()
        if not first:
            return
        peer.left_over = first
        mine = len(peer.server.requests)
        Request().perform(peer)
        request = next(r for r in peer.server.requests[mine:] if r.connection == peer.number)
        step = step_of(request)
        answer = self.answers.get(step, GOOD.get(step, ONE))
        if step not in self.answers and step == "long":
            answer = self.long()
        if callable(answer):
            answer = answer(self)
        if self.key is not None and request.headers.get(self.key[0]) != self.key[1]:
            answer = refused("401 Unauthorized", "not this key")
        for act in [Send(answer), Cut()] if isinstance(answer, bytes) else answer:
            act.perform(peer)

    def long(self, *, stops: bool = True) -> list[Act]:
        """A long answer, at which a slot works until the client leaves, or for ever."""
        begin = Call(lambda peer: self.active.add(peer.number))
        end = Call(lambda peer: self.active.discard(peer.number) if stops else None)
        pieces = stream(role(), *(chunk({"content": "on "}) for _ in range(6)), done=False)
        return [begin, Send(pieces), Gone(), end]

    def slots(self) -> bytes:
        """What llama.cpp says at /slots."""
        return reply_json([slot(task) for task in (*self.active, *self.others)] or [slot(None)])


def slot(task: int | None) -> dict:
    """A slot of llama.cpp's, at work on a task or not."""
    return {"id": 0, "is_processing": task is not None, **({} if task is None else {"id_task": task})}


class Ahead(Http11Backend):
    """Does not wait between requests: its clock is put forward instead."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0

    def clock(self) -> float:
        return time.monotonic() + self.skipped

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        self.skipped += seconds


def reply_json(value: object) -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + body


def serving(**answers: object) -> Loopback:
    """A server for as many connections as come; a name with two underscores in front is a path."""
    named = {re.sub("^__", "/", name): one for name, one in answers.items()}
    return Loopback(repeat=[Behave(named)])


def probed(
    server: Loopback,
    *only: str,
    seconds: float = 20.0,
    each: float | None = None,
    key: str | None = None,
    **named: str,
) -> Report:
    """What a probe in this process finds; ``each`` is how long every answer may take."""
    secret = Secret(key) if key else None
    backend = Ahead()
    asker = Asker(
        settings_from(server.url, {}, secret), secret, seconds=seconds, backend=backend, clock=backend.clock
    )
    plan = make_plan(only, seconds=seconds)
    if each is not None:
        plan = plan._replace(steps=tuple(step._replace(seconds=each) for step in plan.steps))
    try:
        report = probe(asker, plan, Named(**named), lambda name: None)
    finally:
        backend.close()
    assert report.requests == asker.sent <= plan.requests
    return report


def found(server: Loopback, row: str, **more) -> Row:
    """The one row of a probe of its group."""
    report = probed(server, row.partition(".")[0], **more)
    return next(one for one in report.rows if one.id == row)
