"""The table of differences is about tests that are there, and is the page's."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.http.differences import DIFFERENCES, LOOKS_INSIDE, applies

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent.parent / "docs" / "backends.md"


def names_of_tests(*files):
    return {
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text("ascii")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("library", DIFFERENCES)
def test_each_is_shown_by_a_test(library):
    shown = {difference.shown for difference in DIFFERENCES[library].values()}
    assert shown <= names_of_tests(FOLDER / f"test_{library}.py")


def test_what_is_left_out_exists():
    left_out = {
        one.partition(" ")[0]
        for rows in DIFFERENCES.values()
        for difference in rows.values()
        for one in difference.without
    }
    assert left_out | set(LOOKS_INSIDE) <= names_of_tests(*FOLDER.glob("test_*.py"))


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")
def test_each_is_a_row_of_the_page():
    rows = {
        line.split("|")[1].strip() for line in PAGE.read_text("ascii").splitlines() if line.startswith("| ")
    }
    for differences in DIFFERENCES.values():
        assert set(differences) <= rows


def test_a_test_is_left_out_by_its_name_or_its_parameters():
    assert applies("", "test_backend", "test_a_bad_head_ends_the_exchange", "data3")
    assert applies("aiohttp", "test_backend", "test_a_bad_head_ends_the_exchange", "data2")
    assert not applies("aiohttp", "test_backend", "test_a_bad_head_ends_the_exchange", "data3")
    assert not applies("aiohttp", "test_backend", LOOKS_INSIDE[0], "")
    assert not applies("httpx2", "test_pool", "test_twenty_requests", "")
