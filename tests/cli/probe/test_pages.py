"""`svir probe --html` and `--compare` as they are typed."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import msgspec
import pytest

from svir.cli.probe._html import render
from svir.cli.probe._report import Report
from tests.cli.probe.parsed import inert
from tests.cli.probe.reports import LLAMA, PROXIED
from tests.cli.probe.servers import serving


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, report in zip(paths, (LLAMA, PROXIED), strict=True):
        path.write_bytes(msgspec.json.encode(report))
    return list(map(str, paths))


def test_a_probe_is_written_as_a_page_beside_what_it_prints(command, tmp_path):
    path = tmp_path / "page.html"
    with serving() as server:
        done = command("probe", server.url, "--only", "stream", "--json", "--html", str(path))
    assert done.returncode == 0
    report = msgspec.json.decode(done.stdout, type=Report)
    assert path.read_text("utf-8") == render(report)
    assert done.stderr.decode().splitlines()[-1] == f"svir: the page is in {path}"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_that_cannot_be_written_is_said_before_anything_is_asked(command, tmp_path):
    with serving() as server:
        done = command("probe", server.url, "--html", str(tmp_path / "missing" / "page.html"))
    assert done.returncode == 22
    assert b"'page.html' cannot be written: No such file" in done.stderr
    assert server.requests == []


def test_a_probe_that_finds_nothing_out_leaves_the_page_of_before(command, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    assert command("probe", "http://127.0.0.1:9", "--html", str(path)).returncode == 10
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_two_reports_are_compared_in_a_pipe(process, files):
    done = process("probe", "--compare", *files, SVIR_URL="http://127.0.0.1:9")
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.decode().splitlines()[0].startswith("other verdict\tstream.done\tok\tbroken\t")


def test_two_reports_are_compared_as_a_page(command, files, tmp_path):
    path = tmp_path / "page.html"
    done = command("probe", "--compare", *files, "--html", str(path))
    assert done.returncode == 0
    assert f"svir: the page is in {path}\n".encode() == done.stderr
    assert (
        "1 other verdict, 1 other finding, 3 only in A, 1 only in B, 6 same"
        in inert(path.read_text("utf-8")).text
    )


@pytest.mark.parametrize(
    "more",
    [["http://127.0.0.1:9"], ["--local"], ["--json"], ["--verbose"], ["--only", "stream"], ["-m", "m"]],
    ids=lambda more: more[0],
)
def test_whatever_else_goes_with_a_server_does_not_go_with_comparing(command, files, more):
    done = command("probe", *more, "--compare", *files)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"svir: --compare reads two files and asks no server\nOnly --html goes with it.\n"


def test_comparing_needs_two_files(command, files):
    assert command("probe", "--compare", files[0]).returncode == 2


def test_a_file_that_is_no_report_ends_with_the_code_of_a_wrong_configuration(command, files, tmp_path):
    path = tmp_path / "page.html"
    (tmp_path / "b.json").write_text("{}")
    done = command("probe", "--compare", *files, "--html", str(path))
    assert (done.returncode, done.stdout) == (22, b"")
    assert b"'b.json' is no report that `svir probe --json` wrote" in done.stderr
    assert not path.exists()


@pytest.mark.parametrize(("encoding", "columns"), [("utf-8", 80), ("ascii", 80), ("utf-8", 40)])
def test_two_reports_are_compared_side_by_side_on_a_terminal(environment, files, encoding, columns):
    told = {**environment, "PYTHONIOENCODING": encoding, "COLUMNS": str(columns), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "svir", "probe", "--compare", *files],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=told,
    ) as child:
        os.close(theirs)
        shown = b""
        while piece := read(ours):
            shown += piece
        assert child.wait(20) == 0
    os.close(ours)
    lines = re.sub(r"\x1b\[\d*m", "", shown.decode()).splitlines()
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) <= columns
    assert "other verdict (1)" in lines
    assert any(line.startswith("  stream.done") for line in lines)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""
