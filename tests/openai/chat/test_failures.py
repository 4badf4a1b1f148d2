from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir.codec._api import Failure
from svir.openai.chat import API
from svir.openai.chat._failures import describe, error_in


def read(body, status=400):
    return API.read_failure(status, body if isinstance(body, bytes) else json.dumps(body).encode())


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "no", "type": "t", "param": None, "code": "c"}}, "no", "c"),
        ({"error": {"message": "no", "type": "server_error", "code": 500}}, "no", "server_error"),
        ({"error": {"message": "no", "type": None, "code": "400"}}, "no", "400"),
        ({"error": {"message": "no", "type": "two words", "code": 3001}}, "no", "3001"),
        ({"error": {"message": "no", "code": "x" * 65}}, "no", None),
        ({"error": {"message": "no", "code": "a b"}}, "no", None),
        ({"error": {"message": "no", "code": True}}, "no", None),
        ({"error": "no", "code": "c"}, "no", "c"),
        ({"error": ["no"]}, "no", None),
        ({"error": {"message": None}, "detail": "other"}, None, None),
        ({"error": {"message": {"detail": [{"msg": "no", "loc": []}]}}}, "no", None),
        ({"error": 7, "message": "other"}, None, None),
        ({"error": None, "detail": "no"}, "no", None),
        ({"detail": [{"type": "missing", "loc": ["body"], "msg": "no"}]}, "no", None),
        ({"detail": {"msg": "no"}}, None, None),
        ({"detail": []}, None, None),
        (
            {"object": "error", "message": "no", "type": "BadRequestError", "code": 400},
            "no",
            "BadRequestError",
        ),
        ({"status": "failure", "message": "no"}, "no", None),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, "no", "overloaded_error"),
        ([{"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}}], "no", "429"),
        ("no", "no", None),
        (b" no \n", "no", None),
        (b"<html>\xff</html>", "<html>\ufffd</html>", None),
        (b"", None, None),
        (b"null", None, None),
        (b"[]", None, None),
    ],
)
def test_message_and_code_are_found_in_every_shape_of_a_body(body, message, code):
    failure = read(body)
    assert (failure.message, failure.code) == (message, code)


OVERFLOWS = """
This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.
Your input exceeds the context window of this model
Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.
max_tokens must be at least 1, got -812.
The input (9001 tokens) is longer than the model's context length (8192 tokens).
the request exceeds the available context size, try increasing it
Requested tokens (9001) exceed context window of 8192
Trying to keep the first 9001 tokens when context the overflows. The model has a context length of only 8192
tokens to keep from the initial prompt is greater than the context length
prompt too long; exceeded max context length by 12 tokens
Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192
Input length 9001 exceeds the maximum allowed input length of 8192 tokens.
The total length of all messages is too long.
The input token count (9001) exceeds the maximum number of tokens allowed (8192)
prompt is too long: 9001 tokens > 8192 maximum
input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192, decrease input length and try again
Output reservation leaves no room for compacted context.
This exceeds the available context budget.
the rendered prompt is 9001 tokens; the model context is 8192
""".strip().splitlines()


@pytest.mark.parametrize("message", OVERFLOWS)
def test_an_overflow_is_told_by_its_words(message):
    for words in (message, message.upper(), f"provider said: {message}"):
        assert read({"error": {"message": words}}).meaning == "context_overflow"
    assert read({"detail": message}, 422).meaning == "context_overflow"
    assert read(message.encode(), 413).meaning == "context_overflow"
    for status in (401, 404, 429, 500, 503):
        assert read({"error": {"message": message}}, status).meaning is None


@pytest.mark.parametrize("key", ["code", "type"])
@pytest.mark.parametrize(
    "word", ["context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"]
)
def test_an_overflow_is_told_by_code_or_type(key, word):
    assert read({"error": {"message": "no", key: word}}).meaning == "context_overflow"


@pytest.mark.parametrize(
    "message",
    [
        "Too many tokens, please wait before trying again.",
        "Too many tokens per minute",
        "This request exceeds the limit of 30000 tokens per minute",
        "Rate limit reached for the context window tier, try again in 20s",
        "Throttled: input tokens exceed your quota",
        "Limit on tokens per min (TPM) with this context length: 9001 requested",
        "Too many requests for this context size",
        "max_tokens=4000 cannot be greater than max_model_len=1024",
        "model not loaded",
    ],
)
def test_a_limit_on_the_rate_is_no_overflow(message):
    assert read({"error": {"message": message}}).meaning is None


def test_a_code_of_a_rate_limit_is_no_overflow():
    body = {"error": {"message": "over the context window", "code": "rate_limit_exceeded"}}
    assert read(body).meaning is None


def test_a_blocked_prompt_is_told_by_its_code_alone():
    blocked = {"error": {"message": "over the context window", "code": "content_filter"}}
    assert read(blocked).meaning == "content_filter"
    assert read(blocked, 500).meaning is None
    assert read({"error": {"message": "content_filter", "type": "content_filter"}}).meaning is None


@pytest.mark.parametrize(
    ("code", "meaning"),
    [("context_length_exceeded", "context_overflow"), ("content_filter", "content_filter"), ("x", None)],
)
def test_a_failure_inside_a_stream_is_read_alike_from_an_event_and_from_a_chunk(code, meaning):
    value = {"error": {"message": "over the context window" if meaning else "no", "code": code}}
    failure = describe(json.dumps(value).encode())
    assert failure == error_in(value)
    assert failure.meaning == meaning


def test_the_data_of_an_error_event_may_be_plain_text():
    assert describe(b" it broke \n") == Failure("it broke")
    assert describe(b'"the prompt is too long"').meaning == "context_overflow"


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
def test_a_quota_that_is_gone_is_told_by_code_or_type_of_a_429(code):
    assert read({"error": {"message": "no", "code": code}}, 429).meaning == "quota"
    assert read({"error": {"message": "no", "type": code, "code": None}}, 429).meaning == "quota"
    assert read({"error": {"message": "no", "code": code}}, 400).meaning is None
    assert read({"error": {"message": f"{code}, slow down", "code": "rate"}}, 429).meaning is None


@pytest.mark.uncounted
@given(
    st.binary()
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_any_body_is_read(body):
    for status in (400, 429, 500):
        API.read_failure(status, body)


@pytest.mark.uncounted
@given(
    st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["error", "detail", "message", "msg", "code", "type"]), inner)
        ),
    )
)
def test_any_value_is_a_failure_or_none(value):
    failure = error_in(value)
    assert failure is None or failure.message is None or isinstance(failure.message, str)
    read(value)
