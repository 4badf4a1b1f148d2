"""The report for a terminal, and for a pipe: a line a finding, grouped, and the call to paste at the end."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from svir.cli.probe._report import Verdict
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from svir.cli.probe._report import Report, Row

__all__ = ["print_report"]

MARKS = {
    Verdict.OK: ("ok", "green"),
    Verdict.DIFFERENT: ("~ ", "yellow"),
    Verdict.BROKEN: ("!!", "bold red"),
    Verdict.UNSUPPORTED: ("no", "magenta"),
    Verdict.UNCLEAR: ("? ", "cyan"),
    Verdict.SKIPPED: ("- ", "dim"),
}
NAME_WIDTH = 13
INDENT = 2 + 2 + 2 + NAME_WIDTH + 1
WIDEST = 100


def print_report(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Prints a report.

    Args:
        console: Where to; its width counts.
        report: The report.
        verbose: Whether to show what was sent, what came, and what svir makes of it.
    """
    width = min(console.width, WIDEST)
    for line in _lines(report, width, verbose=verbose):
        # Wrapped here: rich would break words and lose the indent.
        console.print(line, soft_wrap=True)


def _lines(report: Report, width: int, *, verbose: bool) -> Iterator[Text]:
    head = f"{report.url}  {report.model}" + (f"  ({report.server})" if report.server else "")
    yield from (Text(line, Style(bold=True)) for line in _wrapped([head], width))
    sent_before = ""
    for group, rows in groupby(report.rows, key=lambda row: row.id.partition(".")[0]):
        yield Text("")
        yield Text(group, Style(bold=True))
        for row in rows:
            yield from _row(row, width)
            if verbose:
                yield from _details(row, width, sent_before)
                sent_before = row.sent or sent_before
    yield Text("")
    yield from (Text(line) for line in _wrapped(_summary(report), width))
    yield Text("")
    yield Text(report.call)


def _row(row: Row, width: int) -> Iterator[Text]:
    mark, style = MARKS[row.verdict]
    name = row.id.partition(".")[2]
    first, *more = textwrap.wrap(row.finding, max(20, width - INDENT)) or [""]
    head = f"{name:<{NAME_WIDTH}} " if len(name) <= NAME_WIDTH else f"{name} "
    yield Text.assemble("  ", (mark, style), f"  {head}{first}")
    for line in more:
        yield Text(f"{'':{INDENT}}{line}")


def _details(row: Row, width: int, sent_before: str) -> Iterator[Text]:
    """What is behind a row; a request that was just shown is not shown again."""
    same = row.strict == row.lenient
    for name, text in (
        ("sent", "the same" if row.sent and row.sent == sent_before else row.sent),
        ("shown", row.shown),
        ("svir", row.strict if same else ""),
        ("strict", "" if same else row.strict),
        ("lenient", "" if same else row.lenient),
        ("options", ", ".join(row.options)),
        ("advice", row.advice),
    ):
        if lines := textwrap.wrap(text, max(20, width - 15), break_on_hyphens=False):
            yield Text(f"      {name:<8} {lines[0]}", Style(dim=True))
            for line in lines[1:]:
                yield Text(f"{'':15}{line}", Style(dim=True))


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        yield from textwrap.wrap(line, width)


def _summary(report: Report) -> Iterator[str]:
    counts = [(verdict, sum(row.verdict is verdict for row in report.rows)) for verdict in Verdict]
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    yield f"{said}: {plural(report.requests, 'request')} in {report.seconds:.1f} s"
    speed = list[str]()
    if report.speed.first_token is not None:
        speed.append(f"first token after {report.speed.first_token * 1000:.0f} ms")
    if report.speed.tokens_per_second is not None:
        speed.append(f"{report.speed.tokens_per_second:.1f} tokens/s")
    yield ", ".join(speed)
