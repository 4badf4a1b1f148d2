"""A report as a page: what the server does at a glance, and behind each line the bytes that show it."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from svir.cli.probe._markup import Html, element, joined
from svir.cli.probe._page import about, block, code, counts, facts, footer, mark, page, section
from svir.cli.probe._plot import arrivals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.cli.probe._report import Report, Row

__all__ = ["details", "render"]

# A report has bytes in one line. Here each event of a stream, and the body of a request, begins on its own.
REQUEST = re.compile(r"\A([A-Z]+ [^\n{]+) (?={)")
EVENT_END = r"\n\n"


def render(report: Report) -> str:
    """The page: one HTML file that needs nothing else."""
    return page(
        f"{report.url}, probed by svir",
        element(
            "header",
            element("p", "svir probe", class_="kind"),
            element("h1", report.url),
            about(report),
            counts(report.rows),
        ),
        element("main", overview(report), only_the_rest(), *groups(report.rows)),
        footer(),
    )


def overview(report: Report) -> Html:
    """The client that fits, and how fast it is answered."""
    parts = [section("The client for it", block(report.call), class_="call")]
    if figure := arrivals(report.speed):
        parts.append(section("How an answer came", figure, class_="speed"))
    return element("div", *parts, class_="overview")


def only_the_rest() -> Html:
    """A switch that hides what is in order; the style sheet does it."""
    box = element("input", type="checkbox", class_="only")
    return element("p", element("label", box, " Only what is not ok"), class_="choice")


def groups(rows: tuple[Row, ...]) -> Iterable[Html]:
    """The rows by what they are about: the part of their names before the dot."""
    for name, found in groupby(rows, key=lambda row: row.id.partition(".")[0]):
        items = (element("li", opening(row)) for row in found)
        yield section(name.replace("_", " "), element("ul", *items, class_="rows"), class_="group")


def opening(row: Row) -> Html:
    """A row in one line, and all there is to it when it is opened."""
    line = element(
        "summary",
        mark(row.verdict),
        element("h3", row.question),
        element("span", row.finding, class_="finding"),
    )
    return element("details", line, facts(details(row), class_="more"))


def details(row: Row) -> list[tuple[str, str]]:
    """What a row has, by name."""
    return [
        ("Strict", row.strict),
        ("Lenient", "as in strict mode" if row.strict == row.lenient != "" else row.lenient),
        ("Options", joined((code(option) for option in row.options), " ")),
        ("Advice", row.advice),
        ("Sent", row.sent and block(REQUEST.sub(r"\1\n", row.sent))),
        ("Answered", row.shown and block(row.shown.replace(EVENT_END, f"{EVENT_END}\n"))),
        ("Name", code(row.id)),
    ]
