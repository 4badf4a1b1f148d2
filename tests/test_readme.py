"""The README leads to everything there is to read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_it_links_to_every_page_that_is_there() -> None:
    if not README.exists():
        pytest.skip("the README is not beside the tests")
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", README.read_text("ascii")))
    assert linked == {f"docs/{page.name}" for page in (README.parent / "docs").glob("*.md")}
