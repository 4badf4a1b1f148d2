"""`svir decode` as it is typed: most in this process, and with pipes in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from svir.cli.decode import Reading, Task, decode
from tests.cli.decode.wrapped import HEAD, wrap
from tests.support.streams import DONE, STOP, chunk

TEXT = chunk({"content": "Herons "})
WHOLE = TEXT + chunk({"content": "fish"}) + STOP + DONE


@pytest.fixture
def recording(tmp_path):
    def write(data):
        path = tmp_path / "answer.http"
        path.write_bytes(data)
        return str(path)

    return write


def test_a_file_is_decoded(command, recording):
    done = command("decode", recording(wrap("chunked", WHOLE)))
    assert (done.returncode, done.stderr) == (0, b"")
    assert [line.split()[1] for line in done.stdout.decode().splitlines()] == ["text", "text", "completed"]


def test_so_is_standard_input(command):
    done = command("decode", "-", "--merge", "--json", stdin=wrap("proxy", WHOLE))
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[0])["text"] == "Herons fish"


def test_a_file_that_is_called_as_standard_input_is_has_its_folder_before_it(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(WHOLE)
    assert command("decode", "./-", stdin=b"").stdout == command("decode", "-", stdin=WHOLE).stdout != b""


def test_the_exit_code_is_that_of_the_kind(command, recording):
    broken = recording(WHOLE[:-9])
    done = command("decode", broken)
    assert done.returncode == 13
    assert len(done.stderr.splitlines()) == 2
    assert command("decode", "--limit", "event_bytes=20", "--limit", "tool_calls=1", broken).returncode == 20
    done = command("decode", recording(chunk({"content": "<think>so"}) + STOP + DONE), "--think", "keep")
    assert b'"<think>so"' in done.stdout


def test_events_are_shown_as_they_arrive(environment):
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "svir", "decode", "-"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        os.write(child.stdin.fileno(), HEAD + b"\r\n" + TEXT)
        assert b'"Herons "' in os.read(child.stdout.fileno(), 1000)
        # What follows [DONE] is not waited for.
        os.write(child.stdin.fileno(), STOP + DONE)
        assert b"completed" in child.stdout.readline()
        assert child.wait(20) == 0
        assert child.stderr.read() == b""


def test_nobody_reads_the_events_any_more(environment, recording):
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "svir", "decode", recording(TEXT * 20_000)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(20) == 141
        assert child.stderr.read() == b""


@pytest.mark.parametrize(
    "args",
    [
        ("--chunk", "0"),
        ("--think", "maybe"),
        ("--limit", "events=3"),
        ("--limit", "event_bytes=0"),
        ("--limit", "event_bytes=x"),
        ("--to-case", "No Name"),
        ("--to-case", "x", "--lenient"),
        ("--to-case", "x", "--json"),
        ("--output", "x"),
        ("--every-cut", "--chunk", "3"),
        ("--every-cut", "--merge"),
        ("more",),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told(command, recording, args):
    done = command("decode", recording(WHOLE), *args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_a_file_must_be_named(command):
    assert command("decode").returncode == 2


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no-such-file", "No such file"),
        (".", "Is a directory"),
        ("/proc/self/mem", "Input/output error"),
        ("x" * 5000, "File name too long"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(command, name, problem):
    done = command("decode", name)
    assert (done.returncode, done.stdout) == (22, b"")
    first, second = done.stderr.decode().splitlines()
    assert problem in first
    assert second == "FILE is what `curl -i` wrote, or - for standard input."


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_said(command, recording):
    path = recording(WHOLE)
    Path(path).chmod(0)
    assert b"Permission denied" in command("decode", path).stderr


def test_memory_does_not_grow_with_the_recording(recording, capfdbinary):
    padded = chunk({"content": "x"}, system_fingerprint="p" * 2000)
    decode(Task(file=recording(HEAD + b"\r\n" + padded + STOP + DONE), as_json=True))  # imports what it needs
    path = recording(HEAD + b"\r\n" + padded * 4000 + STOP + DONE)
    capfdbinary.readouterr()
    tracemalloc.start()
    try:
        assert decode(Task(file=path, reading=Reading(), as_json=True)) == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(capfdbinary.readouterr().out.splitlines()) == 4001
    assert Path(path).stat().st_size > 8_000_000
    assert peak < 1_000_000
