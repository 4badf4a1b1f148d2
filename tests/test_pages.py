"""Every block of every page runs, prints what the page says it prints, or says why it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages import read, skipped

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

SKIPPED = {"CONTRIBUTING.md": 1, "migrating.md": 5, "proxies.md": 3}
"""Blocks that are not run, a page: each says why, and all of them stand here."""

pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the pages are not beside the tests")


@pytest.mark.uncounted
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_does_what_it_says(page, tmp_path):
    read(page, tmp_path)


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```python\nprint(1)  # 2\n```", "page.md:2"),
        ("```python\n>>> 1\n2\n```", "Expected:\n    2\nGot:\n    1"),
        ("```python\nprint(1)\n```\n\n```output\n2\n```", "page.md:6"),
        ("\n```python\n1 / 0\n```", "division by zero"),
        ("```ruby\n```", "page.md:2: nobody knows how to check 'ruby'"),
        ("```\n1\n```", "nobody knows how to check a block without a language"),
        ("```json\n{]\n```", "Expecting property name"),
        ("```json\n{} {} ]\n```", "Expecting value"),
        ("```toml\na\n```", "Expected '='"),
        ("```yaml\na: [\n```", "while parsing a flow node"),
        ("```console\n$ pip install svir[nonsense]\n```", "no extra nonsense"),
        ("```console\n$ make nonsense\n```", "make knows no nonsense"),
        ("```console\n$ make test NONSENSE=1\n```", "make knows no NONSENSE"),
        ("```console\n$ svir nonsense\n```", "No such command"),
        ("```console\n$ svir local --nonsense\n```", "No such option"),
        ("```console\n$ svir --version\nsvir 0.0.0\n```", "page.md:2: svir --version"),
        ("```console\n$ cat x.diff | patch\n```", "page.md:2: patch: skip the block"),
        ("<!-- svir: reply(text='one') -->", "never asked for: Reply\\(text='one'\\)"),
        ("<!-- svir: import os -->", "a page imports where its readers see it"),
        ("<!-- svir-skip: -->\n\n```python\n```", "no reason"),
        ("<!-- svir-skip: it is late -->", "has no block below it"),
        ("<!-- svir-nonsense: x -->", "no note that is known"),
    ],
)
def test_a_page_that_is_wrong_is_found_out(page, complaint, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(page)
    with pytest.raises(Exception, match=complaint):
        read(path, tmp_path)


def test_a_block_that_is_skipped_is_not_run(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("<!-- svir-skip: it would fail -->\n\n```python\n1 / 0\n```\n\n```python\na = 1\n```")
    read(path, tmp_path)
    assert skipped(path) == ["it would fail"]


def test_few_blocks_are_not_run():
    counts = {page.name: len(skipped(page)) for page in PAGES}
    assert {name: count for name, count in counts.items() if count} == SKIPPED
