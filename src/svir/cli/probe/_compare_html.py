"""Two reports side by side as a page, in the style of a single one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._compare import Kind
from svir.cli.probe._html import details
from svir.cli.probe._markup import Html, element, joined
from svir.cli.probe._page import about, block, counts, footer, mark, page, section
from svir.cli.probe._plot import arrivals, axes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.cli.probe._compare import Comparison, Pair
    from svir.cli.probe._plot import Axes
    from svir.cli.probe._report import Report, Row

__all__ = ["render_comparison"]

NOTHING = "\N{EN DASH}"


def render_comparison(comparison: Comparison) -> str:
    """The page: one HTML file that needs nothing else."""
    a, b = comparison.a, comparison.b
    on = axes(a.speed, b.speed)
    return page(
        f"{a.url} and {b.url}, probed by svir",
        element(
            "header",
            element("p", "svir probe --compare", class_="kind"),
            element("h1", summary(comparison)),
            element("div", side("A", a, on), side("B", b, on), class_="sides"),
        ),
        element("main", *kinds(comparison)),
        footer(),
    )


def summary(comparison: Comparison) -> str:
    """How many answers there are of each kind."""
    numbers = ((kind, len(comparison.of(kind))) for kind in Kind)
    return ", ".join(f"{number} {kind}" for kind, number in numbers if number) or "No answers to compare"


def side(letter: str, report: Report, on: Axes) -> Html:
    """One of the two; its answer is drawn on axes that do for the other one as well."""
    content = [about(report), counts(report.rows), block(report.call)]
    if figure := arrivals(report.speed, on):
        content.append(figure)
    return section(f"{letter}: {report.url}", *content, class_="call")


def kinds(comparison: Comparison) -> Iterable[Html]:
    """The pairs by their kind, what is different first."""
    for kind in Kind:
        if pairs := comparison.of(kind):
            items = (element("li", opening(pair)) for pair in pairs)
            yield section(kind, element("ul", *items, class_="rows pairs"), class_="group")


def opening(pair: Pair) -> Html:
    """A pair in one line, and all there is to it when it is opened."""
    found = [None if row is None else answer(row) for row in pair.rows]
    line = element("summary", element("h3", pair.row.question), *cells("span", *found))
    a, b = (dict[str, str]() if row is None else dict(details(row)) for row in pair.rows)
    facts = (
        element("div", element("dt", name), *cells("dd", a.get(name), b.get(name)), class_="fact")
        for name in a or b
        if a.get(name) or b.get(name)
    )
    return element("details", line, element("dl", *facts, class_="more"))


def answer(row: Row) -> Html:
    """What was found."""
    return joined([mark(row.verdict), " ", element("span", row.finding)])


def cells(name: str, a: str | None, b: str | None) -> list[Html]:
    """What each of the two has, beside its letter; once what both have, and what only one can have (None)."""
    given = [(letter, value) for letter, value in (("A", a), ("B", b)) if value is not None]
    if len({value for _, value in given}) == 1:
        return [element(name, given[0][1], class_="finding both")]
    return [
        element(name, element("b", letter), " ", value or NOTHING, class_="finding")
        for letter, value in given
    ]
