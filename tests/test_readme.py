"""The README leads to the first page of the site, and that one to every other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(not (DOCS / "index.md").exists(), reason="the pages are not beside the tests")


def test_it_links_to_the_first_page() -> None:
    assert "](docs/index.md)" in (ROOT / "README.md").read_text("ascii")


def test_the_first_page_links_to_every_page_that_is_there() -> None:
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "index.md").read_text("ascii"))
    assert len(linked) == len(set(linked))
    assert set(linked) == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


@pytest.mark.parametrize("page", ["README.md", "docs/start.md", "docs/local-model.md"])
def test_who_installs_is_told_how_before_there_is_a_release(page: str) -> None:
    text = (ROOT / page).read_text("ascii")
    released = re.findall(r"^## \[?\d", (ROOT / "CHANGELOG.md").read_text("ascii"), re.MULTILINE)
    assert ("pip install '/path/to/svir[local]'" in text) == (not released)


def test_the_readme_names_every_command_beside_what_brings_it() -> None:
    from typer.main import get_command  # of the extra `cli`

    from svir.cli._app import app

    text = (ROOT / "README.md").read_text("ascii")
    install = text.partition("## Install")[2].partition("## Use it")[0]
    assert not [name for name in get_command(app).commands if not re.search(rf"\b{name}\b", install)]
