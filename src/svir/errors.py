"""Every failure of svir: one base, one class per kind.

==========================  ==========================================================================
``TransportError``          no connection, a broken one, or a status that may pass (500, 502, 503, ...)
``RequestTimeoutError``     a deadline passed, here or at the server (408, 504); also a ``TimeoutError``
``RateLimitError``          429
``TruncatedStreamError``    the stream ended before a finish reason and ``[DONE]``
``AuthenticationError``     401, 403
``ContextOverflowError``    the conversation does not fit: told by the server, or by local admission
``ContentFilterError``      the server's content filter blocked the prompt
``ProtocolError``           a malformed or inconsistent stream
``ServerError``             the server reported a failure inside the stream
``UnsupportedError``        something outside the protocol, or that this wire API cannot say
``ResponseLimitError``      a limit on bytes, events or tool calls was reached
``AttachmentError``         an attachment cannot be read, or is no longer what was measured
``ConfigError``             the client or a value was put together wrongly; also a ``ValueError``
``AnswerError``             an answer that cannot be read as asked; also a ``ValueError``
==========================  ==========================================================================

The first four kinds may succeed when tried again, and say so in ``retryable``. The words in ``kind`` are
the same in every implementation of svir (D12).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict, Unpack

import msgspec

if TYPE_CHECKING:
    from svir.types import Completion

__all__ = [
    "AnswerError",
    "AttachmentError",
    "AuthenticationError",
    "ConfigError",
    "ContentFilterError",
    "ContextOverflowError",
    "Error",
    "ErrorKind",
    "Partial",
    "Place",
    "ProtocolError",
    "RateLimitError",
    "RequestTimeoutError",
    "ResponseLimitError",
    "ServerError",
    "TransportError",
    "TruncatedStreamError",
    "UnsupportedError",
]

ErrorKind = Literal[
    "transport",
    "timeout",
    "rate_limited",
    "truncated_stream",
    "authentication",
    "context_overflow",
    "content_filter",
    "protocol",
    "server",
    "unsupported",
    "response_limit",
    "attachment",
    "config",
    "answer",
]
"""The word for each kind of failure, the same in every implementation of svir."""

SERVER_MESSAGE_BYTES = 4096
"""D19: a server's own message is kept up to this many bytes of UTF-8."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

POINTER = "(server_message has its words)"
"""Ends ``str(error)`` when a message was kept: a traceback alone does not show where it is."""

RETRY_AFTER_SECONDS = 30.0
"""Longest ``retry_after``; what the server really asked for is in ``retry_after_sent``."""


class _Withheld:
    """What stands for a text that is not shown, also where a pretty printer would quote one."""

    __slots__ = ("words",)

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return f"<{self.words}>"


class Partial(msgspec.Struct, frozen=True):
    """What a stream delivered before it failed. Never calls: half a call is nothing to act on (D5).

    Attributes:
        text: The pieces of the answer's text, joined.
        reasoning: The pieces of reasoning, whatever their source, joined.
    """

    text: str = ""
    reasoning: str = ""

    def __repr__(self) -> str:
        return f"Partial({self._shown()!r})"

    def __rich_repr__(self) -> list[_Withheld]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  (msgspec types it with names)
        # msgspec's own would show the fields.
        return [self._shown()]

    def _shown(self) -> _Withheld:
        return _Withheld(f"{len(self.text)} characters of text, {len(self.reasoning)} of reasoning")


class Place(msgspec.Struct, frozen=True):
    """Where in a stream something is wrong (S101).

    Attributes:
        event: The number of the event that was being read, counted from 1; of the last whole one when the
            stream just ended.
        byte: Where that event begins, in bytes from the start of the body. When a limit on bytes was passed,
            the first one over it; when the stream just ended, where what is left of it begins.
    """

    event: int
    byte: int

    def __str__(self) -> str:
        return f"event {self.event}, byte {self.byte}"


class Error(Exception):
    """The base of every failure that svir raises.

    ``str(error)`` says what happened in svir's own words and, where a switch helps, names it. It holds no
    credential, no URL and none of the server's words, but says where those are. Errors pickle and copy whole.

    Args:
        detail: What happened, in svir's words.
        retryable: Whether trying again may help; the kind's own answer when left out.
        retry_after: Seconds the server asked to wait, at most 30.
        retry_after_sent: Seconds the server asked to wait, as sent.
        status: The HTTP status of a response that was no success (D33).
        code: The server's machine-readable word for the failure, at most 64 characters of ``[A-Za-z0-9_.-]``.
        unsent: True only when no byte of the request was handed to the network.
        server_message: The server's own words, cut to 4 KiB; withheld from ``str`` and ``repr`` (D19).
        request_id: The server's name for the request.
        partial: What the stream delivered before it failed.
        place: Where in the stream it failed; None when it was no matter of the stream's content.

    Example:
        >>> import svir
        >>> error = svir.RateLimitError("HTTP 429", status=429, retry_after=2.0)
        >>> error.kind, error.retryable, error.retry_after
        ('rate_limited', True, 2.0)
    """

    kind: ClassVar[ErrorKind]
    """The word for this kind: what to decide by, beside the class."""
    phrase: ClassVar[str]
    """What this kind means, in a few words; opens ``str(error)``, save of a transport error with a status."""
    transient: ClassVar[bool] = False
    """Whether errors of this kind are retryable unless one says otherwise."""

    detail: str
    retryable: bool
    retry_after: float | None
    retry_after_sent: float | None
    status: int | None
    code: str | None
    unsent: bool
    server_message: str | None
    request_id: str | None
    partial: Partial | None
    place: Place | None

    def __init__(
        self,
        detail: str = "",
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        retry_after_sent: float | None = None,
        status: int | None = None,
        code: str | None = None,
        unsent: bool = False,
        server_message: str | None = None,
        request_id: str | None = None,
        partial: Partial | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(detail)
        # The fields live in __dict__, so that BaseException's own pickling and copying carry them.
        self.detail = detail
        self.retryable = self.transient if retryable is None else retryable
        self.retry_after = retry_after
        self.retry_after_sent = retry_after_sent
        self.status = status
        self.code = code
        self.unsent = unsent
        self.server_message = None if server_message is None else _cut(server_message)
        self.request_id = request_id
        self.partial = partial
        self.place = place

    def __str__(self) -> str:
        phrase = self._opening()
        said = f"{phrase}: {self.detail}" if self.detail else phrase
        return f"{said} {POINTER}" if self.server_message else said

    def _opening(self) -> str:
        """What opens the text."""
        return self.phrase

    def __repr__(self) -> str:
        fields = {n: getattr(self, n) for n in ("status", "code", "retry_after", "request_id", "partial")}
        shown = [repr(self.detail)] if self.detail else []
        shown += [f"{name}={value!r}" for name, value in fields.items() if value is not None]
        shown += [f"{name}=True" for name in ("retryable", "unsent") if getattr(self, name)]
        if self.server_message is not None:
            shown.append(f"server_message=<{len(self.server_message.encode())} bytes withheld>")
        return f"{type(self).__name__}({', '.join(shown)})"


def _cut(message: str) -> str:
    """At most 4 KiB of UTF-8, cut between characters; lone surrogates become U+FFFD."""
    data = _LONE_SURROGATE.sub("\ufffd", message).encode()
    return data[:SERVER_MESSAGE_BYTES].decode("utf-8", "ignore")


class TransportError(Error):
    """The connection failed, or the server answered with a status that may pass (500, 502, 503, ...)."""

    kind = "transport"
    phrase = "the connection to the server failed"
    transient = True

    def _opening(self) -> str:
        # With a status there was an answer: the connection is not what failed.
        return self.phrase if self.status is None else "the server failed"


class RequestTimeoutError(Error, TimeoutError):
    """A deadline passed: one of the client's, or the server's own (408, 504)."""

    kind = "timeout"
    phrase = "the request timed out"
    transient = True


class RateLimitError(Error):
    """The server takes no more requests for now (429). Not retryable when a quota is used up."""

    kind = "rate_limited"
    phrase = "the server limits the rate of requests"
    transient = True


class TruncatedStreamError(Error):
    """The stream ended before a finish reason and ``[DONE]``; ``partial`` is what came, and is no answer."""

    kind = "truncated_stream"
    phrase = "the answer was cut off"
    transient = True


class AuthenticationError(Error):
    """The server did not accept the credentials (401, 403)."""

    kind = "authentication"
    phrase = "the server refused the credentials"


class ContextOverflowError(Error):
    """The request does not fit in the model's context: shorten the conversation (D30)."""

    kind = "context_overflow"
    phrase = "the request does not fit in the model's context"


class ContentFilterError(Error):
    """The server's content filter blocked the prompt (D36)."""

    kind = "content_filter"
    phrase = "the server's content filter blocked the prompt"


class ProtocolError(Error):
    """The server's answer is malformed or contradicts itself."""

    kind = "protocol"
    phrase = "the answer breaks the protocol"


class ServerError(Error):
    """The server reported a failure inside the stream (D29)."""

    kind = "server"
    phrase = "the server reported a failure while answering"


class UnsupportedError(Error):
    """Something outside the protocol as svir knows it, or that this wire API cannot express."""

    kind = "unsupported"
    phrase = "not supported"


class ResponseLimitError(Error):
    """The answer passed a limit: see ``Limits``."""

    kind = "response_limit"
    phrase = "the answer is over a limit"


class AttachmentError(Error):
    """An attachment cannot be read, or is no longer what was measured (P13)."""

    kind = "attachment"
    phrase = "an attachment cannot be sent"


class ConfigError(Error, ValueError):
    """The client or a value was put together wrongly."""

    kind = "config"
    phrase = "the configuration is invalid"


class _Fields(TypedDict, total=False):
    """What every error takes beside its detail."""

    retryable: bool | None
    retry_after: float | None
    retry_after_sent: float | None
    status: int | None
    code: str | None
    unsent: bool
    server_message: str | None
    request_id: str | None
    partial: Partial | None
    place: Place | None


class AnswerError(Error, ValueError):
    """An answer cannot be read as asked (D41); ``completion`` is the whole answer, when there is one."""

    kind = "answer"
    phrase = "the answer cannot be read as asked"

    completion: Completion | None
    """The answer, with its usage, when there is one."""

    def __init__(
        self, detail: str = "", *, completion: Completion | None = None, **fields: Unpack[_Fields]
    ) -> None:
        super().__init__(detail, **fields)
        self.completion = completion
