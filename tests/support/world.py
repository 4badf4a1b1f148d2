"""A scripted world for the exchange: a clock that stands still, and responses that take as long as they say.

``World`` is a backend without a network. Every wait is logged with the time it was allowed, and passes by
moving the clock. ``ToyApi`` is a wire API of a few lines, so that the exchange is proved without a real one.
"""

from __future__ import annotations

import json
import math

import svir
from svir.body import Body
from svir.codec._api import Failure
from svir.errors import Partial
from svir.exchange import Compatibility, Exchange, settings_from
from svir.http import Headers, Secret
from svir.types import Completed, Completion, FinishReason, ModelInfo, TextDelta

STALL = math.inf
URL = "http://127.0.0.1:1234"


class World:
    """Plays responses, one a request: a ``Response``, or an error to raise (perhaps after a silence).

    Attributes:
        now: The time.
        log: What was done, in order.
    """

    def __init__(self, *replies):
        self.now = 1000.0
        self.replies = list(replies)
        self.log = []
        self.requests = []
        self.responses = []

    def clock(self):
        return self.now

    def wait(self, seconds, *limits):
        """Passes time; a limit that comes first ends it with a time-out."""
        limit = min((limit for limit in limits if limit is not None), default=math.inf)
        assert math.isfinite(min(seconds, limit)), "the world would wait for ever"
        self.now += max(0.0, min(seconds, limit))
        if seconds > limit:
            raise svir.RequestTimeoutError(f"the server was silent for {limit:g} s")

    def send(self, request, *, connect, read, total=None, abort=None):
        self.log.append(("send", connect, read, total))
        self.requests.append(request)
        reply = self.replies.pop(0)
        silence = 0.0
        if isinstance(reply, tuple):
            silence, reply = reply
        self.wait(silence, read, total)
        if isinstance(reply, BaseException):
            raise reply
        reply.world = self
        self.responses.append(reply)
        return reply

    def sleep(self, seconds, abort=None):
        self.log.append(("sleep", seconds))
        self.now += seconds

    def call(self, function):
        self.log.append(("call",))
        return function()

    def close(self):
        self.log.append(("close all",))

    @property
    def bodies(self):
        """What was sent, read as JSON."""
        return [json.loads(bytes(request.body)) for request in self.requests]

    @property
    def names(self):
        return [entry[0] for entry in self.log]


class Response:
    """A response; ``pieces`` are bytes, silences in seconds, or errors to raise. Then the body ends."""

    world: World

    def __init__(self, *pieces, status=200, **headers):
        self.status = status
        self.pieces = list(pieces)
        fields = {"content_type": "text/event-stream"} | headers
        self.headers = Headers([(name.replace("_", "-"), value) for name, value in fields.items()])
        self.closed = 0

    def read(self, timeout):
        self.world.log.append(("read", timeout))
        assert not self.closed
        left = timeout
        while self.pieces:
            piece = self.pieces[0]
            if isinstance(piece, (int, float)):
                before = self.world.now
                try:
                    self.world.wait(piece, left)
                except svir.RequestTimeoutError:
                    self.pieces[0] -= self.world.now - before
                    raise
                left = None if left is None else left - piece
                self.pieces.pop(0)
                continue
            self.pieces.pop(0)
            if isinstance(piece, Exception):
                raise piece
            return piece
        return b""

    def close(self):
        if not self.closed:
            self.world.log.append(("close",))
        self.closed += 1


class ToyApi:
    """Lines: ``+text``, ``.`` for the end, ``!message`` for a failure; anything else breaks the protocol."""

    name = "toy"
    answer_path = "/v1/answers"
    models_path = "/v1/things"

    def __init__(self):
        self.decoders = []

    def encoder(self, *, include_usage, omit, context_tokens, max_tokens_field):
        return ToyEncoder(self, include_usage, omit, {"context": context_tokens, "field": max_tokens_field})

    def optional_fields(self, request, *, include_usage):
        return ("effort",) * (request.effort is not None) + ("usage",) * include_usage

    def decoder(self, **options):
        self.decoders.append(options)
        return ToyDecoder(options["request_id"], options["dropped"])

    def read_failure(self, status, body):
        try:
            told = json.loads(body)
        except ValueError:
            return Failure(message=body.decode("utf-8", "replace") or None)
        return Failure(**told)

    def read_models(self, body):
        if not body.startswith(b"models:"):
            raise svir.ProtocolError("no listing")
        return tuple(ModelInfo(name) for name in body[7:].decode().split(","))


class ToyEncoder:
    def __init__(self, api, include_usage, omit, options):
        self.api, self.include_usage, self.omit, self.options = api, include_usage, omit, options

    def encode(self, request):
        carried = self.api.optional_fields(request, include_usage=self.include_usage)
        said = {"model": request.model, **dict.fromkeys(set(carried) - set(self.omit), True)}
        return Body([json.dumps(said | self.options).encode()])


class ToyDecoder:
    def __init__(self, request_id, dropped):
        self.request_id, self.dropped = request_id, dropped
        self.rest = b""
        self.text = ""
        self.done = False

    @property
    def partial(self):
        return Partial(self.text)

    def push(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if line[:1] == b"+":
                self.text += line[1:].decode()
                yield TextDelta(line[1:].decode())
            elif line == b".":
                self.done = True
                yield Completed(
                    Completion(FinishReason.STOP, self.text, request_id=self.request_id, dropped=self.dropped)
                )
                return
            elif line[:1] == b"!":
                raise svir.ServerError("it said so", server_message=line[1:].decode())
            elif line != b":":
                raise svir.ProtocolError("no line of the toy")

    def flush(self):
        return iter(())

    def finish(self):
        if not self.done:
            raise svir.TruncatedStreamError("no end")


def exchange_of(world, *, key=None, compatibility=None, **options):
    """An exchange that talks to a world about toys."""
    if isinstance(key, str):
        key = Secret(key)
    settings = settings_from(URL, {"model": "m", "include_usage": False, **options}, key)
    memory = Compatibility(wall_clock=lambda: 7.0) if compatibility is None else compatibility
    return Exchange(ToyApi(), settings, memory, world.clock)


class AsyncWorld:
    """The world of the asynchronous face; ``slow_close`` closes by an awaitable, as some backends do."""

    def __init__(self, world, *, slow_close=False):
        self.world = world
        self.slow_close = slow_close

    async def send(self, request, **limits):
        return AsyncResponse(self.world.send(request, **limits), self.slow_close)

    async def sleep(self, seconds, abort=None):
        self.world.sleep(seconds)

    async def call(self, function):
        return self.world.call(function)

    def close(self):
        return after(self.world.close) if self.slow_close else self.world.close()


class AsyncResponse:
    def __init__(self, inner, slow_close):
        self.inner = inner
        self.slow_close = slow_close
        self.status, self.headers = inner.status, inner.headers

    async def read(self, timeout):  # noqa: ASYNC109 (the seam's contract)
        return self.inner.read(timeout)

    def close(self):
        return after(self.inner.close) if self.slow_close else self.inner.close()


async def after(close):
    """Closes only once it was awaited."""
    close()
