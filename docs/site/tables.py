"""A Sphinx extension: tables that fit, as far as they can.

A table too wide for the page scrolls in its own box. Before that, long paths go over to the next line, and a
cell with a sentence keeps some width (``td.long`` in the style sheet).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LONG = 20
"""Characters in a cell, or in a path there, that are too many for one line."""


def fit(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Lets long paths in tables go over to the next line, and marks the cells that need some width."""
    if app.builder.format != "html":
        return
    for entry in doctree.findall(nodes.entry):
        if len(entry.astext()) > LONG:
            entry["classes"].append("long")
        for literal in list(entry.findall(nodes.literal)):
            pieces = re.split(r"(?<=/)|(?<=::)|(?<=_)(?=\w{4})", literal.astext())
            if len(literal.astext()) > LONG and len(pieces) > 1:
                literal.clear()
                for piece in pieces:
                    literal += [nodes.Text(piece), nodes.raw("", "<wbr>", format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", fit, priority=600)  # when names have become links
    return {"parallel_read_safe": True, "parallel_write_safe": True}
