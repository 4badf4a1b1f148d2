"""What the pages say of each other and of the code is so: links, anchors, files, and decisions by number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import svir

ROOT = Path(__file__).parent.parent
SOURCE = Path(svir.__file__).parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
DECISION = r"\b([DPOS][1-9]\d{0,2})\b"

pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the pages are not beside the tests")


def prose(page):
    return re.sub(r"```.*?```", "", page.read_text("ascii"), flags=re.DOTALL)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def decided():
    page = (ROOT / "docs" / "decisions.md").read_text("ascii")
    numbers = re.findall(r"^\*\*((?:[DPS]\d+(?:, )?)+)\.", page, re.MULTILINE)
    questions = re.findall(r"^\| (O\d+) \|", page, re.MULTILINE)
    closed = page[page.index("Closed by a decision:") :].partition("\n\n")[0]
    return {*", ".join(numbers).split(", "), *questions, *re.findall(r"\b(O\d+)\s\(", closed)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target.parent == ROOT and not target.exists() and not (ROOT / "Makefile").exists():
            continue  # a source distribution has not every page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_decisions_that_are_cited_were_made(page):
    assert set(re.findall(DECISION, prose(page))) <= decided()


def test_decisions_that_the_code_cites_were_made():
    known = decided()
    for path in SOURCE.rglob("*.py"):
        text = re.sub(r"noqa:.*", "", path.read_text("ascii"))
        assert set(re.findall(DECISION, text)) <= known, path.name


def test_decisions_are_numbered_without_gaps_in_their_order():
    page = (ROOT / "docs" / "decisions.md").read_text("ascii")
    numbers = [int(number) for number in re.findall(r"^\*\*S(\d+)\.", page, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 93


@pytest.mark.parametrize("name", ["architecture.md", "decisions.md"])
def test_the_files_they_point_to_are_there(name):
    page = prose(ROOT / "docs" / name)
    folders = [SOURCE, ROOT]
    pointers = re.findall(r"`((?:src/svir/)?(?:\w+/)+\w+\.py)`", page)
    assert len(pointers) > 30
    for pointer in pointers:
        path = pointer.removeprefix("src/svir/")
        assert any((folder / path).exists() for folder in folders), pointer


def test_the_table_of_imports_is_the_one_that_is_enforced():
    page = prose(ROOT / "docs" / "architecture.md")
    table = page[page.index("| package | may import |") :].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w.*]+)` \|", table, re.MULTILINE)
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")} | {"errors"}
    assert {row.removesuffix(".*") for row in rows} == packages


def test_the_page_about_errors_has_a_section_for_each_kind():
    titles = re.findall(
        r"^## `(\w+)` - `(\w+)`$", (ROOT / "docs" / "errors.md").read_text("ascii"), re.MULTILINE
    )
    assert dict(titles) == {kind.kind: kind.__name__ for kind in svir.Error.__subclasses__()}
