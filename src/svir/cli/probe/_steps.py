"""The requests, in the order in which they are sent.

1. A request is written by svir's own encoder: what is asked is what svir would ask.
2. A step sees what came before it. So a later one is sent as this server wants it, and one that the answers
   so far make needless is not sent at all.
3. The first few find out how the server is asked; every later one adds one thing to what it is known to take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from svir.cli.probe._ask import Asked
from svir.cli.probe._evidence import COMPLETION_TOKENS, MAX_TOKENS, OTHER_PATH
from svir.openai.chat import Encoder
from svir.types import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.cli.probe._evidence import Evidence

__all__ = ["BASICS", "STEPS", "Step"]

SAY_YES = Request(messages="Say yes.")
TALK = Request(messages="Describe the sea in about fifty words.")


class Step(NamedTuple):
    """One request.

    Attributes:
        name: What its answer is known by.
        build: The request, or None when it is not to be sent.
        tokens: Most tokens of an answer it may ask for.
        seconds: How long its answer may take.
        requests: Most requests that are sent for it.
    """

    name: str
    build: Callable[[Evidence], Asked | None]
    tokens: int = 1
    seconds: float = 30.0
    requests: int = 1


def chat(
    evidence: Evidence,
    request: Request,
    tokens: int = 1,
    *,
    usage: bool = False,
    max_tokens_field: str | None = None,
) -> Asked:
    """A request for an answer of at most so many tokens, in the way this server is asked."""
    dialect = evidence.dialect
    encoder = Encoder(
        include_usage=usage and dialect.usage, max_tokens_field=max_tokens_field or dialect.max_tokens_field
    )
    request = request.replace(model=evidence.model, max_tokens=tokens)
    return Asked(path=dialect.path, body=bytes(encoder.encode(request)), tokens=tokens)


def models(_: Evidence) -> Asked:
    """The listing."""
    return Asked(method="GET", path="/v1/models")


def bare(evidence: Evidence) -> Asked:
    """The least that can be asked."""
    return chat(evidence, SAY_YES, max_tokens_field=MAX_TOKENS)


def elsewhere(evidence: Evidence) -> Asked | None:
    """The same at the path without /v1, when nothing is at the usual one."""
    if not evidence.not_there("bare"):
        return None
    return msgspec.structs.replace(bare(evidence), path=OTHER_PATH)


def completion(evidence: Evidence) -> Asked:
    """The least, with the limit's newer name."""
    return chat(evidence, SAY_YES, max_tokens_field=COMPLETION_TOKENS)


def plain(evidence: Evidence) -> Asked:
    """An answer of some length, with token counts."""
    return chat(evidence, TALK, 128, usage=True)


def lean(evidence: Evidence) -> Asked | None:
    """The same without ``stream_options``, when that was rejected."""
    return chat(evidence, TALK, 128) if evidence.rejected("plain") else None


STEPS = (
    Step("models", models, tokens=0),
    Step("bare", bare, seconds=60.0),
    Step("elsewhere", elsewhere, seconds=60.0),
    Step("completion", completion),
    Step("plain", plain, tokens=128),
    Step("lean", lean, tokens=128),
)
BASICS = frozenset({"bare", "elsewhere", "completion"})
"""Asked whatever is asked: how the server wants to be asked, and whether it answers at all."""
