"""What reaches a terminal and what reaches a pipe, through a real pseudo-terminal and real pipes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from unicodedata import bidirectional, lookup

import pytest

import svir
from svir.cli._output import Output, harmless, one_line

DRIVING = "a\x1b]0;title\x07b\x1b[2Jc\x9b31md\x08\r\x7fe\tf\ng\x00"
SHOWN = "a]0;titleb[2Jc31mde\tf\ng"
EXPLICIT = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = {ord(lookup(f"{name} MARK")) for name in ("LEFT-TO-RIGHT", "RIGHT-TO-LEFT", "ARABIC LETTER")}

PROGRAM = """
import sys
from svir.cli._output import Output
output = Output()
{body}
output.end_text()
"""


def run(
    body: str, *, out_tty: bool = False, err_tty: bool = False, **environment: str
) -> tuple[bytes, bytes]:
    """Runs the program with pipes or pseudo-terminals, and returns what came out of each."""
    home = str(Path(svir.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": home, "TERM": "xterm-256color", **environment}
    ends = [pty.openpty() if tty else os.pipe() for tty in (out_tty, err_tty)]
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=body)],
        stdin=subprocess.DEVNULL,
        stdout=ends[0][1],
        stderr=ends[1][1],
        env=env,
    )
    for _, write in ends:
        os.close(write)
    got = tuple(drain(read) for read, _ in ends)
    assert child.wait(30) == 0, got
    return got


def drain(fd: int) -> bytes:
    pieces = []
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:  # a pseudo-terminal whose other end is closed says EIO
            piece = b""
        if not piece:
            os.close(fd)
            # a terminal turns LF into CR LF by itself
            return b"".join(pieces).replace(b"\r\n", b"\n")
        pieces.append(piece)


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0)])
def test_every_control_character_but_line_break_and_tab_is_left_out(code):
    shown = harmless(f"a{chr(code)}b")
    assert shown == (f"a{chr(code)}b" if code in {9, 10} else "ab")


def test_what_changes_the_direction_of_text_is_left_out():
    characters = map(chr, range(0x110000))
    direction = [one for one in characters if bidirectional(one) in EXPLICIT or ord(one) in MARKS]
    assert len(direction) == 12
    assert harmless(f"rm -rf {''.join(direction)}safe/") == "rm -rf safe/"


def test_all_other_characters_stay():
    text = "caf\xe9 \xa0 \u65e5\u672c \U0001f600 ~"
    assert harmless(text) == text


def test_one_line_has_no_line_break():
    assert one_line(" a\r\n\tb\x1b[1m\n") == "a b[1m"


def test_a_models_name_becomes_no_picture(capsys):
    Output().console.print("served :tada: here")
    assert capsys.readouterr().err == "served :tada: here\n"


def test_a_terminal_gets_the_answer_without_control_characters():
    out, _ = run(f"output.text({DRIVING!r})", out_tty=True)
    assert out.decode() == SHOWN + "\n"


def test_a_pipe_gets_the_answer_unchanged_and_nothing_more():
    out, err = run(f"output.text({DRIVING!r})")
    assert (out, err) == (DRIVING.encode(), b"")


def test_a_pipe_gets_utf8_whatever_the_locale():
    out, _ = run("output.text('\\u65e5')", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert out == "\u65e5".encode()


def test_a_terminal_without_the_characters_gets_question_marks():
    out, _ = run("output.text('\\u65e5')", out_tty=True, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert out == b"?\n"


def test_raw_bytes_go_into_a_pipe_unchanged():
    out, _ = run("output.raw(b'\\xff\\x1b[2J')")
    assert out == b"\xff\x1b[2J"


def test_raw_bytes_are_harmless_text_on_a_terminal_wherever_they_are_cut():
    out, _ = run("[output.raw(bytes([b])) for b in '\\u65e5\\x1b[2J'.encode()]", out_tty=True)
    assert out.decode() == "\u65e5[2J\n"


def test_reasoning_goes_to_standard_error_dimmed_on_a_terminal():
    out, err = run("output.thought('hm\\x1b[2J'); output.text('so\\n')", err_tty=True)
    assert out == b"so\n"
    assert err == b"\x1b[2mhm[2J\x1b[0m\n"


def test_reasoning_in_a_file_is_plain_and_unchanged():
    _, err = run("output.thought('hm\\x1b[2J')")
    assert err == b"hm\x1b[2J\n"


def test_a_terminal_that_knows_no_escape_codes_gets_none():
    _, err = run("output.thought('hm')", err_tty=True, TERM="dumb")
    assert err == b"hm\n"


def test_reasoning_and_answer_do_not_share_a_line():
    out, err = run(
        "output.thought('a'); output.text('b'); output.thought('c'); output.text('d')",
        out_tty=True,
        err_tty=True,
        TERM="dumb",
    )
    assert (out, err) == (b"b\nd\n", b"a\nc\n")


def test_what_is_said_after_an_answer_in_a_pipe_has_a_line_of_its_own_on_a_terminal():
    out, err = run(
        "output.text('so'); output.end_text(); output.thought('[said]')", err_tty=True, TERM="dumb"
    )
    assert (out, err) == (b"so", b"\n[said]\n")
    out, err = run(
        "output.text('so\\n'); output.end_text(); output.thought('[said]')", err_tty=True, TERM="dumb"
    )
    assert (out, err) == (b"so\n", b"[said]\n")


def test_an_answer_in_a_file_leaves_no_blank_line_on_the_terminal(tmp_path):
    # the file is the answer's, so the terminal's cursor stands at the start of a line
    into = f"import os; os.dup2(os.open({str(tmp_path / 'a.txt')!r}, os.O_CREAT | os.O_WRONLY), 1)"
    _, err = run(
        f"{into}; output.text('so'); output.end_text(); output.thought('x')", err_tty=True, TERM="dumb"
    )
    assert (err, (tmp_path / "a.txt").read_bytes()) == (b"x\n", b"so")


def test_what_is_said_while_something_moves_goes_above_it():
    body = """
from svir.cli._output import say
from rich.progress import Progress
with Progress(console=output.console, transient=True) as bar:
    bar.add_task("moving", total=2)
    say("a line")
    bar.refresh()
"""
    _, err = run(body, err_tty=True, COLUMNS="60")
    above, line, below = err.partition(b"a line\n")
    assert line
    assert b"moving" in below
    assert b"a line" not in above + below
