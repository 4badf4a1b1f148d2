"""What a server says of its own failure: in the body of a status, and inside a stream.

1. Bodies come in many shapes (``_told``); message, code and type are read at the same level of one.
2. A context overflow is told by code, type or words (D30), and ``OVERFLOW`` is the one list of them. A false
   match turns one error that is not retryable into another; but a rate limit is retryable, so words of
   ``RATES`` rule an overflow out.
3. The status decides first: a body refines 400, 413, 422 and 429, and nothing else. Inside a stream there is
   no status, and what is said decides alone.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from svir.codec._api import Failure
from svir.codec._fault import Fault
from svir.codec._json import is_array, is_object, parse

__all__ = ["describe", "error_in", "read_failure"]

REFINED = frozenset({400, 413, 422})
"""Statuses whose body may tell an overflow (D30) or a blocked prompt (D36)."""

OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"}
)

OVERFLOW = (
    "context length",  # OpenAI, vLLM, SGLang, LM Studio, Together, DeepSeek, OpenRouter
    "context size",  # llama.cpp, and the gateways before it
    "context window",  # OpenAI's newer words, llama-cpp-python, LiteLLM
    "context budget",  # mlx-vlm
    "compacted context",  # mlx-vlm
    "exceed context limit",  # Anthropic
    "the model context is",  # dasllama
    "shorten the conversation",  # dasllama
    "input tokens exceed",  # OpenAI and Azure
    "max_tokens must be at least 1, got -",  # vLLM, when the prompt alone fills the window
    "maximum allowed input length",  # hosts behind OpenRouter
    "prompt too long",  # Ollama
    "prompt is too long",  # Anthropic
    "`inputs` tokens + `max",  # TGI
    "total length of all messages is too long",  # Perplexity
    "exceeds the maximum number of tokens allowed",  # Gemini
    "request exceeds the maximum size",  # Anthropic
)
"""Words of an overflow, in lower case."""

RATES = re.compile(
    r"\bper[ -](?:min|minute|second|hour|day|month)\b|\brate[ _-]?limit|\bthrottl|\btoo many requests\b"
    r"|\bwait before\b|\btry again (?:in|after|later)\b|\b[tr]p[md]\b",
    re.IGNORECASE,
)
"""Words of a limit on the rate, which time alone mends."""

QUOTA_CODES = frozenset(
    {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "billing_not_active"}
)
"""What a 429 says when waiting does not help. Words do not tell: hosts use the same ones for both."""

_WORD = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class _Told(NamedTuple):
    message: str | None = None
    code: str | None = None
    type: str | None = None


def read_failure(status: int, body: bytes) -> Failure:
    """What the body of an unsuccessful response says; never raises."""
    told = _read(body)
    failure = _describe(told)
    if status in REFINED:
        return failure
    quota = status == 429 and not QUOTA_CODES.isdisjoint((told.code, told.type))
    return Failure(failure.message, failure.code, "quota" if quota else None)


def describe(data: bytes) -> Failure:
    """What the data of an ``error`` event says: an object, a JSON string, or plain text (D29)."""
    return _describe(_read(data))


def error_in(value: Any) -> Failure | None:
    """The failure that a chunk reports, or None. An ``error`` wins over everything else in it (D29)."""
    if is_array(value) and value:
        value = value[0]
    if not is_object(value):
        return None
    flat = "choices" not in value and str(value.get("object")).lower() == "error"  # SGLang, older vLLM
    return _describe(_told(value)) if flat or value.get("error") is not None else None


def _read(body: bytes) -> _Told:
    try:
        value = parse(body.strip(), strict=False)
    except (ValueError, Fault):
        return _Told(body.decode("utf-8", "replace").strip() or None)
    return _told(value)


def _describe(told: _Told) -> Failure:
    message, code, kind = told
    # A number says less than a word: llama.cpp sends the status as the code, and the word as the type.
    words = sorted((word for word in (code, kind) if word and _WORD.fullmatch(word)), key=str.isdecimal)
    text = f"{message or ''} {code or ''} {kind or ''}".lower()
    overflow = not RATES.search(text) and (
        not OVERFLOW_CODES.isdisjoint((code, kind)) or any(phrase in text for phrase in OVERFLOW)
    )
    word = words[0] if words else None
    if code == "content_filter":  # D36: by the code alone, and before the words
        return Failure(message, word, "content_filter")
    return Failure(message, word, "context_overflow" if overflow else None)


def _told(value: Any) -> _Told:
    """Finds the level that speaks of the failure: ``error``, else ``detail``, else the object itself."""
    if isinstance(value, str):
        return _Told(value or None)
    if is_array(value) and value:
        value = value[0]  # seen around Gemini's errors
    if not is_object(value):
        return _Told()
    error, detail = value.get("error"), value.get("detail")
    if is_object(error):
        return _Told(_text(error.get("message")), _code(error.get("code")), _code(error.get("type")))
    message = error if error is not None else detail if detail is not None else value.get("message")
    return _Told(_text(message), _code(value.get("code")), _code(value.get("type")))


def _text(message: Any) -> str | None:
    """A message: text, a validator's list, or an object that holds one of these."""
    if is_array(message) and message:
        first: Any = message[0]
        message = first.get("msg") if is_object(first) else first
    if is_object(message):
        inner = message.get("detail")
        return _text(inner) if isinstance(inner, list | str) else None
    return message if isinstance(message, str) and message else None


def _code(code: Any) -> str | None:
    if isinstance(code, str):
        return code
    return str(code) if type(code) is int and abs(code) < 10**18 else None
