"""An answer on a terminal, at every moment of it."""

from __future__ import annotations

import errno
import itertools

import pytest

from svir.cli._output import OutputError
from svir.cli.chat._markdown import Drawn
from svir.cli.chat._screen import MarkdownScreen
from tests.cli.chat.terminal import Terminal
from tests.cli.chat.test_markdown import PAGE

LONG = PAGE + "\n```\n" + "".join(f"line {n}\n" for n in range(40)) + "```\n\nSo.\n"
FIRST_LINE = "before"


def shown(text, *, columns=80, lines=24, step=1):
    terminal = Terminal(columns, lines)
    terminal.write(f"{FIRST_LINE}\n")
    screen = MarkdownScreen(terminal.console())
    screen.begin()
    for start in range(0, len(text), step):
        screen.text(text[start : start + step])
        screen._live.refresh()
    screen.end_text()
    return terminal


def whole(text, columns):
    terminal = Terminal(columns, 400)
    terminal.console().print(Drawn(text), end="")
    return [FIRST_LINE, *terminal.lines]


@pytest.mark.parametrize(
    ("columns", "lines", "step"), [(80, 24, 5), (40, 10, 7), (20, 3, 11), (80, 24, 9999)]
)
def test_in_the_end_all_of_it_is_there_once_in_its_order(columns, lines, step):
    assert shown(LONG, columns=columns, lines=lines, step=step).lines == whole(LONG, columns)


def test_what_is_as_it_will_be_stays_so():
    """Between any two writes, too: what is erased and what takes its place come in one."""
    terminal = shown(PAGE, lines=60, step=3)
    final = whole(PAGE, 80)
    as_in_the_end = [
        len(
            [
                None
                for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(final, lines, strict=False))
            ]
        )
        for lines in terminal.shown
    ]
    assert as_in_the_end == sorted(as_in_the_end)
    assert as_in_the_end[-1] == len(final)


def test_a_line_of_a_table_or_a_list_stays_once_it_is_there():
    terminal = shown(PAGE, lines=60, step=3)
    for line in ("They are long, see a page (https://example.org/rivers?x=1).", " \u2022 Glomma"):
        seen = [line in lines for lines in terminal.shown]
        first = seen.index(True)
        assert all(seen[first:])
    for raw in ("| River", "|---", "```", "- Glomma", "**long**"):
        assert not any(line.startswith(raw) for lines in terminal.shown for line in lines)


def test_of_a_block_higher_than_the_screen_the_end_is_seen_meanwhile():
    terminal = Terminal(80, 10)
    screen = MarkdownScreen(terminal.console())
    screen.begin()
    for n in range(50):
        screen.text(f"line {n}\n")
        screen._live.refresh()
        assert f"line {n}" in terminal.screen.display[min(n, 8)]
    screen.end_text()
    assert terminal.lines == [f"line {n}" for n in range(50)]


def test_something_is_seen_before_anything_comes_and_goes_then():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console())
    screen.begin()
    assert terminal.lines == ["..."]
    screen.end_text()
    assert terminal.lines == []


def test_reasoning_is_seen_dimmed_and_then_folded():
    terminal = Terminal()
    times = iter([10.0, 13.24])
    screen = MarkdownScreen(terminal.console(), clock=lambda: next(times))
    screen.begin()
    for n in range(20):
        screen.thought(f"step {n}\n")
    screen._live.refresh()
    assert terminal.lines == [f"step {n}" for n in range(12, 20)]
    assert "\x1b[2mstep 19" in terminal.written
    screen.text("So.")
    screen.end_text()
    characters = sum(len(f"step {n}\n") for n in range(20))
    assert terminal.lines == [f"thought for 3.2 s ({characters} characters: /reasoning)", "", "So."]


def test_reasoning_that_was_all_is_folded_in_the_end():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console(), clock=lambda: 1.0)
    screen.begin()
    screen.thought("hm")
    screen.end_text()
    assert terminal.lines == ["thought for 0.0 s (2 characters: /reasoning)"]


def test_reasoning_between_text_keeps_the_order():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console(), clock=lambda: 1.0)
    screen.begin()
    screen.text("One.")
    screen.thought("hm")
    screen.text("Two.")
    screen.end_text()
    assert [line.split(" for")[0] for line in terminal.lines] == ["One.", "", "thought", "", "Two."]


def test_ending_twice_prints_nothing_twice():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console())
    screen.begin()
    screen.text("So.")
    screen.end_text()
    screen.end_text()
    assert terminal.lines == ["So."]


def test_half_an_answer_is_printed_as_far_as_it_came():
    terminal = shown("Here:\n\n```python\nx = 1\n``")
    assert [line.strip() for line in terminal.lines] == [FIRST_LINE, "Here:", "", "x = 1", "``"]


def test_an_idle_screen_is_not_written_to():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console())
    screen.begin()
    screen.text("So")
    screen._live.refresh()
    before = terminal.written
    screen._live.refresh()
    screen._live.refresh()
    assert terminal.written == before
    screen.end_text()


def test_a_terminal_that_is_gone_ends_the_answer_and_not_a_thread():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console())
    screen.begin()
    screen.text("So")
    terminal.write = gone
    screen._live.refresh()  # as its thread does
    with pytest.raises(OutputError, match="Input/output error"):
        screen.text(" it is")
    with pytest.raises(OutputError):
        screen.end_text()
    assert not screen._live.is_started


def gone(text):
    raise OSError(errno.EIO, "Input/output error")


def test_text_of_the_model_cannot_drive_the_terminal():
    terminal = Terminal()
    screen = MarkdownScreen(terminal.console(color_system=None))
    screen.begin()
    screen.thought("\x1b]0;x\x07")
    screen.text("\x1b[31mred \x9b2J &#27;]0;y&#7;\r\n`\x1b[2J`")
    screen.end_text()
    assert "\x1b]" not in terminal.written
    assert "\x1b[31m" not in terminal.written
    assert terminal.lines[-2:] == ["[31mred 2J \ufffd]0;y\ufffd", "[2J"]


def test_carriage_returns_end_no_lines():
    assert shown("one\r\n\r\n- tw\ro\r\n- three\r\n\r\nfour").lines == [
        *(FIRST_LINE, "one", "", " \u2022 two", " \u2022 three", "", "four")
    ]


def test_the_cursor_is_there_in_the_end():
    terminal = shown("So.")
    assert terminal.written.rindex("\x1b[?25h") > terminal.written.rindex("\x1b[?25l")


def test_the_terminal_is_as_large_as_it_is_whatever_is_inherited(monkeypatch):
    monkeypatch.setenv("LINES", "60")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (40, 12))
    assert MarkdownScreen()._console.size == (40, 12)
