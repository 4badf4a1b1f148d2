"""Each claim of the threat model names code and a test that exist, and each promise has a claim."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pydantic
import pytest

import svir

ROOT = Path(__file__).parent.parent
SOURCE = Path(svir.__file__).parent
PAGE = ROOT / "docs" / "threat-model.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")


def claims():
    """The rows of the page's tables: number, claim, promises, files, tests."""
    page = PAGE.read_text("ascii") if PAGE.exists() else ""
    return [
        [cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| T.*$", page, re.MULTILINE)
    ]


def quoted(cell):
    """What stands in backticks; nothing else but commas may stand beside it."""
    assert re.fullmatch(r"(`[^`]+`)(, `[^`]+`)*", cell), cell
    return re.findall(r"`([^`]+)`", cell)


@cache
def collected(path):
    """The names that pytest collects from a file: functions, and methods of classes, by their prefixes."""
    tree = ast.parse(path.read_text("ascii"))
    groups = [
        tree,
        *(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name.startswith("Test")),
    ]
    functions = [one for group in groups for one in group.body]
    return {
        one.name
        for one in functions
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name.startswith("test_")
    }


def shown(test):
    """Whether there is such a test, or such a conformance case, which a test runs by its folder."""
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    if path.suffix == ".json":
        return path.exists() and path.parent.parent == ROOT / "tests" / "conformance"
    return path.exists() and path.name.startswith("test_") and name in collected(path)


def promised():
    """The numbers of what is promised."""
    page = (ROOT / "SECURITY.md").read_text("ascii")
    section = page[page.index("## What svir promises") :].partition("\n## What it does not")[0]
    return [int(number) for number in re.findall(r"^(\d+)\. \*\*", section, re.MULTILINE)]


def test_claims_are_numbered_without_gaps():
    assert [row[0] for row in claims()] == [f"T{number}" for number in range(1, len(claims()) + 1)]
    assert len(claims()) >= 48


@pytest.mark.parametrize("row", claims(), ids=lambda row: row[0])
def test_a_claim_names_the_files_that_enforce_it_and_the_tests_that_show_it(row):
    _, claim, promises, files, tests = row
    assert claim.endswith(".")
    assert promises == "-" or {int(number) for number in promises.split(", ")} <= set(promised())
    for file in quoted(files):
        assert (SOURCE / file).is_file(), file
    for test in quoted(tests):
        assert shown(test), test


def test_every_promise_is_covered_by_a_claim():
    numbers = promised()
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 14
    covered = {int(number) for row in claims() for number in re.findall(r"\d+", row[2])}
    assert covered == set(numbers)


@pytest.mark.parametrize(
    "test",
    [
        "client/test_hostile.py::test_nonsense",
        "client/test_nonsense.py::test_nonsense",
        "support/loopback.py::chunked",
        "test_threat_model.py::shown",
        "test_threat_model.py",
        "conformance/transport/nonsense.json",
        "golden/request.json",
    ],
)
def test_a_test_that_is_not_there_is_found_out(test):
    assert not shown(test)


class Album(pydantic.BaseModel):
    cover: svir.Image


@pytest.mark.parametrize("image", [{"path": "/etc/hostname"}, {"source": {"path": "/etc/hostname"}}])
def test_what_a_model_says_names_no_file(image):
    """T17: neither by an argument, nor by an answer that is read into values of svir."""
    tools, taken = svir.Tools(), []

    @tools.add
    def keep(album: Album) -> None:
        """Keeps an album."""
        taken.append(album)

    album = {"cover": {"image": image}}
    result = tools.call(svir.ToolCall("c-1", "keep", json.dumps({"album": album})))
    assert result.is_error
    assert taken == []
    with pytest.raises(svir.AnswerError):
        svir.Completion(text=json.dumps(album), finish="stop").parse(Album)
    for plain in (svir.Image, svir.TextFile, svir.Message, svir.Request):
        with pytest.raises(svir.ConfigError, match="nothing can be read into"):
            svir.Completion(text=json.dumps(image), finish="stop").parse(plain)
    harmless = {"cover": {"image": {"bytes": "AAAA"}}}
    assert not tools.call(svir.ToolCall("c-2", "keep", json.dumps({"album": harmless}))).is_error
