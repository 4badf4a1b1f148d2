"""Markdown that arrives in pieces: which of it is finished, and how it looks.

1. Text is cut where a block of the outermost level begins: what is before it cannot change any more. The
   block that is open is the last one, and may still become anything.
2. What may mean two things is not shown until it is known (`settled`): a dash under a line makes it a heading
   or begins a list, a row of cells is text until the line below it makes a table. So nothing is drawn as one
   thing and a moment later as another.
3. All of the model's text is there: HTML is text, line breaks stay, a link's target is written out.
4. Control characters are left out of what is drawn, not of what is read: Markdown can spell one (`&#12;`).
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from rich.markdown import Heading, Markdown, TableDataElement
from rich.segment import Segment
from rich.text import Text

from svir.cli._output import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token
    from rich.console import Console, ConsoleOptions, JustifyMethod

__all__ = ["Blocks", "Drawn", "outermost", "parse", "settled"]

PARSER = MarkdownIt().enable(["strikethrough", "table"])
# What these read would not be drawn: HTML, an image's address, and the addresses of links listed at the end.
PARSER.disable(["html_block", "html_inline", "image", "reference"])
# Rules are made ready when they are first used: of two threads, one would find what is only half ready.
PARSER.parse("ready")

# A line that is not whole: nothing but what may become a mark, or a row of cells, or the beginning of code,
# which a further backtick would make a part of a sentence.
UNCLEAR = re.compile(r"[-=*+#>~`_.)\d\[\] \t]*(?:\|.*|```.*)?")
WORTH = 32
"""A block is read again when it has grown by one line, and by one in so many."""
ROW = re.compile(r"[ \t]*\|")
FENCE = re.compile(r" {0,3}(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)\n")


def settled(text: str) -> str:
    r"""The text without an end that may yet mean two things.

    Example:
        >>> settled("Three reasons:\n-")
        'Three reasons:\n'
        >>> settled("| a | b |\n")
        ''
    """
    head, newline, last = text.rpartition("\n")
    if UNCLEAR.fullmatch(last):
        text = head + newline
    above, newline, last = text.rstrip("\n").rpartition("\n")
    before = above.rpartition("\n")[2]
    header = ROW.match(last) and not ROW.match(before) and not text.endswith("\n\n")
    return above + newline if header else text


def in_fence(text: str) -> bool:
    """Whether the text is a fence of code that is not closed: whatever comes, the block goes on."""
    begun = FENCE.match(text)
    if begun is None:
        return False
    mark = begun[1] or begun[2]
    return re.search(rf"^ {{0,3}}{mark}+[ \t]*$", text[begun.end() :], re.MULTILINE) is None


def tail(text: str, lines: int) -> str:
    """The text, or of code that is not closed no more than its last lines, so that drawing takes no time."""
    if not in_fence(text):
        return text
    first, *rest = text.splitlines(keepends=True)
    return first + "".join(rest[-lines:])


def parse(text: str) -> Sequence[Token]:
    """The tokens of a text, line breaks kept."""
    tokens = PARSER.parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
    return tokens


class Blocks:
    r"""Text that grows, cut into what is finished and what is open.

    Example:
        >>> blocks = Blocks()
        >>> [token.type for token in blocks.push("# One\nTw")]
        ['heading_open', 'inline', 'heading_close']
        >>> blocks.open
        'Tw'
    """

    def __init__(self) -> None:
        self.open = ""
        self._seen = (0, False)
        self._enough = 0  # lines of the open block before it is read again

    def push(self, piece: str) -> Sequence[Token]:
        """Takes a piece of text, and returns the blocks that are finished by it: often none."""
        self.open += piece
        text = settled(self.open)
        # Blocks begin with a line, so it is only worth looking when one has begun.
        seen = (text.count("\n"), text.endswith("\n"))
        if seen == self._seen or seen[0] < self._enough:
            return ()
        self._seen = seen
        tokens = () if in_fence(text) else parse(text)
        blocks = outermost(tokens)
        if len(blocks) < 2:
            # All of it is read each time: at every line, a long list would take the square of its length.
            self._enough = seen[0] + seen[0] // WORTH
            return ()
        lines = (blocks[-1][0].map or [0])[0]
        self.open = self.open.split("\n", lines)[lines]
        self._seen, self._enough = (0, False), 0
        return tokens[: -len(blocks[-1])]

    def end(self) -> Sequence[Token]:
        """The rest, as it is."""
        rest, self.open = self.open, ""
        return parse(rest)


class _Heading(Heading):
    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Cell(TableDataElement):
    def __init__(self, justify: JustifyMethod) -> None:
        super().__init__(justify)
        self.content.overflow = "fold"  # by itself a long word would end in an ellipsis


class _Tokens(Markdown):
    """Tokens drawn by rich."""

    elements = {  # noqa: RUF012 (rich's own is a plain dict too)
        **Markdown.elements,
        "heading_open": _Heading,
        "th_open": _Cell,
        "td_open": _Cell,
    }

    def __init__(self, tokens: Sequence[Token]) -> None:
        # No hyperlinks: a terminal would show their text, and hide where they lead.
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.parsed = list(tokens)


class Drawn:
    """Something to draw: without control characters, and when it moves, no more of it than fits.

    Args:
        what: Blocks of Markdown as tokens or as their source, or a text of another kind.
        gap: Whether a blank line comes first, as between blocks.
        last: How many lines there may be, of what moves: the last ones are drawn, and of a source only what
            is settled. None for all.
    """

    def __init__(
        self, what: Sequence[Token] | str | Text, *, gap: bool = False, last: int | None = None
    ) -> None:
        self._what = what
        self._gap = gap
        self._last = last

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        what = self._what
        if isinstance(what, str):
            what = parse(what if self._last is None else tail(settled(what), self._last))
        parts: list[Text | Markdown] = (
            [what] if isinstance(what, Text) else [_Tokens(block) for block in outermost(what)]
        )
        lines: list[list[Segment]] = []
        for number, part in enumerate(parts):
            drawn = [clean(line) for line in console.render_lines(part, options)]
            # Blocks bring blank lines of their own, some more and some fewer.
            shown = [n for n, line in enumerate(drawn) if line]
            if shown:
                lines += [[]] * (self._gap or number > 0) + drawn[shown[0] : shown[-1] + 1]
        for line in lines[-(self._last or 0) :]:
            yield from line
            yield Segment.line()


def clean(line: list[Segment]) -> list[Segment]:
    """A line without control characters, and without the blanks that rich fills it up with.

    Those would be copied along, and wrapped where the terminal gets narrower.
    """
    end = max((n for n, segment in enumerate(line) if segment.text.strip()), default=-1)
    kept = [Segment(harmless(segment.text), segment.style) for segment in line[: end + 1]]
    return [*kept[:-1], Segment(kept[-1].text.rstrip(), kept[-1].style)] if kept else []


def outermost(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The blocks of the outermost level, each with all of its tokens."""
    starts = [n for n, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    return [tokens[start:end] for start, end in itertools.pairwise([*starts, len(tokens)])]
