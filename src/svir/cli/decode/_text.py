"""Texts and bytes of a recording as one line that shows every character and drives no terminal."""

from __future__ import annotations

import json

from svir.cli._output import escaped

__all__ = ["plain", "quoted"]

HEAD_CHARACTERS, TAIL_CHARACTERS = 240, 80
"""How much of bytes is shown: of their beginning, and of their end."""


def quoted(text: str) -> str:
    r"""A text as a JSON string.

    Example:
        >>> print(quoted(f"a line\n{chr(0x9B)}2J"))
        "a line\n\u009b2J"
    """
    shown = json.dumps(text, ensure_ascii=False)
    return (
        shown
        if shown.isprintable()
        else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in shown)
    )


def plain(data: bytes) -> str:
    r"""Bytes as text, shortened in the middle.

    Example:
        >>> print(plain(b"data: \xff\n"))
        data: \xff\n
    """
    shown = escaped(data.decode("utf-8", "backslashreplace"))
    if len(shown) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return shown
    return f"{shown[:HEAD_CHARACTERS]} ... {shown[-TAIL_CHARACTERS:]}"
