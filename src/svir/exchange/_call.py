"""One call, from request to answer, as steps: encode, send, judge the status, perhaps send again lean.

The lean retry lives here (D11, D26, D36): a 400 or 422 whose body explains nothing, to a request that carried
optional fields, is answered by one more try without them. If that opens a stream, the fields are left out for
this model from then on; if not, the first error is the answer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from svir.errors import ConfigError, Error, RequestTimeoutError, ResponseLimitError, UnsupportedError
from svir.exchange._deadlines import Deadlines
from svir.exchange._reply import RawReply, Reply
from svir.exchange._settings import Settings, given_key
from svir.exchange._stack import is_async
from svir.exchange._status import REJECTIONS, error_of_status, request_id
from svir.exchange._steps import AnyResponse, Call, Close, Read, Send
from svir.http._seam import Secret
from svir.types import Image, ModelInfo, PathSource, TextFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.body import Body
    from svir.codec._api import WireApi
    from svir.exchange._compat import Compatibility
    from svir.exchange._steps import Step, Steps
    from svir.http._seam import HttpRequest
    from svir.types import Request

__all__ = ["Exchange"]

ERROR_BODY_BYTES = 64 * 1024
ERROR_BODY_SECONDS = 0.3
ENCODED = "the response is encoded, though svir asked for none"
# Content type -> what came in the place of an event stream; anything else is None.
ANSWERED_WITH = {"application/json": "JSON", "text/html": "page", "application/xhtml+xml": "page"}
NO_STREAM = {
    "JSON": "the server answered with JSON and no event stream: it does not stream",
    "page": "the server answered with a web page and no event stream",
    None: "the response is no event stream: its content type is not text/event-stream",
}
LEAN_STATUSES = frozenset({400, 422})


class Exchange:
    """How one client talks to one server; holds settings and what was learned, no connection."""

    def __init__(
        self,
        api: WireApi,
        settings: Settings,
        compatibility: Compatibility,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.api = api
        self.settings = settings
        self.compatibility = compatibility
        self.clock = clock

    def deadlines(self) -> Deadlines:
        """The limits of a call that starts now."""
        limits = Deadlines(idle=self.settings.idle_timeout)
        total = self.settings.timeout
        return limits if total is None else limits.with_total(self.clock() + total, total, "timeout")

    def open(self, request: Request, deadlines: Deadlines) -> Steps[Reply[Any]]:
        """Opens a stream that will be decoded."""
        response, deadlines, dropped = yield from self._opened(request, deadlines)
        settings = self.settings
        decoder = self.api.decoder(
            mode=settings.mode,
            limits=settings.limits,
            think=settings.think,
            clock=self.clock,
            request_id=request_id(response.headers),
            dropped=dropped,
        )
        return Reply(response, deadlines, self.clock, decoder)

    def open_raw(self, request: Request, deadlines: Deadlines) -> Steps[RawReply[Any]]:
        """Opens a stream whose bytes are handed on as they are (D20)."""
        response, deadlines, _ = yield from self._opened(request, deadlines)
        return RawReply(response, deadlines, self.clock)

    def models(self, deadlines: Deadlines) -> Steps[tuple[ModelInfo, ...]]:
        """Lists the models the server names; not filtered (O10)."""
        key = yield from self._key(deadlines)
        http = self.settings.http_request("GET", self.api.models_path, key)
        response = yield from self._send(http, deadlines)
        if not _is_success(response):
            raise (yield from self._failure(response, deadlines))
        if _is_encoded(response):
            yield from self._unsupported(response, ENCODED)
        body = yield from self._body(response, deadlines, self.settings.limits.wire_bytes)
        yield Close(response)
        return self.api.read_models(body)

    def _opened(
        self, request: Request, deadlines: Deadlines
    ) -> Steps[tuple[AnyResponse, Deadlines, tuple[str, ...]]]:
        """A response that is an event stream, and the optional fields left out to get it."""
        named = request.model
        if not named:
            request = request.replace(model=self.settings.model)
        if not request.model:
            raise ConfigError(
                "no model: name one in the request or in the client (client.models() lists them)"
            )
        if not request.messages and request.system is None:  # S120: nothing to answer
            meant = " (the first argument of Request is the model: the turns are messages=)" if named else ""
            raise ConfigError(f"no messages: the request has neither a turn nor a system prompt{meant}")
        usage = self.settings.include_usage if request.include_usage is None else request.include_usage
        optional = self.api.optional_fields(request, include_usage=usage)
        origin = self.settings.base.origin
        known = self.compatibility.omitted(origin, request.model)
        left_out = tuple(field for field in optional if field in known)
        key = yield from self._key(deadlines)

        response = yield from self._post(request, usage, left_out, key, deadlines)
        if _is_success(response):
            yield from self._require_event_stream(response)
            return response, deadlines, left_out

        error = yield from self._failure(response, deadlines)
        unexplained = isinstance(error, UnsupportedError) and error.status in LEAN_STATUSES
        if not unexplained or left_out == optional:
            raise error
        again = yield from self._lean(request, usage, optional, key, deadlines)
        if again is None:
            raise error
        self.compatibility.learn(
            origin, request.model, optional, status=error.status, message=error.server_message
        )
        return again, deadlines, optional

    def _lean(
        self,
        request: Request,
        usage: bool,
        optional: tuple[str, ...],
        key: Secret | None,
        deadlines: Deadlines,
    ) -> Steps[AnyResponse | None]:
        """The retry without optional fields; None when it failed too, whatever the reason."""
        try:
            response = yield from self._post(request, usage, optional, key, deadlines)
            if _is_success(response):
                yield from self._require_event_stream(response)
                return response
            yield Close(response)
        except Error:
            pass
        return None

    def _post(
        self,
        request: Request,
        usage: bool,
        omit: tuple[str, ...],
        key: Secret | None,
        deadlines: Deadlines,
    ) -> Steps[AnyResponse]:
        settings = self.settings
        encoder = self.api.encoder(
            include_usage=usage,
            omit=omit,
            context_tokens=settings.context_tokens,
            max_tokens_field=settings.max_tokens_field,
        )
        body: Body
        if _reads_files(request):
            body = yield from self._within(
                deadlines, lambda left: Call(lambda: encoder.encode(request), left)
            )
        else:
            body = encoder.encode(request)
        http = settings.http_request("POST", self.api.answer_path, key, body, deadlines.headers)
        return (yield from self._send(http, deadlines))

    def _send(self, http: HttpRequest, deadlines: Deadlines) -> Steps[AnyResponse]:
        connect = self.settings.connect_timeout
        try:
            response: AnyResponse = yield from self._within(
                deadlines, lambda left: Send(http, connect, deadlines.idle, left)
            )
        except Error as error:
            deadlines.tries.note(error)
            raise
        deadlines.tries.sent = True
        return response

    def _within(self, deadlines: Deadlines, step: Callable[[float | None], Step]) -> Steps[Any]:
        """One step of opening, given the time that is left for it; the deadline that passed is named."""
        now = self.clock()
        if passed := deadlines.passed(now, started=False):
            raise passed.error(unsent=not deadlines.tries.sent)
        failure: Error | None = None
        try:
            return (yield step(deadlines.left(now, started=False)))
        except RequestTimeoutError as error:
            passed = deadlines.passed(self.clock(), started=False)
            failure = passed.error(unsent=error.unsent) if passed else deadlines.named(error)
            if deadlines.tries.sent:
                failure.unsent = False
        raise failure  # outside the handler, so that nothing hangs on it

    def _key(self, deadlines: Deadlines) -> Steps[Secret | None]:
        key = self.settings.key
        if key is None or isinstance(key, Secret):
            return key
        asked = key if is_async(key) else lambda: _asked(key)
        return given_key((yield from self._within(deadlines, lambda left: Call(asked, left))))

    def _require_event_stream(self, response: AnyResponse) -> Steps[None]:
        kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
        if _is_encoded(response):
            yield from self._unsupported(response, ENCODED)
        if kind != "text/event-stream":
            # The type is the server's word, and so never quoted (D19).
            told = "JSON" if kind.endswith("+json") else ANSWERED_WITH.get(kind)
            yield from self._unsupported(response, NO_STREAM[told])

    def _unsupported(self, response: AnyResponse, problem: str) -> Steps[None]:
        yield Close(response)
        raise UnsupportedError(problem, request_id=request_id(response.headers))

    def _failure(self, response: AnyResponse, deadlines: Deadlines) -> Steps[Error]:
        """The error of a response that is no success; the status decides even if the body never comes."""
        # P4: the body is waited for only where it decides what happened.
        if response.status not in REJECTIONS:
            now = self.clock()
            deadlines = deadlines.with_total(now + ERROR_BODY_SECONDS, ERROR_BODY_SECONDS)
        body = b""  # what is encoded says nothing
        if not _is_encoded(response):
            body = yield from self._body(response, deadlines, ERROR_BODY_BYTES, for_error=True)
        yield Close(response)
        failure = self.api.read_failure(response.status, body)
        keyed = self.settings.key is not None
        return error_of_status(response.status, response.headers, failure, keyed=keyed)

    def _body(
        self, response: AnyResponse, deadlines: Deadlines, limit: int, *, for_error: bool = False
    ) -> Steps[bytes]:
        """A body whole, up to a limit. That of an error is cut there, and is what came when reading fails."""
        reply = RawReply(response, deadlines, self.clock)
        pieces: list[bytes] = []
        size = 0
        while size <= limit:
            try:
                data: bytes = yield Read(response, reply.left())
            except Error as error:
                reply.fail(error)
                break
            if not data:
                break
            pieces.append(data)
            size += len(data)
        if not for_error:
            reply.check()
            if size > limit:
                raise ResponseLimitError(f"the response is over {limit} bytes; see Limits.wire_bytes")
        return b"".join(pieces)[:limit]


def _asked(key: Callable[[], object]) -> object:
    """What a caller's function gives, a key as a secret at once."""
    try:
        text = key()
    except StopIteration:  # an exhausted iterator's ``__next__``; no generator and no future can carry it
        pass
    else:
        return Secret(text) if isinstance(text, str) else text
    raise ConfigError("api_key raised StopIteration: there is no further key")


def _is_success(response: AnyResponse) -> bool:
    return 200 <= response.status < 300


def _is_encoded(response: AnyResponse) -> bool:
    return (response.headers.get("content-encoding") or "identity").strip().lower() != "identity"


def _reads_files(request: Request) -> bool:
    """Whether encoding it touches a disk, and so belongs in a worker thread on the async face."""
    return any(
        isinstance(part, (Image, TextFile)) and isinstance(part.source, PathSource)
        for message in request.messages
        for part in message.parts
    )
