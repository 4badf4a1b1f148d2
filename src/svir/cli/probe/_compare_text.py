"""Two reports side by side in a terminal; in a pipe a line for each question, its columns parted by tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from svir.cli._output import escaped
from svir.cli.probe._compare import Kind
from svir.cli.probe._plot import told
from svir.cli.probe._terminal import MARKS

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from svir.cli.probe._compare import Comparison, Pair
    from svir.cli.probe._report import Report, Row

__all__ = ["plain", "print_comparison"]

NARROW = 60
"""Columns below which the two answers stand below each other."""
WIDEST = 140


def plain(comparison: Comparison) -> str:
    """The lines for a pipe: kind, name, then the verdict of each and the finding of each; ``-`` for none."""
    lines = [
        (
            pair.kind,
            pair.row.id,
            *(row.verdict if row else "-" for row in pair.rows),
            *(row.finding if row else "-" for row in pair.rows),
        )
        for pair in comparison.pairs
    ]
    return "".join("\t".join(map(one_line, line)) + "\n" for line in lines)


def one_line(value: str) -> str:
    """A value that is not ours, in one line, without anything that drives a terminal."""
    return escaped(" ".join(value.split()))


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Prints the two side by side, as wide as the console is; below each other where it is narrow."""
    width = min(console.width, WIDEST)
    for letter, report in (("A", comparison.a), ("B", comparison.b)):
        console.print(headline(letter, report), width=width)
    names = min(width // 4, max((len(pair.row.id) for pair in comparison.pairs), default=0))
    for kind in Kind:
        if pairs := comparison.of(kind):
            console.print(Text(f"\n{kind} ({len(pairs)})", "bold"))
            answers = below(pairs) if width < NARROW else beside(pairs, names)
            console.print(Padding(answers, (0, 0, 0, 2)), width=width)


def headline(letter: str, report: Report) -> Table:
    """Which server and model, when, and how fast."""
    speed = (f"{name.lower()} {value}" for name, value in told(report.speed)[:2] if value)
    given = (report.url, report.model, report.server, report.started[:10], *speed)
    grid = Table.grid("", Column(overflow="fold"), padding=(0, 2, 0, 0))
    grid.add_row(Text(letter, "bold"), Text("  ".join(one_line(value) for value in given if value)))
    return grid


def beside(pairs: list[Pair], names: int) -> Table:
    """A column for the names and one for each server, or one for both where they agree."""
    most = max(len(answers(pair)) for pair in pairs)
    grid = Table.grid(padding=(0, 1, 0, 0), expand=True)
    grid.add_column(width=names, overflow="fold")
    for _ in range(most):
        grid.add_column(width=3)
        grid.add_column(ratio=1, overflow="fold")
    if most > 1:
        grid.add_row("", "", Text("A", "bold"), "", Text("B", "bold"))
    for pair in pairs:
        grid.add_row(one_line(pair.row.id), *(cell for _, row in answers(pair) for cell in cells(row)))
    return grid


def below(pairs: list[Pair]) -> Group:
    """Each name in a line of its own, and its answers below."""
    parts: list[RenderableType] = []
    for pair in pairs:
        grid = Table.grid("", "", Column(overflow="fold"), padding=(0, 1, 0, 0))
        for letter, row in answers(pair):
            grid.add_row(Text(letter, "bold"), *cells(row))
        parts += [Text(one_line(pair.row.id)), grid]
    return Group(*parts)


def answers(pair: Pair) -> list[tuple[str, Row]]:
    """The answers with their letters; one without any where both gave it."""
    given = [(letter, row) for letter, row in zip("AB", pair.rows, strict=True) if row]
    return [("", pair.row)] if pair.kind is Kind.SAME else given


def cells(row: Row) -> tuple[Text, Text]:
    """The sign of a verdict, and what was found."""
    sign, style = MARKS[row.verdict]
    return Text(sign, style), Text(one_line(row.finding))
