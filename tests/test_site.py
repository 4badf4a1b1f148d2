"""The site is built as `make docs` does it, and is whole: names, pages, search, nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import svir
from tests.test_reference import NAMES, ROOT


def build(folder):
    """Builds the site, with warnings that are errors."""
    source = str(Path(svir.__file__).parents[1])
    subprocess.run(
        [sys.executable, ROOT / "docs" / "site" / "build.py", folder],
        env={"PYTHONPATH": source, "PATH": ""},
        check=True,
        timeout=300,
    )


def test_the_site_is_whole(tmp_path):
    if not (ROOT / "docs" / "site").exists():
        pytest.skip("the site is not beside the tests")
    pytest.importorskip("sphinx")
    from sphinx.util.inventory import InventoryFile

    build(tmp_path)
    pages = {path.name.removesuffix(".md") for path in (ROOT / "docs").glob("*.md")}
    assert {*pages, "changelog", "contributing"} <= {path.stem for path in tmp_path.glob("*.html")}

    inventory = InventoryFile.loads((tmp_path / "objects.inv").read_bytes(), uri="")
    named = {name for kind, found in inventory.data.items() if kind.startswith("py:") for name in found}
    assert named >= set(NAMES)
    assert {"svir.Request.messages", "svir.Client.complete", "svir.Error.partial"} <= named

    for path in tmp_path.rglob("*.html"):
        html = path.read_text("utf-8")
        fetched = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]*)\"", html)
        fetched += re.findall(r"<link\b[^>]*\bhref=\"([^\"]*)\"", html)
        assert [address for address in fetched if "//" in address] == [], path.name
    for path in tmp_path.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", path.read_text("utf-8")), path.name

    assert "<!-- svir" not in (tmp_path / "client.html").read_text("utf-8")
    assert re.search(
        r'href="reference/client.html#svir.Client".*svir.Client', (tmp_path / "client.html").read_text()
    )
    assert "meander" in (tmp_path / "searchindex.js").read_text("utf-8")
