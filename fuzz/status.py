"""Throws damaged bodies and headers of failed responses at what makes an error of them.

    PYTHONPATH=src:. python fuzz/status.py [--seconds 30] [--seed N]

Every status and body is an error of ours. Its text and its ``repr`` have nothing of what the server said, its
code is one word, what it advises to wait is bounded, and it survives a pickle.
"""

from __future__ import annotations

import pickle
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from _loop import fuzz, no_longer_than  # noqa: E402

import svir  # noqa: E402
from svir.errors import RETRY_AFTER_SECONDS  # noqa: E402
from svir.exchange._status import error_of_status  # noqa: E402
from svir.http import Headers  # noqa: E402
from svir.openai.chat._failures import read_failure  # noqa: E402
from tests.support.streams import RECORDINGS, mutate, recorded_response  # noqa: E402

MARK = "zq9mark"
OWN = (
    b'{"error":{"message":"zq9mark","type":"invalid_request_error","param":null,"code":"zq9mark bad"}}',
    b'{"error":"zq9mark","code":400}',
    b'{"detail":[{"loc":["body"],"msg":"zq9mark","type":"missing"}]}',
    b'[{"error":{"code":429,"message":"zq9mark quota","status":"RESOURCE_EXHAUSTED"}}]',
    b'{"object":"error","message":"maximum context length is 10 zq9mark","code":40303}',
    b"<html><h1>zq9mark</h1></html>",
    b'{"message":{"detail":{"detail":["zq9mark"]}}}',
    b"",
)
WORDS = (
    *(b"context length", b"rate limit", b"insufficient_quota", b"content_filter", b"zq9mark", b"\xff\xfe"),
    *(b"[" * 300, b'{"error":' * 300, b"9" * 400, b"\\ud800", b"NaN", b"null", b"true", b'""', b"{}", b"[]"),
)
STATUSES = (
    300,
    307,
    400,
    401,
    403,
    404,
    408,
    413,
    422,
    429,
    500,
    501,
    502,
    503,
    504,
    505,
    529,
    599,
    418,
    999,
)
NAMES = ("retry-after", "retry-after-ms", "date", "x-request-id", "cf-ray", "x-other")
VALUES = (
    *(
        "1",
        "0",
        "1e9",
        "-1",
        "999999999",
        "9" * 400,
        "1.5",
        "",
        " ",
        "\u0661",
        "NaN",
        "inf",
        "zq9mark \x1b[2J",
    ),
    *("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 99999 07:28:00 GMT", "Wed, 99 Foo 2026", "1, 2", "r-1"),
    *("Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359", "a" * 300),
)
SLOWEST = 0.5
LONGEST = 200
"""Characters of an error's text, at most."""


def recorded():
    """The bodies of the recorded failures."""
    for path in sorted(RECORDINGS.glob("*/*.http")):
        status, _, body = recorded_response(path)
        if status >= 300:
            yield body


BODIES = [*OWN, *recorded()]


def make(rng):
    """A status, headers, and a body that is damaged."""
    body = rng.choice(BODIES)
    if body and rng.random() < 0.8:
        body = mutate(body, rng)
    for _ in range(rng.choice((0, 0, 1, 3))):
        at = rng.randrange(len(body) + 1)
        body = body[:at] + rng.choice(WORDS) + body[at:]
    fields = [(rng.choice(NAMES), rng.choice(VALUES)) for _ in range(rng.choice((0, 1, 2, 4)))]
    return rng.choice(STATUSES), fields, body


def attempt(given):
    status, fields, body = given
    started = time.thread_time()
    error = error_of_status(status, Headers(fields), read_failure(status, body), lambda: 1_790_000_000.0)
    no_longer_than(SLOWEST, started)
    assert isinstance(error, svir.Error)
    said = f"{error} {error!r}".replace(error.code or "-", "")  # one word of the server's is shown, its code
    assert MARK not in said, "an error's text repeats the server"
    assert len(str(error)) < LONGEST, "an error whose text is too long"
    assert error.code is None or error.code.replace("-", "").replace(".", "").replace("_", "").isalnum()
    assert error.retry_after is None or 0 <= error.retry_after <= RETRY_AFTER_SECONDS
    assert error.request_id is None or (error.request_id.isascii() and error.request_id.isprintable())
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.server_message) == (type(error), str(error), error.server_message)
    return error.server_message is not None


if __name__ == "__main__":
    fuzz(__doc__, make, attempt)
