"""The README's Python runs as written, against a scripted server in the place of the one it names."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.loopback import Act, Loopback, Peer, Request, chunked

README = Path(__file__).parent.parent / "README.md"
ADDRESS = "http://127.0.0.1:8080"


def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "1", "model": "m", "choices": [choice]}).encode() + b"\n\n"


@dataclass
class Answer(Act):
    """Answers every request: with a call when tools are offered and none was answered, with an object when
    that is asked for, else with text.
    """

    def perform(self, peer: Peer) -> None:
        while first := peer.recv():
            peer.left_over = first
            Request().perform(peer)
            body = json.loads(peer.server.requests[-1].body)
            if "tools" in body and body["messages"][-1]["role"] == "user":
                function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
                call = {"index": 0, "id": "c1", "type": "function", "function": function}
                pieces = [chunk({"tool_calls": [call]}), chunk({}, "tool_calls")]
            else:
                text = '{"name": "Otra", "length_km": 245}' if "response_format" in body else "Because."
                pieces = [chunk({"content": text}), chunk({}, "stop")]
            peer.sock.sendall(chunked(*pieces, b"data: [DONE]\n\n"))


def test_every_block_runs(tmp_path, monkeypatch, capsys) -> None:
    if not README.exists():
        pytest.skip("the README is not beside the tests")
    monkeypatch.chdir(tmp_path)
    Path("before.png").write_bytes(b"\x89PNG")
    Path("diff.patch").write_text("+ a line\n")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("ascii"), re.DOTALL)
    assert len(blocks) >= 10
    space: dict[str, object] = {}
    with Loopback(repeat=[Answer()]) as server:
        for block in blocks:
            exec(compile(block.replace(ADDRESS, server.url), "README.md", "exec"), space)
        answer = asyncio.run(space["ask"]())
        space["client"].close()
    assert answer == "Because."
    printed = capsys.readouterr().out.splitlines()
    assert "Because." in printed
    assert "Otra 245.0" in printed
    assert "Why is the sky blue? Because." in printed
    tool_turns = [r for r in server.requests if json.loads(r.body)["messages"][-1]["role"] == "tool"]
    assert "Sunny in Oslo today" in tool_turns[0].body.decode()
    space["test_half_an_answer_is_none"]()


def test_it_links_to_every_page_that_is_there() -> None:
    if not README.exists():
        pytest.skip("the README is not beside the tests")
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", README.read_text("ascii")))
    assert linked == {f"docs/{page.name}" for page in (README.parent / "docs").glob("*.md")}
