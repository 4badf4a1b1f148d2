"""What a chunk of a Chat Completions stream says, as far as svir listens.

1. The types are what an unremarkable chunk looks like. ``read_typed`` takes those and no other: whatever
   deviates, in any way, is an exception and goes to ``_read.py``, which knows every rule.
2. So a key that must be looked at by a rule is here with the type ``None``: present with a value, it is no
   unremarkable chunk. Keys without any meaning to us are left out, and skipped by the parser.
3. Both readers make the same values, and what follows from them is decided once, in ``_answer.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

__all__ = [
    "Annotation",
    "Choice",
    "Chunk",
    "Delta",
    "Details",
    "Function",
    "Piece",
    "WireUsage",
    "read_typed",
]

Finish = Literal["stop", "tool_calls", "length", "content_filter"]
Count = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
"""Counts have at most 18 digits, and are not negative."""


class Details(msgspec.Struct, gc=False):
    """What a count is made of."""

    reasoning_tokens: Count | None = None
    cached_tokens: Count | None = None


class WireUsage(msgspec.Struct, gc=False):
    """Token counts."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count | None = None
    completion_tokens_details: Details | None = None
    prompt_tokens_details: Details | None = None


class Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What a piece of a call adds."""

    name: str | None = None
    arguments: str | None = None


class Piece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A piece of a call."""

    index: Annotated[int, msgspec.Meta(ge=0)]
    id: str | None = None
    type: Literal["function"] | None = None
    function: Function | None = None


class Delta(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What a chunk adds to the answer.

    The last five are keys that real servers send as nulls in every delta.
    """

    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[Piece] | None = None
    tool_call_id: None = None
    name: None = None
    function_call: None = None
    audio: None = None
    annotations: None = None


NO_VERDICTS = msgspec.Raw(b"null")
BLOCKING = msgspec.Raw(b'{"any":{"filtered":true}}')


class Choice(msgspec.Struct, gc=False):
    """One choice. A filter's verdicts are kept as JSON, since they are mostly the same ones again."""

    delta: Delta
    index: Annotated[int, msgspec.Meta(ge=0, le=0)] = 0
    finish_reason: Finish | None = None
    content_filter_results: msgspec.Raw = NO_VERDICTS
    content_filter_offsets: None = None


class Annotation(Choice, gc=False):
    """A choice that is a content filter's annotation, and brings nothing of the answer (D35).

    Only ``_read.py`` makes these.
    """


class Chunk(msgspec.Struct, gc=False):
    """One event's data. Choices are none or one, unless lenient mode read more."""

    choices: Annotated[list[Choice], msgspec.Meta(max_length=1)]
    id: str | None = None
    model: str | None = None
    usage: WireUsage | None = None
    error: None = None
    prompt_filter_results: None = None
    prompt_annotations: None = None


read_typed = msgspec.json.Decoder(Chunk).decode
