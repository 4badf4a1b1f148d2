"""The report as text: a line a finding, at any width, in a pipe and on a terminal."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from svir.cli.probe._report import Report, Row, Speed, Verdict
from svir.cli.probe._terminal import print_report

ROWS = tuple(
    Row(
        id=f"group{n % 2}.row{n}",
        question="Does it?",
        verdict=verdict,
        finding=f"A finding of {'so many ' * n}words.",
        sent="POST /v1/chat/completions {}",
        shown="data: [bold]{}[/bold] " + "x" * 200,
        strict="a whole answer",
        lenient="a whole answer" if n else "another one",
        options=("mode='lenient'",) if n == 2 else (),
        advice="Do this." if n == 2 else "",
    )
    for n, verdict in enumerate(Verdict)
)
REPORT = Report(
    svir="1",
    url="http://127.0.0.1:1",
    model="m [bold]",
    server="llama.cpp",
    started="2026-01-01T00:00:00+00:00",
    seconds=1.5,
    requests=6,
    rows=tuple(sorted(ROWS, key=lambda row: row.id)),
    speed=Speed(first_token=0.25, tokens_per_second=61.26),
    call="svir.Client.openai('http://127.0.0.1:1', model='m')",
)


def printed(width: int = 80, *, terminal: bool = False, verbose: bool = False) -> str:
    file = io.StringIO()
    color = "standard" if terminal else None
    console = Console(file=file, width=width, force_terminal=terminal, color_system=color, markup=False)
    print_report(console, REPORT, verbose=verbose)
    return file.getvalue()


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_wider_than_it_may_be(width, verbose):
    assert max(map(len, printed(width, verbose=verbose).splitlines())) <= max(width, len(REPORT.call))


def test_a_pipe_gets_no_escapes_and_the_words_as_they_are():
    text = printed(verbose=True)
    assert text.isascii()
    assert "\x1b" not in text
    assert "m [bold]  (llama.cpp)" in text
    assert "data: [bold]{}[/bold]" in text


def test_a_terminal_gets_colours_and_the_same_words():
    assert "\x1b[" in printed(terminal=True)
    assert "m [bold]" in printed(terminal=True)


def test_each_verdict_has_a_mark_of_its_own_and_groups_are_headed_once():
    lines = printed().splitlines()
    assert [line[2:4] for line in lines if line[:2] == "  " and "row" in line] == [
        "ok",
        "!!",
        "? ",
        "~ ",
        "no",
        "- ",
    ]
    assert (lines.count("group0"), lines.count("group1")) == (1, 1)


def test_the_summary_counts_and_the_call_comes_last():
    lines = printed().splitlines()
    counts = "1 ok, 1 different, 1 broken, 1 unsupported, 1 unclear, 1 skipped"
    assert f"{counts}: 6 requests in 1.5 s" in " ".join(lines)
    assert "first token after 250 ms, 61.3 tokens/s" in lines
    assert lines[-1] == REPORT.call


def test_details_say_a_thing_once():
    text = printed(verbose=True)
    assert text.count("sent     POST") == 1
    assert text.count("sent     the same") == 5
    assert text.count("strict   a whole answer") == text.count("lenient  another one") == 1
    assert text.count("svir     a whole answer") == 5
    assert "advice   Do this." in text
    assert "options  mode='lenient'" in text


def test_of_an_answer_of_nothing_but_blanks_nothing_is_shown():
    row = Row(id="a.b", question="Does it?", verdict=Verdict.OK, finding="It does.", shown=" ")
    file = io.StringIO()
    print_report(Console(file=file), msgspec.structs.replace(REPORT, rows=(row,)), verbose=True)
    assert "shown" not in file.getvalue()
