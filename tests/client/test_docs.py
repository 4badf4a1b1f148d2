"""The page about the client runs as written, against a scripted server, and its tables are complete."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import svir
from svir.exchange import Options
from svir.exchange._settings import Settings
from tests.support.chat import answer, chunk
from tests.support.loopback import Act, Loopback, Peer, Request, chunked

PAGE = Path(__file__).resolve().parents[2] / "docs" / "client.md"
ADDRESS = "http://127.0.0.1:8080"
USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")


def whole(kind, status, body):
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@dataclass
class Answer(Act):
    """Lists a model, refuses stream options to the model ``older``, and answers everything else."""

    def perform(self, peer: Peer) -> None:
        while first := peer.recv():
            peer.left_over = first
            Request().perform(peer)
            peer.sock.sendall(self.answer(peer.server.requests[-1]))

    def answer(self, request):
        if request.line.startswith("GET"):
            return whole("application/json", "200 OK", b'{"data": [{"id": "qwen3-27b"}]}')
        body = json.loads(request.body)
        if body["model"] == "older" and "stream_options" in body:
            return whole("application/json", "400 Bad Request", b'{"error": {"message": "no"}}')
        counted = chunk({"content": "water is lazy."}, usage=USAGE)
        pieces = chunk({"content": "Because "}) + counted + answer()
        return chunked(pieces, head=b"x-request-id: r-1\r\n")


def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text("ascii"), re.DOTALL)


def test_every_block_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("before.png").write_bytes(b"\x89PNG")
    Path("diff.patch").write_text('+ a "line"\n')
    space = {}
    with Loopback(repeat=[Answer()]) as server:
        for block in blocks():
            exec(compile(block.replace(ADDRESS, server.url), "client.md", "exec", dont_inherit=True), space)
    said = re.findall(r"print\(.*\)  # (.*)", "".join(blocks()))
    assert len(said) >= 10
    assert capsys.readouterr().out.splitlines() == said
    assert b"".join(space["forwarded"]).endswith(b"data: [DONE]\n\n")
    sent = [r.body.decode() for r in server.requests]
    [attached] = [body for body in sent if "What changed?" in body]
    assert attached.count('"type":"image_url"') == 3
    assert "Look at the second hunk." in attached
    assert any('+ a \\"line\\"\\n' in body for body in sent if "And here?" in body)
    lean = ["stream_options" in body for body in sent if '"model":"older"' in body]
    assert lean == [True, False]


def rows(heading):
    """The first table below a heading: its cells, with the names in the first one."""
    section = PAGE.read_text("ascii").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {name: row for row in cells for name in re.findall(r"`(\w+)", row[0])}


def test_every_option_is_in_the_table_with_its_default():
    table = rows("Options")
    assert set(table) == {*Options.__annotations__, "layers", "backend"}
    defaults = dict(zip(Settings.__struct_fields__[1:], Settings.__struct_defaults__, strict=True))
    shared = set(table) & set(defaults) - {"limits", "headers", "query"}
    assert len(shared) >= 9
    for name in shared:
        assert ast.literal_eval(table[name][1].strip("`")) == defaults[name], name
    assert table["limits"][1] == "`svir.Limits()`"


def test_every_field_of_a_request_is_in_the_table_with_its_default():
    table = rows("A request")
    empty = svir.Request()
    assert set(table) == set(empty.__struct_fields__)
    for name, row in table.items():
        assert ast.literal_eval(row[1].strip("`")) == getattr(empty, name), name


def test_everything_that_an_answer_has_is_in_the_table():
    public = {name for name in vars(svir.Completion) if not name.startswith("_")}
    assert set(rows("An answer")) == {*svir.Completion.__struct_fields__, *public}


def test_every_method_is_in_the_table():
    page = PAGE.read_text("ascii")
    table = set(re.findall(r"^\| `(\w+)\(", page.partition("\n## ")[0], re.MULTILINE))
    public = {name for name in vars(svir.Client) if not name.startswith("_")}
    assert table == public - {"openai", "with_options", "close"}
