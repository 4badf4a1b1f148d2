"""The page about tools runs as written, against a scripted server, and says what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest

import svir
from tests.support.chat import answer, chunk
from tests.support.loopback import Loopback, Serve, chunked

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def connected(server):
    return svir.Client.openai(server.url, model="m")


def called(name, arguments):
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return chunked(chunk({"tool_calls": [call]}), chunk(finish="tool_calls"), b"data: [DONE]\n\n")


def test_every_block_runs(capsys):
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("ascii"), re.DOTALL)
    assert len(blocks) == 6
    asked = called("weather", '{"city": "Oslo"}')
    others = called("echo", '"Hi"'), called("orders", '{"status": "open"}'), called("umbrella", "{}")
    answers = asked, chunked(answer("Mild.")), *others, chunked(answer("Done."))
    with Loopback([Serve(answers)]) as server, connected(server) as client:
        space = {"client": client}
        for block in blocks:
            exec(compile(block, "tools.md", "exec", dont_inherit=True), space)
    printed = capsys.readouterr().out.splitlines()
    commented = re.findall(r"print\(.*?\)  # (.*)", "".join(blocks))
    assert printed == ["Mild.", *commented, "Done."]
    assert len(commented) == 2
    assert b'\\"degrees\\":17' in server.requests[1].body
    results = [turn.parts[0].content for turn in space["request"].messages if turn.role is svir.Role.TOOL]
    assert results == ['"Hi"', '["open order of Ann"]', "no tool named umbrella"]
    assert [tool.name for tool in space["request"].tools] == ["weather", "orders", "search", "echo"]


def test_the_texts_in_the_table_are_the_ones_a_model_gets():
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    tools = svir.Tools()

    class Thing:
        pass

    @tools.add
    def weather(city: str, days: int, unit: Literal["celsius", "fahrenheit"] = "celsius") -> object:
        return Thing()

    page = PAGE.read_text("ascii")
    for name, arguments in [
        ("weather", '{"city": 1}'),
        ("weather", '{"city": "a", "days": 1, "unit": "kelvin"}'),
        ("weather", '{"city": "a", "days": 1, "colour": "red"}'),
        ("weather", "[]"),
        ("weather", '{"city": "a", "days": 1}'),
        ("umbrella", "{}"),
    ]:
        result = tools.call(svir.ToolCall("1", name, arguments))
        assert result.is_error
        assert f"`{result.content}`" in page
