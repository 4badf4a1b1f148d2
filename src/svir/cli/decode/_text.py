"""Texts and bytes of a recording as one line that shows every character and drives no terminal."""

from __future__ import annotations

import json
import re

__all__ = ["plain", "quoted"]

HEAD_CHARACTERS, TAIL_CHARACTERS = 240, 80
"""How much of bytes is shown: of their beginning, and of their end."""

# Control characters, and what makes a line of its own or turns its direction.
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def quoted(text: str) -> str:
    r"""A text as a JSON string.

    Example:
        >>> print(quoted(f"a line\n{chr(0x9B)}2J"))
        "a line\n\u009b2J"
    """
    return UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def plain(data: bytes) -> str:
    r"""Bytes as text, shortened in the middle.

    Example:
        >>> print(plain(b"data: \xff\n"))
        data: \xff\n
    """
    text = data.decode("utf-8", "backslashreplace")
    shown = UNSHOWN.sub(lambda found: repr(found[0])[1:-1], text)
    if len(shown) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return shown
    return f"{shown[:HEAD_CHARACTERS]} ... {shown[-TAIL_CHARACTERS:]}"
