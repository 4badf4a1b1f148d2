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
