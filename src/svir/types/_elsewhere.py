"""What the ``openai`` package calls otherwise, or has where svir has something else.

Whoever brings such a name is told svir's own way, the same one wherever the name was given. Nothing here is
imported before there is a mistake to explain; docs/migrating.md says all of it at length.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["FIELDS", "OPTIONS", "no_such_attribute", "no_such_name", "not_extra"]

PROMPT = "what is asked is the first argument, or messages="
URL = "the URL is the first argument"

FIELDS = {
    "extra_body": "extra={...} sends what svir does not know",
    "extra_headers": "client.with_options(headers={...}) sends them",
    "extra_query": "client.with_options(query={...}) sends it",
    "function_call": "tool_choice= says whether a tool is called",
    "functions": "tools= offers them",
    "input": PROMPT,
    "instructions": "system= is the system prompt",
    "max_completion_tokens": "max_tokens= is the limit, and the client's "
    "max_tokens_field='max_completion_tokens' the name it is sent by",
    "max_output_tokens": "max_tokens= is the limit",
    "n": "a request has one answer: client.complete_all([request] * 3) asks for three",
    "prompt": PROMPT,
    "reasoning_effort": "effort= says how much to reason",
    "request": PROMPT,
    "stream": "every answer is streamed: client.stream() gives its pieces, and client.complete() the whole",
    "stream_options": "include_usage= says whether token counts are asked for",
}
"""Fields of a request."""

OPTIONS = {
    "api_version": "query={'api-version': ...} sends it",
    "azure_deployment": "path= is the path of requests below the URL",
    "azure_endpoint": URL,
    "base_url": URL,
    "default_headers": "headers={...} sends them",
    "default_query": "query={...} sends it",
    "http_client": "backend= sends requests another way",
    "max_retries": "layers=[Retry.transient(2)], of svir.layers, tries again",
    "organization": "headers={'openai-organization': ...} sends it",
    "project": "headers={'openai-project': ...} sends it",
}
"""Options of a client."""

PIECES = "a stream has events: match their classes, or iterate over stream.text()"
PARTS = "what it says is in parts"

ATTRIBUTES = {
    "Completed": {"choices": PIECES, "delta": PIECES},
    "Completion": {
        "choices": "it is the one answer: text, calls, finish, usage",
        "content": "what it says is in text",
        "finish_reason": "it is finish here",
        "message": "it is the one answer: text, calls, finish, usage",
        "tool_calls": "it is calls here",
    },
    "Message": {"content": PARTS, "tool_calls": PARTS},
    "ReasoningDelta": {"choices": PIECES, "delta": PIECES},
    "TextDelta": {"choices": PIECES, "content": "what it says is in text", "delta": PIECES},
    "ToolCall": {"function": "name and arguments are its own"},
    "ToolCallDelta": {"choices": PIECES, "delta": PIECES},
    "Usage": {
        "completion_tokens": "it is output here",
        "prompt_tokens": "it is input here",
        "total_tokens": "it is total here",
    },
}
"""Attributes of values, by their classes, each of which has an ``Elsewhere`` for every one."""


def no_such_attribute(value: object, owner: type, name: str) -> AttributeError:
    """What to raise for an attribute that a value has elsewhere."""
    what = f"{owner.__name__!r} object" if value is not None else f"type object {owner.__name__!r}"
    known = {name: said for kind in owner.__mro__ for name, said in ATTRIBUTES.get(kind.__name__, {}).items()}
    said = f"{what} has no attribute {name!r}: {known[name]}; docs/migrating.md has both side by side"
    return AttributeError(said, name=name, obj=owner if value is None else value)


def no_such_name(
    what: str, name: str, known: Iterable[str], elsewhere: Mapping[str, str], hint: str = ""
) -> TypeError:
    """What to raise for a name that is none, with what says it here, or what may have been meant.

    Example:
        >>> print(no_such_name("a request has no field", "n", ["seed"], {"n": "ask twice"}))
        a request has no field 'n': ask twice
        >>> print(no_such_name("a request has no field", "seeds", ["seed"], {}))
        a request has no field 'seeds': did you mean seed?
    """
    advice = [elsewhere[name]] if name in elsewhere else []
    if not advice:
        advice = [f"did you mean {near}?" for near in get_close_matches(name, [*known], 1, 0.7)]
        advice += [hint] if hint else []
    return TypeError(": ".join([f"{what} {name!r}", *([" ".join(advice)] if advice else [])]))


def not_extra(name: str) -> str:
    """Why ``extra`` must not set a field of the body."""
    return FIELDS.get(name, "it is a field of the request")
