"""`svir probe` against llama.cpp: what is known of it is what is found, and the call it gives runs."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest

import svir
from svir.cli.probe._report import Report, Verdict

OK, DIFFERENT, UNSUPPORTED, UNCLEAR = Verdict.OK, Verdict.DIFFERENT, Verdict.UNSUPPORTED, Verdict.UNCLEAR

# What llama.cpp does, whatever the model says.
KNOWN = {
    "models.list": OK,
    "stream.path": OK,
    "stream.content_type": OK,
    "stream.framing": OK,
    "stream.first": OK,
    "stream.role": OK,
    "stream.keys": OK,
    "stream.empty_choices": OK,
    "stream.pieces": OK,
    "stream.done": OK,
    "stream.strict": OK,
    "usage.asked": OK,
    "usage.unasked": OK,
    "finish.length": OK,
    "reasoning.carrier": UNCLEAR,  # the model has none
    "reasoning.effort": UNCLEAR,  # any word is taken
    "images.input": UNSUPPORTED,
    "fields.max_tokens": OK,
    "fields.max_completion_tokens": OK,
    "fields.logprobs": OK,
    "fields.unknown": DIFFERENT,
    "errors.model": DIFFERENT,  # it answers with the model it has
    "errors.json": OK,
    "errors.key": OK,
    "errors.overflow": OK,
    "leaving.stops": OK,
    "speed.first_token": OK,
    "speed.rate": OK,
}
# What the model has a part in: it may not do what it is asked.
PERHAPS = {
    "finish.stop": {OK, UNCLEAR},
    "tools.auto": {OK, UNCLEAR},
    "tools.required": {OK, UNCLEAR},
    "tools.index": {OK, UNCLEAR},
    "tools.id": {OK, UNCLEAR},
    "tools.name": {OK, UNCLEAR},
    "tools.arguments": {OK, UNCLEAR},
    "tools.several": {OK, UNCLEAR},
    "format.json": {OK, UNCLEAR},
    "format.schema": {OK, UNCLEAR},
    "format.strict": {OK, UNCLEAR},
    "roles.system": {OK, UNCLEAR},
    "roles.tool": {OK, UNCLEAR},
    "fields.stop": {OK, UNCLEAR},
}


def ended(server, *args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "svir", "probe", server.url, "--api-key-env", "MY_KEY", *args],
        capture_output=True,
        env={**os.environ, "MY_KEY": server.api_key, "COLUMNS": "80"},
        timeout=700,
        check=False,
    )


@pytest.fixture(scope="module")
def report(server) -> Report:
    done = ended(server, "--json", "--max-seconds", "600")
    assert done.returncode == 0, done.stderr
    assert server.api_key.encode() not in done.stdout + done.stderr
    return msgspec.json.decode(done.stdout, type=Report)


def test_what_is_known_of_the_server_is_what_is_found(report):
    assert {
        row.id: (row.verdict, row.finding)
        for row in report.rows
        if KNOWN.get(row.id) not in {None, row.verdict}
    } == {}


def test_what_depends_on_the_model_is_never_held_against_the_server(report):
    odd = {row.id: row.finding for row in report.rows if row.verdict not in PERHAPS.get(row.id, Verdict)}
    # A named tool is not kept to: the model answers as it likes.
    assert odd == {}
    assert {row.id for row in report.rows} == {*KNOWN, *PERHAPS, "tools.named"}


def test_the_call_that_it_gives_runs(report, server, monkeypatch):
    monkeypatch.setenv("MY_KEY", server.api_key)
    with eval(report.call, {"svir": svir}) as client:
        answer = client.complete("Say yes.", max_tokens=2)
    assert answer.finish is svir.FinishReason.LENGTH
    assert answer.usage is not None


def test_a_part_of_it_is_quick_and_readable(server):
    done = ended(server, "--only", "models,fields")
    lines = done.stdout.decode().splitlines()
    assert "  ok  max_tokens    Kept: one token came." in lines
    assert lines[-1] == ")"
    assert done.returncode == 0
