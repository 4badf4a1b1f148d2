"""The matrix is whole: every phase, every fault, no row twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.faults.matrix import PHASES, rows

PAGE = Path(__file__).parent.parent.parent / "docs" / "faults.md"

FAULTS = {
    "refuse",
    "reset",
    "stall",
    "trickle",
    "close",
    "half-close",
    "garbage",
    "endless",
    "wrong length",
    "bad chunks",
    "second response",
    "stray",
    "encoding",
    "early response",
    "1xx",
    "certificate",
    "server error",
    "no stream",
}


def test_there_are_rows_for_every_phase_and_fault():
    found = rows()
    assert len(found) >= 300
    assert {row.fault for row in found} == FAULTS
    assert Counter(row.phase for row in found).keys() == set(PHASES)


def test_no_row_is_there_twice():
    names = Counter(row.name for row in rows())
    assert [name for name, count in names.items() if count > 1] == []
    told = Counter(
        repr((row.server, row.network, row.url, row.request, row.options, row.phase)) for row in rows()
    )
    assert [what for what, count in told.items() if count > 1] == []


def test_what_never_ends_is_held_to_a_bound_of_memory():
    # An early answer and the large request are in memory together; idle, nothing is read.
    unbounded = [
        row.name
        for row in rows()
        if row.fault == "endless" and row.memory_kib is None and row.phase != "idle"
    ]
    assert unbounded == ["sending/endless/headers", "in-the-head/endless/64-KiB-of-headers"]


def table():
    """How many rows there are of each fault at each phase, as a table of Markdown."""
    found = rows()
    lines = ["| | " + " | ".join(PHASES) + " |", "| --- |" + " --- |" * len(PHASES)]
    for fault in sorted(FAULTS):
        counts = Counter(row.phase for row in found if row.fault == fault)
        lines.append(f"| {fault} | " + " | ".join(str(counts[phase] or "") for phase in PHASES) + " |")
    return "\n".join(lines)


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")
def test_the_pages_table_is_that_of_the_data():
    assert table() in PAGE.read_text("ascii"), f"the table is\n{table()}"
