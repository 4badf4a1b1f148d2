"""The site is built as `make docs` does it, and is whole: names, pages, search, nothing from elsewhere."""

from __future__ import annotations

import os
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


def links(html):
    """Where a page's links lead, and what it has to lead to."""
    return re.findall(r'<a\b[^>]*\bhref="([^"]+)"', html), set(re.findall(r'\bid="([^"]+)"', html))


@pytest.mark.long
def test_the_site_is_whole(tmp_path):
    if not (ROOT / "docs" / "site").exists():
        pytest.skip("the site is not beside the tests")
    pytest.importorskip("sphinx")
    from sphinx.util.inventory import InventoryFile

    build(tmp_path)
    html = {path.relative_to(tmp_path): path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    written = {path.name.removesuffix(".md") for path in (ROOT / "docs").glob("*.md")}
    assert {*written, "changelog", "contributing", "reporting"} <= {path.stem for path in html}

    inventory = InventoryFile.loads((tmp_path / "objects.inv").read_bytes(), uri="")
    named = {name for kind, found in inventory.data.items() if kind.startswith("py:") for name in found}
    assert named >= set(NAMES)
    assert {"svir.Request.messages", "svir.Client.complete", "svir.Error.partial"} <= named

    leads, has = {}, {}
    for path, text in html.items():
        leads[path], has[path] = links(text)
        fetched = re.findall(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]*)"', text)
        fetched += re.findall(r'<link\b[^>]*\bhref="([^"]*)"', text)
        assert [address for address in fetched if "//" in address] == [], path
    for path in tmp_path.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", path.read_text("utf-8")), path.name
    for path, links_of_page in leads.items():
        for link in links_of_page:
            if "://" not in link and not link.startswith("mailto:"):
                file, _, anchor = link.partition("#")
                target = Path(os.path.normpath(path.parent / file)) if file else path
                assert target in html, f"{path}: {link}"
                assert not anchor or anchor in has[target], f"{path}: {link}"

    # Code that goes on behind the edge shows that it does, where a phone shows no bar.
    style = (tmp_path / "_static" / "site.css").read_text("ascii")
    assert re.search(r"\.highlight pre \{[^}]*\blocal right\b[^}]*\bscroll right\b", style)

    client = html[Path("client.html")]
    assert "<!-- svir" not in client
    assert "reference/client.html#svir.Client" in leads[Path("client.html")]
    assert "meander" in (tmp_path / "searchindex.js").read_text("utf-8")
