"""Two reports of a probe, read from the files that `--json` wrote, and what is different between them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from svir.cli._input import JSON_BYTES, read_file
from svir.cli._refused import CONFIG, RefusedError
from svir.cli.probe._report import Report, Row, Verdict

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Comparison", "Kind", "Pair", "compare", "read_report"]

NUMBER = re.compile(r"(?<!HTTP )\b\d+(?:\.\d+)?")
"""What may be another each time: a count or a time, but not a status."""
REPORTS = "--compare takes two files that `svir probe --json` wrote."
FORMAT = 1
"""The version of a report's form that is read here."""


class Kind(StrEnum):
    """How the answers of two servers to one question stand to each other."""

    VERDICT = "other verdict"
    FINDING = "other finding"
    ONLY_A = "only in A"
    ONLY_B = "only in B"
    NUMBERS = "other numbers"
    SAME = "same"


class Pair(msgspec.Struct, frozen=True):
    """One question in both reports.

    Attributes:
        kind: How the two answers stand to each other.
        a: The first report's row; None when it has none of this name.
        b: The second report's.
    """

    kind: Kind
    a: Row | None
    b: Row | None

    @property
    def rows(self) -> tuple[Row | None, Row | None]:
        """Both."""
        return self.a, self.b

    @property
    def row(self) -> Row:
        """The row that there is; the first report's when both have one."""
        found = self.a or self.b
        assert found is not None  # noqa: S101 (a pair is made of a row)
        return found


class Comparison(msgspec.Struct, frozen=True):
    """Two reports and their rows in pairs, in the order of their kinds."""

    a: Report
    b: Report
    pairs: tuple[Pair, ...]

    def of(self, kind: Kind) -> list[Pair]:
        """The pairs of one kind."""
        return [pair for pair in self.pairs if pair.kind is kind]


class Form(msgspec.Struct):
    """What every version of the form has."""

    format: int


def read_report(path: Path) -> Report:
    """The report in a file.

    Raises:
        RefusedError: The file cannot be read, or is no report in a form that this version knows.
    """
    name = path.name
    data = read_file(path, JSON_BYTES, "the report", advice=REPORTS)
    try:
        form = msgspec.json.decode(data, type=Form).format
        if form == FORMAT:
            return unambiguous(msgspec.json.decode(data, type=Report), name)
        problem = f"the report {name!r} is in form {form}, and this svir reads form {FORMAT}"
    except msgspec.ValidationError as error:
        problem = f"{name!r} is no report that `svir probe --json` wrote: {error}"
    except (msgspec.DecodeError, RecursionError):
        problem = f"the report {name!r} is no JSON"
    raise RefusedError(problem, REPORTS, code=CONFIG)


def unambiguous(report: Report, name: str) -> Report:
    """The report, when each of its rows can be told by its name."""
    if len({row.id for row in report.rows}) < len(report.rows):
        raise RefusedError(f"the report {name!r} has two rows of one name", REPORTS, code=CONFIG)
    return report


def compare(a: Report, b: Report) -> Comparison:
    """Pairs the rows of two reports by their names."""
    rows_a, rows_b = ({row.id: row for row in report.rows} for report in (a, b))
    names = dict.fromkeys([*rows_a, *rows_b])
    both = ((rows_a.get(name), rows_b.get(name)) for name in names)
    return Comparison(a, b, tuple(sorted((Pair(kind(*rows), *rows) for rows in both), key=rank)))


def kind(a: Row | None, b: Row | None) -> Kind:
    """How two answers stand to each other: by what was found, since bytes are never twice the same (S107)."""
    if asked(a) != asked(b):
        return Kind.ONLY_A if asked(a) else Kind.ONLY_B
    if a is None or b is None:  # skipped in one report, and in the other one not even that
        return Kind.ONLY_A if a else Kind.ONLY_B
    if a.verdict is not b.verdict:
        return Kind.VERDICT
    if a.options != b.options or NUMBER.sub("0", a.finding) != NUMBER.sub("0", b.finding):
        return Kind.FINDING
    return Kind.SAME if a.finding == b.finding else Kind.NUMBERS


def asked(row: Row | None) -> bool:
    """Whether a report has an answer to a question."""
    return row is not None and row.verdict is not Verdict.SKIPPED


def rank(pair: Pair) -> int:
    """Where a pair stands among the others."""
    return list(Kind).index(pair.kind)
