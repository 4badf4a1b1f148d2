"""The Python on the pages about layers runs as written, against a scripted server."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from tests.support.chat import answer
from tests.support.loopback import Loopback, Serve, chunked

DOCS = Path(__file__).resolve().parents[2] / "docs"
ADDRESS = "http://127.0.0.1:8080"


@pytest.mark.parametrize("page", ["layers.md", "tracing.md"])
def test_every_block_runs_and_its_client_answers(page, monkeypatch, capsys, caplog):
    path = DOCS / page
    if not path.exists():
        pytest.skip("the pages are not beside the tests")
    monkeypatch.setattr(logging, "basicConfig", lambda **options: None)
    caplog.set_level(logging.INFO, logger="svir")
    blocks = re.findall(r"```python\n(.*?)```", path.read_text("ascii"), re.DOTALL)
    assert len(blocks) >= 2
    space = {}
    with Loopback(repeat=[Serve((chunked(answer("Because.")),))]) as server:
        for block in blocks:
            exec(compile(block.replace(ADDRESS, server.url), page, "exec"), space)
            assert space["client"].complete("Why?").text == "Because."
        space["client"].close()
    if page == "tracing.md":
        line = caplog.records[0].getMessage()
        assert line.startswith("call model=qwen3-27b server=127.0.0.1:")
        assert "outcome=completed finish=stop headers=" in line
