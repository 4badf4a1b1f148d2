"""The examples as a whole: each is on the page, says how it is run, is short, and is a program of its own."""

from __future__ import annotations

import ast
import re
import shutil

import pytest

from tests.support.examples import FOLDER
from tests.support.pytest_run import run

ROOT = FOLDER.parent
PROGRAMS = sorted(FOLDER.glob("*.py"))
TESTED = FOLDER / "testing_your_code"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the examples are not beside the tests")


def test_the_page_lists_all_of_them_and_nothing_else():
    page = (ROOT / "docs" / "examples.md").read_text("ascii")
    linked = set(re.findall(r"\]\(\.\./examples/([\w./]+)\)", page))
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py")}
    assert linked == files


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_each_says_how_it_is_run_and_is_short(path):
    source = path.read_text("ascii")
    words = ast.get_docstring(ast.parse(source), clean=False)
    assert f"\n    python examples/{path.name}" in words
    assert 20 <= source.count("\n") <= 100
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module)])
    }
    assert not imported & {other.stem for other in PROGRAMS}


def test_the_example_of_tests_is_green():
    ran = run(ROOT, "examples/testing_your_code")
    assert re.search(r"\b8 passed in ", ran), ran


@pytest.mark.parametrize(
    ("what", "instead"),
    [("except svir.Error", "except svir.ServerError"), ("(note, ", '("Hello", '), (""".strip('"')""", "")],
)
def test_the_example_of_tests_turns_red_when_the_code_is_broken(tmp_path, what, instead):
    shutil.copytree(TESTED, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    titles = tmp_path / "titles.py"
    assert what in titles.read_text("ascii")
    titles.write_text(titles.read_text("ascii").replace(what, instead))
    assert re.search(r"\b\d failed", run(tmp_path))
