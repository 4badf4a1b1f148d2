"""The page about testing is a test file: all its Python, run as a user runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.testing.pytest_run import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"


def test_every_example_of_the_page_runs(tmp_path):
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("ascii"), re.DOTALL)
    examples = "\n".join(blocks)
    (tmp_path / "test_page.py").write_text(examples)
    output = run(tmp_path, "-q")
    assert f"{examples.count('def test_')} passed" in output
    assert examples.count("def test_") >= 10
