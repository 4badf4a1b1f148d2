"""The comparison with other libraries: its page is what its results say, its server does what a row says."""

from __future__ import annotations

import json
import re
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import svir
from bench.peers import page, run
from bench.peers.cases import CASES, DONE, KEY, WORDS
from bench.peers.libraries import LIBRARIES, SUBJECTS
from bench.peers.server import Server
from bench.peers.tables import TABLES, NotRun, cell

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results" / "peers.json"
ENOUGH = 3_000_000
"""Bytes after which an endless body is believed to be one."""


@pytest.fixture(scope="module")
def found():
    return json.loads(RESULTS.read_text("ascii"))


# ---- the page ----


def test_the_page_is_made_of_the_results_and_of_nothing_else(found):
    assert (ROOT / "docs" / "peers.md").read_text("ascii") == page.written(found)


def test_every_library_was_asked_and_svir_everything(found):
    assert set(found["libraries"]) | set(found["missing"]) == set(LIBRARIES)
    assert set(found["imports"]) <= set(found["libraries"])
    for subject, how in SUBJECTS.items():
        if how.library not in found["missing"]:
            assert {"plain", "call"} <= set(found["observed"][subject]) <= set(page.cases_of(how))
    assert set(found["observed"]["svir"]) == set(CASES)
    assert {name for how in SUBJECTS.values() for name in page.cases_of(how)} == set(CASES)


def test_the_pinned_versions_are_those_that_were_asked(found):
    for name, library in LIBRARIES.items():
        if library.version and name not in found["missing"]:
            assert found["libraries"][name]["version"] == library.version


def test_the_results_name_no_machine_and_no_key(found):
    text = json.dumps(found)
    assert KEY not in text
    assert not re.search(r"127\.0\.0\.1|localhost|/tmp|/home|/root", text)


# ---- svir's row ----


@pytest.mark.parametrize(
    "column",
    [column for table in TABLES for column in table.columns if table.key not in {"limits", "image"}],
    ids=lambda column: f"{column.cases[0]}: {column.title}",
)
def test_svirs_cells_are_what_svir_does_now(column, found, observed):
    assert cell(column, {name: observed(name) for name in {"plain", "call", *column.cases}}) == cell(
        column, found["observed"]["svir"]
    )


@pytest.fixture(scope="module")
def observed(tmp_path_factory):
    """What svir does in a case, asked as the script asks it, but for the environment: this one."""
    path = str(Path(svir.__file__).parents[1])
    image = tmp_path_factory.mktemp("peers") / "image.png"
    image.write_bytes(b"")
    known = {}

    def observe(name):
        if name not in known:
            known[name] = run.observe(name, Path(sys.executable), "with_svir", image, PYTHONPATH=path)
        return known[name]

    return observe


# ---- the server ----


@dataclass
class Response:
    """A response as it came."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool

    @property
    def texts(self):
        """The text of its events."""
        return [delta.get("content") for delta in self.deltas if delta.get("content")]

    @property
    def deltas(self):
        return [event["choices"][0]["delta"] for event in self.events if "choices" in event]

    @property
    def finish(self):
        reasons = [event["choices"][0]["finish_reason"] for event in self.events if "choices" in event]
        return next(filter(None, reasons), None)

    @property
    def events(self):
        data = re.findall(rb"^data: (\{.*\})$", self.body, re.MULTILINE)
        return [json.loads(one) for one in data]

    @property
    def arguments(self):
        calls = [call for delta in self.deltas for call in delta.get("tool_calls", ())]
        return "".join(call["function"]["arguments"] for call in calls) if calls else None

    @property
    def done(self):
        return self.body.endswith(DONE)

    @property
    def code(self):
        error = json.loads(self.body)["error"]
        assert WORDS in error["message"]
        return error["code"]


def ask(server):
    """Asks by hand, and reads what comes; of what has no end, the beginning."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as sock:
        sock.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
        file = sock.makefile("rb")
        status = int(file.readline().split()[1])
        lines = iter(file.readline, b"\r\n")
        headers = dict(line.decode().rstrip().lower().split(": ", 1) for line in lines)
        body = b""
        while (line := file.readline()) and (size := int(line, 16)) and len(body) < ENOUGH:
            body += file.read(size)
            file.readline()
        return Response(status, headers, body, whole=line == b"0\r\n" and file.readline() == b"\r\n")


HALF_TEXT = ["Because ", "water is lazy."]

DOES = {
    "plain": lambda r: r.texts == HALF_TEXT and r.finish == "stop" and r.done and r.whole,
    "call": lambda r: r.arguments == '{"city": "Oslo"}' and r.finish == "tool_calls" and r.done and r.whole,
    "cut": lambda r: r.texts == HALF_TEXT and not r.finish and not r.done and not r.whole,
    "ended": lambda r: r.texts == HALF_TEXT and not r.finish and not r.done and r.whole,
    "no-done": lambda r: r.texts == HALF_TEXT and r.finish == "stop" and not r.done and r.whole,
    "call-cut": lambda r: r.arguments == '{"city": "Os' and not r.finish and not r.done and r.whole,
    "call-named": lambda r: r.arguments == "" and not r.finish and not r.done and r.whole,
    "call-length": lambda r: r.arguments == '{"city": "Os' and r.finish == "length" and r.done and r.whole,
    "call-length-whole": lambda r: r.arguments == '{"city": "Oslo"}' and r.finish == "length" and r.done,
    "error-object": lambda r: r.texts == HALF_TEXT and "error" in r.events[-1] and r.done and r.whole,
    "error-event": lambda r: (
        r.texts == HALF_TEXT and b"\n\nevent: error\ndata: overloaded" in r.body and r.whole
    ),
    "html": lambda r: r.headers["content-type"] == "text/html" and b"<!DOCTYPE html>" in r.body and r.whole,
    "think": lambda r: (
        r.texts[:2] == ["<th", "ink>Hm."]
        and "".join(r.texts) == "<think>Hm.</think>Because water is lazy."
        and r.done
    ),
    "reasoning": lambda r: {"reasoning_content": "Hm."} in r.deltas and r.texts == HALF_TEXT and r.done,
    "endless": lambda r: len(r.events) > 20 and len(r.body) > ENOUGH and not r.whole,
    "endless-line": lambda r: len(r.body.rpartition(b"\n\n")[2]) > ENOUGH - 1000 and not r.whole,
    "redirect-port": lambda r: r.status == 307 and r.headers["location"] == "http://127.0.0.1:99/v1/x",
    "redirect-host": lambda r: r.status == 307 and r.headers["location"] == "http://localhost:99/v1/x",
    "proxy": lambda r: r.texts == HALF_TEXT and r.done and r.whole,
    "busy": lambda r: r.status == 503 and r.code is None,
    "overflow": lambda r: r.status == 400 and r.code == "context_length_exceeded",
    "overflow-local": lambda r: r.status == 400 and b'"exceed_context_size_error"' in r.body,
    "bad-request": lambda r: r.status == 400 and r.code == "unknown_parameter",
    "unauthorized": lambda r: r.status == 401 and KEY.encode() not in r.body and r.code == "invalid_api_key",
    "unauthorized-echo": lambda r: r.status == 401 and KEY.encode() in r.body and r.code == "invalid_api_key",
    "image": lambda r: r.texts == HALF_TEXT and r.done and r.whole,
}


@pytest.mark.parametrize("name", CASES)
def test_the_server_does_what_the_row_says(name):
    case = CASES[name]
    with Server(case.replies, other=99) as server:
        first = ask(server)
        again = ask(server)
    assert DOES[name](first)
    assert (200 <= first.status < 300) == (case.replies[0].status == "200 OK")
    if case.ask == "tool":  # the model's answer to the tool's result
        assert DOES["plain"](again)
    else:
        assert DOES[name](again)
    assert [(seen.target, seen.length) for seen in server.seen] == [("/v1/chat/completions", 2)] * 2
    assert case.proxied == (name == "proxy")


# ---- the judges ----

ANSWER = {"text": "Because water is lazy.", "reasoning": "", "calls": [], "ran": [], "finish": "stop"}
REQUEST = {"length": 9, "sent": 70_000_000, "streamed": True, "asked": True, "keyed": True}


def seen(error=None, ended="by itself", other=(), server=(REQUEST,), **answer):
    whole = {"ended": ended, "grown": 200_000_000, "server": list(server), "other": list(other)}
    if error is not None:
        return whole | {"error": {"type": "Oops", "pickles": "", "holds_key": None} | error}
    return whole if ended != "by itself" else whole | {"answer": ANSWER | answer}


PLAIN = {"plain": seen(), "call": seen(text="", calls=['{"city": "Oslo"}'])}


@pytest.mark.parametrize(
    ("key", "number", "given", "said"),
    [
        ("broken", 1, {"ended": seen()}, "an answer"),
        ("broken", 1, {"ended": seen(text="")}, "an empty answer"),
        ("broken", 1, {"ended": seen({})}, "*Oops*"),
        ("broken", 1, {"ended": seen(ended="time")}, "did not end"),
        ("calls", 0, {"call-cut": seen(calls=['{"city": "Os'])}, 'handed out: `{"city": "Os`'),
        ("calls", 0, {"call-cut": seen(calls=[{"city": "Os"}])}, 'handed out: `{"city": "Os"}`'),
        ("calls", 1, {"call-named": seen(calls=[""])}, "handed out, without arguments"),
        ("calls", 0, {"call-cut": seen(ran=[{"city": "Os"}])}, 'tool run with `{"city": "Os"}`'),
        ("calls", 0, {"call-cut": seen({}, server=[REQUEST] * 2)}, "the model asked again, then *Oops*"),
        ("calls", 0, {"call-cut": seen()}, "no call handed out"),
        ("calls", 0, {"call-cut": seen(server=[REQUEST] * 2)}, "tool not run; the model was asked again"),
        ("reasoning", 0, {"think": seen(reasoning="Hm.")}, "apart from the text"),
        (
            "reasoning",
            0,
            {"think": seen(text="<think>Hm.</think>Because water is lazy.")},
            "left in the text",
        ),
        ("reasoning", 0, {"think": seen(text="</think>Because")}, "text `</think>Because`"),
        ("reasoning", 1, {"reasoning": seen()}, "not handed out"),
        ("limits", 0, {"endless": seen({})}, "*Oops* after 70 MB"),
        ("limits", 0, {"endless": seen(ended="memory")}, "none seen: +200 MB of memory after 70 MB"),
        ("limits", 0, {"endless": seen(ended="time")}, "none in time: 70 MB, +200 MB of memory"),
        ("where", 0, {"redirect-port": seen({})}, "no"),
        ("where", 0, {"redirect-port": seen(other=[REQUEST])}, "yes, with the prompt, with the key"),
        (
            "where",
            0,
            {"redirect-port": seen(other=[REQUEST | {"keyed": False}])},
            "yes, with the prompt, without the key",
        ),
        ("retries", 0, {"busy": seen({}, server=[REQUEST] * 3)}, "3"),
        ("overflow", 0, {"overflow": seen({"type": "Long"}), "bad-request": seen({})}, "*Long*"),
        ("overflow", 0, {"overflow": seen({}), "bad-request": seen({})}, "*Oops*, as for a wrong field"),
        ("secrets", 0, {"unauthorized": seen({"says_words": True})}, "yes"),
        (
            "secrets",
            1,
            {"unauthorized": seen({"says_key": False}), "unauthorized-echo": seen({"says_key": True})},
            "when the server repeats it",
        ),
        (
            "secrets",
            2,
            {"unauthorized": seen({"holds_key": ".request.headers[...]"})},
            "yes: `.request.headers`",
        ),
        ("secrets", 2, {"unauthorized": seen({})}, "no"),
        ("pickle", 0, {"unauthorized": seen({}), "cut": seen({"pickles": "TypeError"})}, "no: TypeError"),
        ("image", 0, {"image": seen() | {"extra": 4_000_000}}, "4 MB"),
    ],
)
def test_a_cell_says_what_was_seen(key, number, given, said):
    [table] = [table for table in TABLES if table.key == key]
    assert cell(table.columns[number], PLAIN | given) == said


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "it was not asked"),
        (
            {"call-cut": seen(ended="crashed") | {"log": "ImportError: x"}},
            "the adapter failed: ImportError: x",
        ),
        ({"call-cut": seen(server=[REQUEST | {"streamed": False}])}, "it did not ask for a stream"),
        ({"call": seen({})}, "given a whole call that comes in pieces, it says: *Oops*"),
        ({"plain": seen(text="Hm")}, "given a whole answer, it says: `Hm`"),
    ],
)
def test_what_was_not_seen_is_not_judged(given, reason):
    [table] = [table for table in TABLES if table.key == "calls"]
    with pytest.raises(NotRun, match=re.escape(reason)):
        cell(table.columns[0], PLAIN | given)


# ---- the harness ----


def test_a_process_that_grows_or_stays_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "ADAPTERS", tmp_path)
    (tmp_path / "grows.py").write_text(
        "import json, sys, urllib.request\n"
        "job = json.loads(sys.argv[1])\n"
        "urllib.request.urlopen(job['url'], b'{}').read(1)\n"
        "kept = []\n"
        "while True: kept.append(bytearray(1_000_000))\n"
    )
    seen = run.observe("endless", Path(sys.executable), "grows", tmp_path)
    assert seen["ended"] == "memory"
    assert seen["grown"] > 200_000_000
    (tmp_path / "fails.py").write_text("raise ImportError('nothing')")
    seen = run.observe("plain", Path(sys.executable), "fails", tmp_path)
    assert (seen["ended"], seen["log"]) == ("crashed", "ImportError: nothing")
