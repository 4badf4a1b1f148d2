"""Standard streams that are closed, full, or read by nobody, as a shell gives them to a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import svir
from svir.cli._streams import stand
from svir.testing import MockServer
from tests.cli.probe.servers import serving
from tests.cli.scripted import HEAD, answer

FULL = Path("/dev/full")
SVIR = f"{sys.executable} -W error -m svir"

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")


@pytest.fixture
def shell(environment, tmp_path):
    """Runs a line in a shell; ``svir`` is the command, and ``$?`` of it is the last line of the output."""

    def run(line, **more):
        return subprocess.run(
            ["sh", "-c", f'svir() {{ {SVIR} "$@"; }}\n{line}'],
            env={**environment, **more},
            cwd=tmp_path,
            capture_output=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def recording(tmp_path):
    (tmp_path / "a.http").write_bytes(answer(*["so "] * 200))


LINES = ("svir --help", "svir decode a.http", "svir decode --json a.http")


@pytest.mark.parametrize("line", [*LINES, "svir --show-completion fish", "svir decode --to-case x a.http"])
def test_a_full_disk_is_said(shell, recording, line):
    done = shell(f"{line} > /dev/full")
    assert done.stderr == b"svir: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stdout) == (74, b"")


@pytest.mark.parametrize("line", LINES)
def test_nobody_reads_the_output(shell, recording, line):
    done = shell(f"{{ {line}; echo $? >&2; }} | true")
    # As often as not all of it fits into the pipe, before its other end is closed.
    assert done.stderr in {b"141\n", b"0\n"}


def test_an_answer_that_cannot_be_written_ends_the_call(shell, script):
    server = script(answer("so"))
    done = shell(f"svir ask --url {server.url} -m m Why > /dev/full")
    assert done.stderr == b"svir: the output cannot be written: No space left on device\n"
    assert done.returncode == 74


@pytest.mark.parametrize("form", ["", "--json"])
def test_a_report_that_cannot_be_written_is_said(shell, form):
    with serving() as server:
        done = shell(f"svir probe {server.url} --only models {form} > /dev/full")
    assert done.stderr.endswith(b"svir: the output cannot be written: No space left on device\n")
    assert done.returncode == 74


@pytest.mark.parametrize("name", ["ask --url http://127.0.0.1:9 -m m x", "models", "decode a.http", "--help"])
def test_standard_output_that_is_closed_is_said_before_anything_is_done(shell, recording, name):
    done = shell(f"svir {name} >&-")
    assert done.stderr == b"svir: the output cannot be written: standard output is closed\n"
    assert done.returncode == 74


def test_a_closed_standard_input_is_an_empty_one(shell, script):
    assert shell("svir decode - <&-").returncode == 13
    done = shell("svir ask --url http://127.0.0.1:9 -m m <&-")
    assert b"there is no prompt" in done.stderr
    assert done.returncode == 2


def test_standard_input_that_cannot_be_read_is_said(shell):
    for name in ("ask", "chat"):
        done = shell(f"svir {name} --url http://127.0.0.1:9 -m m < /proc/self/mem")
        assert b"standard input cannot be read: Input/output error\n" in done.stderr
        assert done.returncode == 22
    assert shell("svir decode - < /proc/self/mem").returncode == 22


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_the_exit_code_is_right_where_nothing_can_be_said(shell, recording, closed):
    assert shell(f"svir decode no-such-file {closed}").returncode == 22
    assert shell(f"svir ask --nonsense {closed}").returncode == 2
    done = shell(f"svir decode a.http {closed}")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b'completed  finish stop; 600 characters of text; model "m"; id "r1"\n')


def full():
    return os.open(FULL, os.O_WRONLY)


def unread():
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize("moving", [{}, {"TERM": "xterm", "FORCE_COLOR": "1"}], ids=["still", "moving"])
@pytest.mark.parametrize("into", [full, unread])
def test_what_is_told_beside_the_output_may_be_lost(environment, recording, tmp_path, into, moving):
    """A display that moves is drawn for a terminal only, for which rich then takes whatever there is."""

    def run(*words, stdin=b""):
        told = into()
        try:
            done = subprocess.run(
                [sys.executable, "-W", "error", "-m", "svir", *words],
                env={**environment, **moving},
                cwd=tmp_path,
                input=stdin,
                stdout=subprocess.PIPE,
                stderr=told,
                timeout=60,
                check=False,
            )
        finally:
            os.close(told)
        return done.returncode, done.stdout

    assert run("decode", "--every-cut", "a.http")[0] == 0
    assert run("decode", "no-such-file")[0] == 22
    with MockServer() as server:
        server.reply(reasoning="let me see", text="so")
        server.reply(reasoning="let me see", text="so")
        assert run("ask", "--url", server.url, "-m", "m", "Why?") == (0, b"so")
        lines = b"/help\nWhy?\n/reasoning\n/usage\n"
        assert run("chat", "--url", server.url, "-m", "m", stdin=lines) == (0, b"so\n")
    with serving() as server:
        code, report = run("probe", server.url, "--only", "models")
    assert (code, b"models" in report) == (0, True)


def test_nothing_is_left_that_the_interpreter_complains_about(shell, script):
    """With both full, and everything else closed."""
    server = script(answer("so"))
    done = shell(f"svir ask --url {server.url} -m m Why <&- > /dev/full 2>/dev/full")
    assert (done.returncode, done.stdout, done.stderr) == (74, b"", b"")


def test_a_locale_without_the_characters_gets_what_it_has(shell, tmp_path):
    body = (
        HEAD
        + 'data: {"choices":[{"index":0,"delta":{"content":"caf\xe9"},"finish_reason":"stop"}]}\n\n'.encode()
    )
    (tmp_path / "a.http").write_bytes(body + b"data: [DONE]\n\n")
    done = shell(
        "svir decode a.http; svir decode --json a.http",
        LANG="C",
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
    )
    assert done.stderr == b""
    first, _, last, *_ = done.stdout.splitlines()
    assert first.endswith(b'"caf?"')
    assert '"caf\xe9"'.encode() in last


def test_a_word_that_is_no_text_is_answered(shell):
    done = shell("svir ask --url http://127.0.0.1:9 -m m \"$(printf 'caf\\377')\"", LC_ALL="C.UTF-8")
    assert done.stderr.startswith(b"svir: not supported: messages[0].parts[0] is not valid Unicode")
    assert done.returncode == 19


def test_open_streams_stay_as_they_are():
    streams = (sys.stdin, sys.stdout, sys.stderr)
    assert stand()
    assert (sys.stdin, sys.stdout, sys.stderr) == streams
    assert svir.__version__
