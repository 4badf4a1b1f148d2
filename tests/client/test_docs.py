"""The tables on the pages about clients, requests and answers are complete."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import svir
from svir.exchange import Options
from svir.exchange._settings import Settings

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the pages are not beside the tests")


def rows(page, heading):
    """The first table below a heading: its cells, with the names in the first one."""
    section = (DOCS / page).read_text("ascii").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = re.search(r"(^\|.*\n)+", section, re.MULTILINE)[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    return {name: row for row in cells for name in re.findall(r"`(\w+)", row[0])}


def test_every_option_is_in_the_table_with_its_default():
    table = rows("client.md", "Options")
    assert set(table) == {*Options.__annotations__, "layers", "backend"}
    defaults = dict(zip(Settings.__struct_fields__[1:], Settings.__struct_defaults__, strict=True))
    shared = set(table) & set(defaults) - {"limits", "headers", "query"}
    assert len(shared) >= 9
    for name in shared:
        assert ast.literal_eval(table[name][1].strip("`")) == defaults[name], name
    assert table["limits"][1] == "`svir.Limits()`"


def test_every_field_of_a_request_is_in_the_table_with_its_default():
    table = rows("requests.md", "A request")
    empty = svir.Request()
    assert set(table) == set(empty.__struct_fields__)
    for name, row in table.items():
        assert ast.literal_eval(row[1].strip("`")) == getattr(empty, name), name


def test_everything_that_an_answer_has_is_in_the_table():
    names = [name for name in vars(svir.Completion) if not name.startswith("_")]
    public = {name for name in names if hasattr(svir.Completion, name)}  # and not an Elsewhere
    assert set(rows("requests.md", "An answer")) == {*svir.Completion.__struct_fields__, *public}


def test_every_method_is_in_the_table():
    page = (DOCS / "client.md").read_text("ascii")
    table = set(re.findall(r"^\| `(\w+)\(", page.partition("\n## ")[0], re.MULTILINE))
    public = {name for name in vars(svir.Client) if not name.startswith("_")}
    assert table == public - {"openai", "with_options", "close"}
