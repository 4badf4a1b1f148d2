"""What the pages share: the document around them, and the pieces that both show.

A page is one file. It asks nothing of any network, and nothing in it runs (S106). Its Content-Security-Policy
allows only the style that it carries, named by its hash: even markup that slipped through could neither run,
nor load, nor restyle the page, nor send a form.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import svir
from svir.cli.probe._markup import Html, element, joined, text
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.cli.probe._report import Report, Row

__all__ = ["about", "block", "code", "counts", "facts", "footer", "mark", "page", "seconds", "section"]

SIGNS = {
    Verdict.OK: "\N{CHECK MARK}",
    Verdict.DIFFERENT: "\N{NOT EQUAL TO}",
    Verdict.BROKEN: "\N{BALLOT X}",
    Verdict.UNSUPPORTED: "\N{EMPTY SET}",
    Verdict.UNCLEAR: "?",
    Verdict.SKIPPED: "\N{EN DASH}",
}
"""A sign for each verdict: none is told by its colour alone."""

MEANINGS = {
    Verdict.OK: "as the API's own documents have it",
    Verdict.DIFFERENT: "not as they have it, and svir's strict mode gets along with it",
    Verdict.BROKEN: "strict mode refuses it, or an answer is lost by it",
    Verdict.UNSUPPORTED: "the server says that it cannot, or shows it by leaving it out",
    Verdict.UNCLEAR: "asked, and what came back tells nothing",
    Verdict.SKIPPED: "not asked",
}


def page(title: str, *body: Html) -> str:
    """The whole document."""
    style = Path(__file__).with_name("page.css").read_text("ascii")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Html(style)),
    )
    document = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!doctype html>\n{document}\n"


def section(title: str, *content: Html, class_: str) -> Html:
    """A part of a page, under its heading."""
    return element("section", element("h2", title), *content, class_=class_)


def footer() -> Html:
    """What each sign stands for, and what made the page."""
    entries = (
        element("div", element("dt", mark(verdict)), element("dd", MEANINGS[verdict]), class_="fact")
        for verdict in Verdict
    )
    legend = element("summary", "What the signs mean"), element("dl", *entries, class_="more")
    made = f"Made by svir {svir.__version__}. This page loads nothing and runs nothing."
    return element("footer", element("details", *legend, class_="legend"), element("p", made))


def about(report: Report) -> Html:
    """Which model and server, when, and by what."""
    given = [
        ("Model", report.model),
        ("Server", report.server),
        ("Asked", when(report.started)),
        ("Requests", f"{report.requests} in {seconds(report.seconds)}"),
        ("svir", report.svir),
    ]
    return facts(given, class_="about")


def when(started: str) -> Html:
    """A date, for people and for machines; as it was written when it is none."""
    try:
        moment = datetime.fromisoformat(started).astimezone(UTC)
    except (ValueError, OverflowError):
        return text(started)
    return element("time", f"{moment:%Y-%m-%d %H:%M} UTC", datetime=f"{moment:%Y-%m-%dT%H:%M:%SZ}")


def seconds(value: float) -> str:
    """A time, as ``0.42 s``."""
    return f"{value:.0f} s" if 100 <= abs(value) < 1e6 else f"{value:.3g} s"


def counts(rows: tuple[Row, ...]) -> Html:
    """How often each verdict was given: a bar, and the same in words."""
    numbers = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    given = [(verdict, number) for verdict, number in numbers.items() if number]
    bars, start = list[Html](), 0.0
    for verdict, number in given:
        share = 100 * number / len(rows)
        bars.append(element("rect", x=f"{start:.3f}%", width=f"{share:.3f}%", height="100%", class_=verdict))
        start += share
    bar = element("svg", *bars, class_="bar", aria_hidden="true")
    words = (element("li", element("b", str(number)), " ", mark(verdict)) for verdict, number in given)
    return element("div", bar, element("ul", *words, aria_label="Verdicts"), class_="counts")


def mark(verdict: Verdict) -> Html:
    """A verdict: its sign and its word."""
    sign = element("span", SIGNS[verdict], class_="sign", aria_hidden="true")
    return element("span", sign, " ", str(verdict), class_=f"mark {verdict}")


def code(value: str) -> Html:
    """A short piece of code within a text."""
    return element("code", value)


def block(value: str) -> Html:
    """Bytes or code as they are: every line break kept, long lines wrapped, nothing cut off."""
    return element("pre", Html("\n"), value)  # a parser drops one line break right after the tag


def facts(pairs: Iterable[tuple[str, str]], *, class_: str) -> Html:
    """Names and what they stand for; those that stand for nothing are left out."""
    rows = (
        element("div", element("dt", name), element("dd", value), class_="fact")
        for name, value in pairs
        if value
    )
    return element("dl", joined(rows), class_=class_)
