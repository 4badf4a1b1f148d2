"""Leaves the key out of what a server says: some repeat it, and what is printed is often kept."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

__all__ = ["withheld"]

WITHHELD = "<key>"
SHORTEST_KEY = 4
"""Characters; what is shorter is no key, and would be found everywhere."""
KNOWN_BY = 8
"""A text that begins like the key for so many characters is the key, also when it is cut."""


def withheld(text: str, *keys: str) -> str:
    """The text without these keys, as they are or as JSON and URLs write them.

    Example:
        >>> withheld("no such key: sk-12345678, or sk-1234567", "sk-12345678")
        'no such key: <key>, or <key>'
    """
    for key in keys:
        if len(key) >= SHORTEST_KEY:
            text = _without(text, key)
    return text


def _without(text: str, key: str) -> str:
    in_json = msgspec.json.encode(key).decode()[1:-1]
    for shape in dict.fromkeys((key, in_json, in_json.replace("/", "\\/"), quote(key, safe=""))):
        head = shape[:KNOWN_BY]
        at = text.find(head)
        while at >= 0:
            end = at + len(head)
            while end < len(text) and end - at < len(shape) and text[end] == shape[end - at]:
                end += 1
            text = text[:at] + WITHHELD + text[end:]
            at = text.find(head, at + len(WITHHELD))
    return text
