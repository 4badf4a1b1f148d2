"""What is read as a whole has a bound: here what has no end is given to whole commands."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from svir.cli._input import PIECE_BYTES, read_file, read_text
from svir.cli._refused import RefusedError

ZERO = Path("/dev/zero")
ADDRESS = ("--url", "http://127.0.0.1:9", "-m", "m")
MEMORY = 1 << 30
"""Bytes of address space: more than any of these commands needs, and less than what it would ask for."""


@pytest.fixture
def bounded(environment, tmp_path):
    """Runs a command that may not have much memory, with zeros that never end as its standard input."""

    def run(*words, memory=MEMORY):
        with ZERO.open("rb") as zeros:
            done = subprocess.run(
                [sys.executable, "-W", "error", "-m", "svir", *words],
                env=environment,
                cwd=tmp_path,
                stdin=zeros,
                capture_output=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
                timeout=60,
                check=False,
            )
        assert done.stdout == b""
        return done.returncode, done.stderr.decode().splitlines()

    return run


@pytest.mark.skipif(not ZERO.exists(), reason="this system has no device that never ends")
@pytest.mark.parametrize(
    ("words", "said", "advice"),
    [
        (
            ["ask", *ADDRESS],
            "standard input is larger than 64 MiB",
            ["svir ask -f FILE sends a file of any size."],
        ),
        (
            ["ask", *ADDRESS, "-f", "-", "Why?"],
            "standard input is larger than 64 MiB",
            ["svir ask -f FILE sends a file of any size."],
        ),
        (
            ["ask", *ADDRESS, "--json-schema", "/dev/zero", "Why?"],
            "the schema 'zero' is larger than 16 MiB",
            ["--json-schema takes a file with a JSON Schema."],
        ),
        (
            ["probe", "--compare", "/dev/zero", "other"],
            "the report 'zero' is larger than 16 MiB",
            ["--compare takes two files that `svir probe --json` wrote."],
        ),
        (
            ["chat", *ADDRESS],
            "standard input has a message that is larger than 64 MiB",
            ["A line is a message."],
        ),
        (["chat", *ADDRESS, "--load", "/dev/zero"], "'zero' is no regular file", []),
    ],
    ids=["prompt", "file", "schema", "report", "message", "conversation"],
)
def test_what_never_ends_is_refused(bounded, words, said, advice):
    assert bounded(*words) == (22, [f"svir: {said}", *advice])


def test_memory_that_runs_out_is_no_fault_of_svir(bounded, tmp_path):
    with (tmp_path / "talk.json").open("wb") as file:
        file.truncate(MEMORY)  # within the bound, and all of it a hole
    assert bounded("chat", *ADDRESS, "--load", "talk.json") == (71, ["svir: memory ran out"])


@pytest.mark.parametrize("most", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES])
def test_the_bound_itself_is_allowed(tmp_path, most):
    path = tmp_path / "a"
    path.write_bytes(b"x" * most)
    assert read_file(path, most) == b"x" * most
    path.write_bytes(b"x" * (most + 1))
    with pytest.raises(RefusedError, match="'a' is larger than"):
        read_file(path, most)


def test_a_pipe_that_ends_is_a_file_like_others(tmp_path):
    """So that `--json-schema <(...)` works: it comes in pieces, and has no length."""
    read, write = os.pipe()
    try:
        child = subprocess.Popen([sys.executable, "-c", f"print('x' * {3 * PIECE_BYTES})"], stdout=write)
        os.close(write)
        assert read_file(Path(f"/dev/fd/{read}"), 4 * PIECE_BYTES) == b"x" * 3 * PIECE_BYTES + b"\n"
        assert child.wait(30) == 0
    finally:
        os.close(read)


def test_a_terminal_is_asked_for_its_end_once(monkeypatch):
    class Terminal:
        def __init__(self):
            self.given = [b"hi\n", b""]

        def read(self, size):
            assert size > 3
            return self.given.pop(0)

        def isatty(self):
            return False

    typed = Terminal()
    typed.buffer = typed
    monkeypatch.setattr(sys, "stdin", typed)
    assert read_text("prompt") == "hi\n"
    assert typed.given == [b""]
