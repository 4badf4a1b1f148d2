"""The benchmarks: the page is what the results say, and the load generator sends what a part asks for."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import svir
from bench.speed import page, run
from bench.speed.__main__ import SLOW
from bench.speed.bars import bars
from bench.speed.subjects import SUBJECTS
from bench.speed.tables import TABLES, cell

ROOT = Path(__file__).parents[2]
SVIR = str(Path(svir.__file__).parents[1])


@pytest.fixture(scope="module")
def found():
    return json.loads((ROOT / "bench" / "results" / "speed.json").read_text("ascii"))


# ---- the page ----


def test_the_page_is_made_of_the_results_and_of_nothing_else(found):
    assert (ROOT / "docs" / "benchmarks.md").read_text("ascii") == page.written(found)
    assert {path.name for path in (ROOT / "docs").glob("benchmarks-*.svg")} == {
        f"benchmarks-{table.key}.svg" for table in TABLES
    }


def test_every_subject_was_measured_at_all_of_its_parts(found):
    for name, how in SUBJECTS.items():
        failed = found["failed"].get(name, {})
        for part in how.parts:
            runs = found["runs"][name][part]
            assert part in failed or len(runs) == found["rounds"] or runs[-1]["wall"] > SLOW, (name, part)
        assert not failed or not name.startswith(("svir", "floor"))


def test_the_results_name_no_machine(found):
    assert not re.search(r"127\.0\.0\.1|localhost|/tmp|/home|/root", json.dumps(found))


def test_a_bar_that_is_missed_is_told(found):
    missed = [what for what, _, _, holds in bars(found) if not holds]
    text = page.written(found)
    assert text.count("**no**") == len(missed)
    grown = json.loads(json.dumps(found))
    for one in grown["runs"]["svir"]["image"]:
        one["extra"] = 17 << 20
    assert page.written(grown).count("**no**") == len(missed) + ("image" not in str(missed))


def test_a_cell_tells_the_median_and_the_range():
    column = TABLES[0].columns[0]
    runs = [{"cpu": cpu, "events": 1_000_000} for cpu in (9.0, 7.0, 8.0)]
    found = {"runs": {"svir": {column.part: runs}}}
    assert cell(column, found, "svir") == "8.00 (7.00-9.00)"
    assert cell(column, found, "openai") == "-"


# ---- the runs ----


@pytest.mark.parametrize(
    ("subject", "part", "events", "connections"),
    [
        ("floor", "small", 4000, 2),
        ("svir", "small", 4000, 2),
        ("svir", "long", 20_000, 2),
        ("svir, async", "many", 40_000, 201),
    ],
)
def test_a_client_reads_all_that_the_generator_sends(subject, part, events, connections):
    told = run.measure(subject, part, Path(sys.executable), PYTHONPATH=SVIR)
    assert told["events"] == events
    assert told["connections"] <= connections
    assert told["cpu"] > 0
    assert 0 < told["first"] < told["wall"]


def test_a_file_is_sent_whole(tmp_path):
    (tmp_path / "small.png").write_bytes(b"\x89PNG")
    large = tmp_path / "large.png"
    large.write_bytes(bytes(3_000_000))
    told = run.measure("svir", "image", Path(sys.executable), large, PYTHONPATH=SVIR)
    assert told["received"] > 4_000_000


def test_a_client_that_fails_says_why(tmp_path):
    with pytest.raises(run.RunError, match="AttachmentError"):
        run.measure("svir", "image", Path(sys.executable), tmp_path / "none.png", PYTHONPATH=SVIR)
