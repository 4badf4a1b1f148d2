"""Where a status becomes an error: every one of them, and what headers add."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svir
from svir.codec._api import Failure
from svir.exchange._status import error_of_status, request_id, retry_after
from svir.http import Headers

NOTHING = Headers()
SILENT = Failure()
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC).timestamp()

KINDS = {
    401: "authentication",
    403: "authentication",
    408: "timeout",
    429: "rate_limited",
    501: "unsupported",
    504: "timeout",
    505: "unsupported",
}


def kind_of(status):
    return KINDS.get(status, "transport" if 500 <= status <= 599 else "unsupported")


def test_every_status_has_its_kind():
    for status in range(300, 600):
        error = error_of_status(status, NOTHING, Failure("their words", "their_code"))
        assert error.kind == kind_of(status)
        assert error.retryable is (error.kind in {"transport", "timeout", "rate_limited"})
        assert (error.status, error.code, error.server_message) == (status, "their_code", "their words")
        assert f"HTTP {status}" in str(error)
        assert "their" not in str(error)
        assert (error.unsent, error.partial, error.retry_after) == (False, None, None)


@pytest.mark.parametrize("status", [100, 199, 600, 999])
def test_a_status_outside_http_is_unsupported(status):
    assert error_of_status(status, NOTHING, SILENT).kind == "unsupported"


@pytest.mark.parametrize("meaning", ["context_overflow", "content_filter"])
def test_only_400_413_and_422_are_refined_by_what_the_body_says(meaning):
    for status in range(300, 600):
        error = error_of_status(status, NOTHING, Failure(meaning=meaning))
        assert error.kind == (meaning if status in {400, 413, 422} else kind_of(status))
        assert error.status == status


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(429, "rate_limited", False), (503, "transport", True), (400, "unsupported", False)],
)
def test_a_quota_that_is_used_up_is_not_worth_waiting_for(status, kind, retryable):
    error = error_of_status(status, NOTHING, Failure(meaning="quota"))
    assert (error.kind, error.retryable) == (kind, retryable)
    assert ("quota" in str(error)) is (status == 429)


@pytest.mark.parametrize(
    ("status", "advice"), [(302, "redirects are not followed"), (401, "api_key="), (404, "client.models()")]
)
def test_a_status_with_a_remedy_names_it(status, advice):
    assert advice in str(error_of_status(status, NOTHING, SILENT))


# Retry-After (O7)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("2", 2.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("3600", 3600.0),
        ("999999999", 999999999.0),
        ("Mon, 30 Nov 2026 12:00:10 GMT", 10.0),
        ("Mon, 30 Nov 2026 13:00:10 +0100", 10.0),
        ("Monday, 30-Nov-26 12:00:10 GMT", 10.0),
        ("Mon Nov 30 12:00:10 2026", 10.0),
        ("Mon, 30 Nov 2026 12:00:10 -0000", 10.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    headers = Headers([("Retry-After", value)])
    assert retry_after(headers, lambda: NOW) == seconds
    error = error_of_status(429, headers, SILENT, lambda: NOW)
    assert (error.retry_after, error.retry_after_sent) == (min(seconds, 30.0), seconds)


@pytest.mark.parametrize(
    "value",
    [
        *("", "soon", "-1", "1e3", "+5", "0x10", "1,2", "1_000", "nan", "inf", "5 s", "tomorrow", "30 Nov"),
        *("9999999999", "x" * 100, "1" * 5000, "\N{ARABIC-INDIC DIGIT FIVE}"),
        *("Mon, 99 Nov 2026 12:00:10 GMT", "Mon, 30 Nov 99999 12:00:10 GMT"),
        *("Mon, 30 Nov 2026 25:00:10 GMT", "Mon, 30 Nov 2026 12:00:10 +9999"),
    ],
)
def test_nonsense_in_retry_after_is_ignored(value):
    assert retry_after(Headers([("retry-after", value)]), lambda: NOW) is None


def test_milliseconds_are_finer_and_win_and_the_first_that_makes_sense_counts():
    assert retry_after(Headers([("retry-after-ms", "250"), ("retry-after", "9")])) == 0.25
    assert retry_after(Headers([("retry-after-ms", "soon"), ("retry-after", "9")])) == 9.0
    assert retry_after(Headers([("retry-after", "9"), ("retry-after", "9")])) is None


def test_a_date_is_measured_by_the_servers_own_clock_when_it_tells_it():
    date = datetime(2030, 1, 1, tzinfo=UTC)
    headers = Headers(
        [
            ("date", format(date, "%a, %d %b %Y %H:%M:%S GMT")),
            ("retry-after", format(date + timedelta(seconds=5), "%a, %d %b %Y %H:%M:%S GMT")),
        ]
    )
    assert retry_after(headers, lambda: NOW) == 5.0


def test_a_date_does_not_depend_on_the_machines_time_zone(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert datetime.now(timezone(timedelta())).astimezone().tzinfo is not None
        assert retry_after(Headers([("retry-after", "Mon Nov 30 12:00:10 2026")]), lambda: NOW) == 10.0
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text(max_size=80), st.text(max_size=80))
def test_whatever_the_headers_say_it_is_a_sane_number_or_nothing(first, second):
    headers = Headers([("retry-after", first), ("date", second), ("retry-after-ms", second)])
    seconds = retry_after(headers, lambda: NOW)
    assert seconds is None or 0 <= seconds < 1e12


# Request IDs


def test_the_first_of_the_usual_request_ids_counts():
    names = ["x-request-id", "request-id", "apim-request-id", "x-ms-request-id", "cf-ray"]
    for index, name in enumerate(names):
        assert request_id(Headers([(n, n) for n in reversed(names[index:])])) == name
    assert request_id(NOTHING) is None


@pytest.mark.parametrize("bad", ["", "two words", "x" * 257, "\xe9", "tab\there"])
def test_an_id_that_is_no_plain_word_is_skipped(bad):
    assert request_id(Headers([("x-request-id", bad), ("cf-ray", "ray")])) == "ray"


def test_errors_carry_it():
    assert error_of_status(500, Headers([("cf-ray", "ray")]), SILENT).request_id == "ray"
    assert isinstance(error_of_status(408, NOTHING, SILENT), svir.RequestTimeoutError)
