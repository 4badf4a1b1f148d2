"""What a probe found: what every view shows, `--json` writes, and `--compare` reads."""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = ["Report", "Row", "Speed", "Verdict"]


class Verdict(StrEnum):
    """How an answer to one question is to be taken."""

    OK = "ok"
    """As the API's own documents have it."""
    DIFFERENT = "different"
    """Not as they have it, and svir's strict mode gets along with it."""
    BROKEN = "broken"
    """Strict mode refuses it, or an answer is lost by it."""
    UNSUPPORTED = "unsupported"
    """The server says that it cannot, or shows it by leaving it out."""
    UNCLEAR = "unclear"
    """Asked, and what came back tells nothing: the model may not have done what it was asked to."""
    SKIPPED = "skipped"
    """Not asked."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One question and what was found.

    Attributes:
        id: The question's name, as ``stream.done``: the part before the dot is what ``--only`` takes.
        question: What was asked, in words.
        verdict: How it is to be taken.
        finding: One sentence: what this server does.
        sent: The request, as text: method, path, and the body shortened to what matters. Never a key.
        shown: The bytes of the answer that show it, as text, shortened. What drives a terminal is escaped.
        strict: What svir makes of the answer in strict mode.
        lenient: The same in lenient mode.
        options: Arguments for ``Client.openai`` that follow, as ``max_tokens_field='max_completion_tokens'``.
        advice: What else to do about it; empty when there is nothing.
    """

    id: str
    question: str
    verdict: Verdict
    finding: str
    sent: str = ""
    shown: str = ""
    strict: str = ""
    lenient: str = ""
    options: tuple[str, ...] = ()
    advice: str = ""


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """How fast one streamed answer came. Times are in seconds from the moment its request was sent.

    Attributes:
        first_token: When the first piece of text or reasoning came; None when none did.
        tokens_per_second: Tokens by the server's count over the time they took; None when it sent no count.
        arrivals: When each piece of the answer came.
    """

    first_token: float | None = None
    tokens_per_second: float | None = None
    arrivals: tuple[float, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one probe found.

    Attributes:
        svir: The version of svir that asked.
        url: The server, without user, password or query.
        model: The model that was asked.
        server: What the server calls itself in its ``server`` header; empty when it does not.
        started: When the probe began, ISO 8601 in UTC.
        seconds: How long it took.
        requests: How many requests it sent.
        rows: What was found, in the order of the questions.
        speed: How fast an answer came.
        call: The ``Client.openai(...)`` call that fits this server, ready to paste.
        format: The version of this form: 1.
    """

    svir: str
    url: str
    model: str
    server: str = ""
    started: str
    seconds: float
    requests: int
    rows: tuple[Row, ...]
    speed: Speed = Speed()
    call: str
    format: int = 1
