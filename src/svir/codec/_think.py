"""Takes ``<think>...</think>`` out of a text that arrives in pieces (D23).

1. A tag can be cut anywhere. The end of a piece that may be the start of the awaited tag is held back until
   the next piece decides it.
2. Outside only an opening tag means something, inside only a closing one: blocks do not nest, and a closing
   tag that was never opened is text.
3. What is still held back at the end was no tag, and is what the text around it is.
"""

from __future__ import annotations

__all__ = ["ThinkSplitter", "may_open"]

OPEN = "<think>"
CLOSE = "</think>"


class ThinkSplitter:
    """Splits one text.

    Attributes:
        inside: Whether the next character is reasoning.
        held: The end of the text so far that may be the start of a tag.

    Example:
        >>> splitter = ThinkSplitter()
        >>> splitter.feed("<thi"), splitter.feed("nk>hm</think>So"), splitter.held
        ([], [(True, 'hm'), (False, 'So')], '')
    """

    __slots__ = ("held", "inside")

    def __init__(self) -> None:
        self.inside = False
        self.held = ""

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """The pieces this text decides, each with whether it is reasoning; none is empty."""
        pieces: list[tuple[bool, str]] = []
        if self.held:
            text = self.held + text  # shorter than a tag, so this stays linear
            self.held = ""
        pos = 0
        while True:
            tag = CLOSE if self.inside else OPEN
            found = text.find(tag, pos)
            if found < 0:
                break
            if found > pos:
                pieces.append((self.inside, text[pos:found]))
            pos = found + len(tag)
            self.inside = not self.inside
        rest = text[pos:] if pos else text
        kept = _possible_start(rest, tag)
        if kept:
            self.held = rest[-kept:]
            rest = rest[:-kept]
        if rest:
            pieces.append((self.inside, rest))
        return pieces

    def flush(self) -> list[tuple[bool, str]]:
        """What was held back, at the end of the text."""
        held, self.held = self.held, ""
        return [(self.inside, held)] if held else []


def may_open(text: str) -> bool:
    """Whether a text outside of tags holds an opening one, or its end may be the start of one."""
    return OPEN in text or "<" in text[1 - len(OPEN) :]


def _possible_start(text: str, tag: str) -> int:
    """How many characters at the end of the text are the start of the tag."""
    at = text.rfind("<", -(len(tag) - 1))
    return len(text) - at if at >= 0 and tag.startswith(text[at:]) else 0
