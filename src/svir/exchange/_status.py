"""Where a status becomes an error.

The status decides the kind, also when the rest of the body never comes; on 400, 413 and 422 the wire API
refines it by what the body says (D30, D36). The server's words stay in ``server_message``.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from svir.errors import (
    RETRY_AFTER_SECONDS,
    AuthenticationError,
    ContentFilterError,
    ContextOverflowError,
    Error,
    RateLimitError,
    RequestTimeoutError,
    TransportError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.codec._api import Failure
    from svir.http._seam import Headers

__all__ = ["REJECTIONS", "error_of_status", "request_id", "retry_after"]

REJECTIONS = frozenset({400, 413, 422})
"""The statuses whose body decides what happened, and is therefore waited for."""

# Status -> error class, and what helps. What is not here: 5xx is transient, anything else unsupported.
STATUSES: dict[int, tuple[type[Error], str]] = {
    400: (UnsupportedError, "the server rejected the request"),
    401: (AuthenticationError, "give a key with api_key=, api_key_env= or api_key_file="),
    403: (AuthenticationError, "the key does not allow this"),
    404: (UnsupportedError, "no such path or model; see client.models()"),
    408: (RequestTimeoutError, ""),
    413: (UnsupportedError, "the request is too large for the server"),
    422: (UnsupportedError, "the server rejected the request"),
    429: (RateLimitError, ""),
    501: (UnsupportedError, ""),
    504: (RequestTimeoutError, ""),
    505: (UnsupportedError, ""),
}

MEANINGS: dict[str, type[Error]] = {
    "content_filter": ContentFilterError,
    "context_overflow": ContextOverflowError,
}

REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-ms-request-id", "cf-ray")
VISIBLE = re.compile(r"[\x21-\x7e]{1,256}")
SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def error_of_status(
    status: int,
    headers: Headers,
    failure: Failure,
    wall_clock: Callable[[], float] = time.time,
    *,
    keyed: bool = False,
) -> Error:
    """The error of a response that was no success; ``keyed`` says whether the request had a key."""
    kind, advice = _kind(status)
    if status == 401 and keyed:
        advice = "the server does not accept the key that was sent"
    if status in REJECTIONS and failure.meaning in MEANINGS:
        kind, advice = MEANINGS[failure.meaning], ""
    used_up = failure.meaning == "quota" and kind is RateLimitError
    if used_up:
        advice = "a quota is used up, so waiting does not help"
    sent = retry_after(headers, wall_clock)
    return kind(
        f"HTTP {status}" + (f": {advice}" if advice else ""),
        retryable=False if used_up else None,
        retry_after=None if sent is None else min(sent, RETRY_AFTER_SECONDS),
        retry_after_sent=sent,
        status=status,
        code=failure.code,
        server_message=failure.message,
        request_id=request_id(headers),
    )


def _kind(status: int) -> tuple[type[Error], str]:
    if status in STATUSES:
        return STATUSES[status]
    if 500 <= status <= 599:  # 520 to 529 are real, and pass like a 500
        return TransportError, ""
    if 300 <= status <= 399:
        return UnsupportedError, "redirects are not followed; use the final URL"
    return UnsupportedError, ""


def retry_after(headers: Headers, wall_clock: Callable[[], float] = time.time) -> float | None:
    """Seconds the server asked to wait, uncapped: ``retry-after-ms``, seconds, or an HTTP date (O7)."""
    if SECONDS.fullmatch(milliseconds := (headers.get("retry-after-ms") or "").strip()):
        return float(milliseconds) / 1000
    text = (headers.get("retry-after") or "").strip()
    if SECONDS.fullmatch(text):
        return float(text)
    when = _date(text)
    if when is None:
        return None
    # The server's own clock, when it tells it: the two may differ by more than the wait.
    now = _date((headers.get("date") or "").strip())
    return max(0.0, when - (wall_clock() if now is None else now))


def _date(text: str) -> float | None:
    """An HTTP date as seconds since the epoch; None for anything else."""
    if not text or len(text) > 64:
        return None
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
        # HTTP's dates are GMT also when they do not say so (RFC 9110, 5.6.7).
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def request_id(headers: Headers) -> str | None:
    """The server's name for the request: the first of the usual headers that is set and plain."""
    for name in REQUEST_IDS:
        value = headers.get(name)
        if value and VISIBLE.fullmatch(value):
            return value
    return None
