"""A server's words, made fit to be shown.

1. A key that a server repeats is never shown, nor the beginning of one that was cut.
2. What drives a terminal is escaped, and every text is one line.
3. The key goes before the text is shortened: half a key would be one too many.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from svir.cli._output import escaped
from svir.cli._withheld import withheld

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.http import Secret

__all__ = ["plural", "quoted", "sent_text"]

SENT_CHARACTERS = 600
BEGUN_ESCAPE = re.compile(r"\\(?:x[0-9a-f]?|u[0-9a-f]{0,3}|U[0-9a-f]{0,7})?$")
LONGEST_STRING = 80
"""Characters of a single text in a request that is shown."""


def shortened(text: str, limit: int) -> str:
    """The text, its end cut off where it is longer than so many characters."""
    return text if len(text) <= limit else f"{BEGUN_ESCAPE.sub('', text[: limit - 3])}..."


def quoted(data: bytes | str, keys: Iterable[Secret], limit: int) -> str:
    """Words of a server, as text that can be shown anywhere."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    # Much longer than the limit is never needed, and a server may send a great deal.
    hidden = [key.reveal() for key in keys]
    longest = max(map(len, hidden), default=0)
    return shortened(escaped(withheld(text[: 16 * limit + longest], *hidden)), limit)


def sent_text(method: str, target: str, body: bytes | None, *, wrong_key: bool) -> str:
    """A request as text: its long texts shortened, no header but that a key was made up."""
    line = f"{method} {target}" + (" (with a made-up key)" if wrong_key else "")
    if body is None:
        return line
    try:
        shown = msgspec.json.encode(_short(msgspec.json.decode(body))).decode()
    except msgspec.DecodeError:
        shown = body.decode("utf-8", "replace")
    return f"{line} {shortened(escaped(shown), SENT_CHARACTERS)}"


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return shortened(value, LONGEST_STRING)
    if isinstance(value, list):
        return [_short(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  (JSON)
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def plural(count: int, noun: str) -> str:
    """A count and its noun.

    Example:
        >>> plural(1, "request"), plural(2, "request")
        ('1 request', '2 requests')
    """
    return f"{count} {noun}" + ("" if count == 1 else "s")
