"""Whole chats at a terminal: keys go in, and what a person would see comes out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

import pytest

from svir.testing import MockServer
from tests.cli.chat.terminal import Terminal
from tests.cli.scripted import HEAD, answer, chunk, reply
from tests.support.loopback import Await, Cut, Gone, Request, Send, Signal

PATIENCE = 20.0


def own_terminal():
    """Has Ctrl-C be a signal, and signals do what they do to a program that was not begun by nohup."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Seat:
    """A person at a terminal with a chat on it.

    Args:
        environment: Of the process.
        args: After ``svir chat``.
        more: Streams that are no terminal: ``stdout=subprocess.PIPE``.
    """

    def __init__(self, environment, *args, size=(80, 24), **more):
        columns, lines = size
        self.terminal = Terminal(columns, lines)
        self.terminal.screen.reset_mode(20)  # a real one is behind a kernel, which adds the carriage returns
        self._ours, theirs = pty.openpty()
        self.found = self.modes()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        kept = {name: value for name, value in environment.items() if name != "NO_COLOR"}
        self.child = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "svir", "chat", *args],
            # The sizes are inherited from a larger terminal, as readline leaves them to its children.
            env={
                **kept,
                "TERM": "xterm-256color",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "LINES": "60",
                "COLUMNS": "200",
            },
            start_new_session=True,
            preexec_fn=own_terminal,  # noqa: PLW1509 (there is no other way)
            **{"stdin": theirs, "stdout": theirs, "stderr": theirs, **more},
        )
        os.close(theirs)

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def modes(self) -> list[object]:
        """How the terminal treats what is typed and what is printed."""
        return termios.tcgetattr(self._ours)

    @property
    def text(self) -> str:
        return "\n".join(self.terminal.lines)

    def see(self, text: str) -> None:
        """Waits until this is on the terminal."""
        self._until(lambda: text in self.text)

    def at_prompt(self, after: str = "") -> None:
        """Waits until there is an empty prompt on the last line, below this."""
        self._until(lambda: self.terminal.lines[-1:] == [">"] and after in self.text)

    def _until(self, seen) -> None:
        deadline = time.monotonic() + PATIENCE
        while not seen():
            assert select.select([self._ours], [], [], max(0, deadline - time.monotonic()))[0], self.text
            try:
                data = os.read(self._ours, 65536)
            except OSError:  # the other end is closed
                data = b""
            assert data, f"the chat has ended:\n{self.text}"
            self.terminal.write(data.decode("utf-8", "replace"))

    def end(self) -> int:
        """Waits for the chat to end, and returns the exit code."""
        with contextlib.suppress(AssertionError):
            self._until(lambda: False)
        return self.child.wait(PATIENCE)

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        for stream in (self.child.stdout, self.child.stderr):
            if stream is not None:
                stream.close()
        os.close(self._ours)


@pytest.fixture
def sit(environment, tmp_path):
    with contextlib.ExitStack() as stack:

        def take(server, *args, **more):
            seat = Seat(
                {**environment, "XDG_STATE_HOME": str(tmp_path / "state")}, "--url", server.url, *args, **more
            )
            stack.callback(seat.close)
            return seat

        yield take


@pytest.fixture
def server():
    with MockServer() as server:
        yield server


def test_an_answer_is_drawn_and_the_chat_goes_on_until_ctrl_d(sit, server):
    server.reply(text="It is **so**:\n\n- one\n- two", reasoning="let me see")
    server.reply(text="Yes.")
    seat = sit(server, "-m", "m")
    seat.at_prompt("/help lists")
    seat.type("Why?\r")
    seat.at_prompt("no token counts")
    lines = seat.terminal.lines
    assert "> Why?" in lines
    assert "It is so:" in lines
    assert " \u2022 one" in lines
    assert any(line.startswith("thought for ") for line in lines)
    assert "let me see" not in seat.text
    seat.type("Really?\r")
    seat.at_prompt("Yes.")
    seat.type("\x04")
    assert seat.end() == 0
    assert [turn["content"] for turn in server.requests[1].body["messages"]] == [
        *("Why?", "It is **so**:\n\n- one\n- two", "Really?")
    ]


def test_several_lines_are_one_message(sit, server):
    server.reply(text="So.")
    seat = sit(server, "-m", "m")
    seat.at_prompt()
    seat.type("one\\\rtwo\x1b\rthree\r")
    seat.at_prompt("So.")
    assert server.requests[0].body["messages"][0]["content"] == "one\ntwo\nthree"
    seat.type("/quit\r")
    assert seat.end() == 0


def test_ctrl_c_stops_the_answer_and_what_was_shown_is_kept(sit, script):
    closed = threading.Event()
    server = script(
        [Request(), Send(HEAD + chunk({"content": "half an ans"})), Gone(closed)],
        answer("Second."),
        answer("Third."),
    )
    seat = sit(server, "-m", "m")
    seat.at_prompt()
    seat.type("Why?\r")
    seat.see("half an ans")
    seat.type("\x03\x03\x03")
    assert closed.wait(10)
    seat.at_prompt("kept as the model's turn")
    assert "interrupted: the connection is closed" in seat.text
    assert "half an ans" in seat.terminal.lines
    seat.type("And?\r")
    seat.at_prompt("Second.")
    assert b'"half an ans"' in server.requests[1].body
    seat.type("/clear\rWhy?\r")
    seat.at_prompt("Third.")
    assert b"half an ans" not in server.requests[2].body
    seat.type("\x04")
    assert seat.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("answering", [True, False])
def test_a_signal_that_ends_it_puts_the_terminal_back(sit, script, number, answering):
    halves = [Request(), Send(HEAD + chunk({"content": "half an ans"})), Gone()]
    seat = sit(script(*([halves] if answering else [])), "-m", "m")
    before = seat.found
    seat.at_prompt()
    if answering:
        seat.type("Why?\r")
        seat.see("half an ans")
    assert seat.modes() != before
    seat.child.send_signal(number)
    assert seat.end() == -number
    assert seat.modes() == before
    assert not seat.terminal.screen.cursor.hidden


def test_ctrl_c_before_anything_came_keeps_the_question(sit, script):
    arrived, closed = threading.Event(), threading.Event()
    server = script([Request(), Signal(arrived), Gone(closed)], answer("so"))
    seat = sit(server, "-m", "m")
    seat.at_prompt()
    seat.type("Why?\r")
    seat.see("...")
    assert arrived.wait(10)
    seat.type("\x03")
    assert closed.wait(10)
    seat.at_prompt("/retry asks again.")
    seat.type("/retry\r")
    seat.at_prompt("[finish")
    assert server.requests[0].body == server.requests[1].body


def test_a_failure_is_told_with_advice_and_the_chat_goes_on(sit, script):
    server = script(reply("503 Service Unavailable", {"error": {"message": "busy"}}), answer("so"))
    seat = sit(server, "-m", "m", size=(200, 24))
    seat.at_prompt()
    seat.type("Why?\r")
    seat.at_prompt("HTTP 503")
    said = seat.terminal.lines
    start = next(n for n, line in enumerate(said) if line.startswith("svir: "))
    assert said[start].endswith('The server says: "busy"')
    assert said[start + 1].endswith("Trying again may help. /retry asks again.")
    seat.type("/retry\r")
    seat.at_prompt("[finish stop")
    seat.type("/usge\r")
    seat.at_prompt("Did you mean /usage?")
    seat.type("\x04")
    assert seat.end() == 0


def test_what_is_typed_meanwhile_is_not_drawn_into_the_answer(sit, script):
    go_on = threading.Event()
    server = script(
        [
            *(Request(), Send(HEAD + chunk({"content": "first"})), Await(go_on)),
            *(Send(chunk({"content": ", second"}, "stop") + b"data: [DONE]\n\n"), Cut()),
        ]
    )
    seat = sit(server, "-m", "m")
    seat.at_prompt()
    seat.type("Why?\r")
    seat.see("first")
    seat.type("typed ahead")
    go_on.set()
    seat.see("> typed ahead")
    assert "first, second" in seat.terminal.lines
    assert seat.text.count("typed ahead") == 1


def test_an_answer_longer_than_the_screen_scrolls_away_whole(sit, server):
    code = "".join(f"line {n}\n" for n in range(60))
    server.reply(text=f"Here:\n\n```\n{code}```\n\nSo.")
    seat = sit(server, "-m", "m", size=(40, 12))
    seat.at_prompt()
    seat.type("Why?\r")
    seat.at_prompt("So.")
    lines = [line.strip() for line in seat.terminal.lines]
    start = lines.index("Here:")
    assert lines[start : start + 64] == ["Here:", "", *code.splitlines(), "", "So."], seat.terminal.written


def test_a_person_chooses_among_several_models(sit, server):
    server.reply(models=["alpha", "beta"])
    server.reply(text="So.")
    seat = sit(server)
    seat.at_prompt("/model ID chooses one.")
    assert "  beta" in seat.terminal.lines
    seat.type("Why?\r")
    seat.at_prompt("no model is chosen")
    seat.type("/model beta\rWhy?\r")
    seat.at_prompt("So.")
    assert server.requests[1].body["model"] == "beta"


def test_what_was_typed_is_kept_unless_it_must_not_be(sit, server, tmp_path):
    server.reply(text="So.")
    for args in (["--no-history"], []):
        seat = sit(server, "-m", "m", *args)
        seat.at_prompt()
        seat.type("/usage\r" if args else "Why?\r")
        seat.at_prompt("no answer yet" if args else "So.")
        assert (tmp_path / "state").exists() is (not args)
        seat.type("\x04")
        assert seat.end() == 0
    assert "+Why?" in (tmp_path / "state" / "svir" / "history").read_text()


def test_into_a_pipe_goes_the_plain_answer_though_a_person_asks(sit, server):
    server.reply(text="It is **so**")
    seat = sit(server, "-m", "m", stdout=subprocess.PIPE)
    seat.at_prompt()
    seat.type("Why?\r")
    seat.at_prompt("[finish stop")
    seat.type("\x04")
    assert seat.end() == 0
    assert seat.child.stdout.read() == b"It is **so**\n"
    assert "so" not in [line.strip() for line in seat.terminal.lines]


def test_on_a_terminal_the_model_cannot_drive_it(sit, server):
    server.reply(text="\x1b]0;title\x07so\x9b2J", reasoning="\x1b]0;other\x07")
    seat = sit(server, "-m", "m")
    seat.at_prompt()
    seat.type("Why?\r")
    seat.at_prompt("]0;titleso2J")
    assert "\x1b]" not in seat.terminal.written
