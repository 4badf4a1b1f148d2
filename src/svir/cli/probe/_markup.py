"""HTML and SVG from values that are not ours.

1. A string is text until it is an `Html`: `element` escapes what is none, so that nothing can be forgotten.
2. What cannot be seen, or changes how the rest is seen, is shown as Python's own escape and marked as one:
   control characters, bidirectional overrides, what has no width, lone surrogates, what no script has.
   Line breaks and tabs stay.
3. No value becomes a name, a link or a style: there are only texts, in elements that this package chose.
"""

from __future__ import annotations

import html
from itertools import groupby
from typing import TYPE_CHECKING

from svir.cli._output import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Html", "element", "joined", "text", "visible"]

ALONE = frozenset({"meta", "input", "rect", "line", "path"})
"""The elements used here that have no content."""
LISTS = frozenset(
    {"html", "head", "body", "header", "main", "footer", "section", "div", "dl", "ul", "figure"}
)
"""Those that only hold others, each on a line of its own: so a page can be read as it is, too."""


class Html(str):
    """Markup, which goes into a page as it is."""

    __slots__ = ()


def visible(value: str) -> str:
    """The text with an escape in the place of whatever cannot be seen, in the lines that it has."""
    return escaped(value, keep="\n\t")


def text(value: str) -> Html:
    r"""The value as text of a page; ``class="esc"`` tells an escape from the same letters in the value.

    Example:
        >>> text(f"<b>{chr(0)}")
        '&lt;b&gt;<span class="esc">\\x00</span>'
    """
    runs = ((seen, html.escape("".join(run))) for seen, run in groupby(value, key=lambda c: visible(c) == c))
    return Html(
        "".join(
            run if seen else f'<span class="esc">{html.escape(visible(run))}</span>' for seen, run in runs
        )
    )


def joined(parts: Iterable[str], between: str = "") -> Html:
    """The parts one after the other, each that is no markup as text."""
    return Html(text(between).join(part if isinstance(part, Html) else text(part) for part in parts))


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """An element. In attributes, a trailing ``_`` is dropped and ``_`` stands for ``-``.

    Example:
        >>> element("p", "1 < 2 ", element("b", "&"), class_="note")
        '<p class="note">1 &lt; 2 <b>&amp;</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(value))}"'
        for key, value in attributes.items()
    )
    if name in ALONE:
        return Html(f"<{name}{given}/>")
    between = "\n" if name in LISTS else ""
    return Html(f"<{name}{given}>{between}{joined(children, between)}{between}</{name}>")
