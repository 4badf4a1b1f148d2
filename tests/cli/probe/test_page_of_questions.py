"""The page about probing has a row for every question, and none for one that is not asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svir.cli.probe._questions import QUESTIONS
from svir.cli.probe._report import Verdict
from svir.cli.probe._terminal import MARKS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "probe.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")


def table(title: str) -> list[list[str]]:
    """The rows of the first table below a heading, without its head."""
    section = PAGE.read_text("ascii").partition(f"## {title}\n")[2]
    rows = re.findall(r"^\|(.*)\|$", section[: section.index("|\n\n") + 2], re.MULTILINE)
    return [[cell.strip() for cell in row.split(" | ")] for row in rows[2:]]


def test_every_question_has_a_row():
    named = [name for row in table("The questions") for name in re.findall(r"`(\w+\.\w+)`", row[0])]
    assert named == [question.id for question in QUESTIONS]


def test_every_verdict_has_its_mark():
    shown = {row[1].strip("`"): row[0].strip("`") for row in table("How to read it")}
    assert shown == {verdict.value: MARKS[verdict][0].strip() for verdict in Verdict}
