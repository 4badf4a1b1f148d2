"""Ctrl-C while an answer comes."""

from __future__ import annotations

import os
import pty
import signal
import sys
import termios

import pytest

from svir.cli.chat._keyboard import Keyboard


@pytest.fixture
def terminal(monkeypatch):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "rb", buffering=0) as stream, os.fdopen(ours, "rb", buffering=0):
        monkeypatch.setattr(sys, "stdin", stream)
        yield stream


def echoes(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


@pytest.mark.usefixtures("terminal")
def test_it_comes_once():
    before = signal.getsignal(signal.SIGINT)
    with Keyboard(there=True):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("terminal")
def test_it_waits_for_what_is_being_drawn():
    done = []
    with Keyboard(there=True) as keyboard:
        with pytest.raises(KeyboardInterrupt), keyboard.held():
            signal.raise_signal(signal.SIGINT)
            done.append("drawn")
        with keyboard.held():
            done.append("drawn again")
    assert done == ["drawn", "drawn again"]


@pytest.mark.usefixtures("terminal")
def test_what_fails_while_it_waits_is_what_is_told():
    with Keyboard(there=True) as keyboard, pytest.raises(ZeroDivisionError), keyboard.held():
        signal.raise_signal(signal.SIGINT)
        raise ZeroDivisionError


@pytest.fixture
def pressed(monkeypatch):
    """Has Ctrl-C come right after the n-th change of the terminal."""
    change, done = termios.tcsetattr, []

    def at(number):
        def changed(*args):
            change(*args)
            done.append(args)
            if len(done) == number:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(termios, "tcsetattr", changed)

    return at


def test_it_may_come_before_the_answer_has_begun(terminal, pressed):
    before = signal.getsignal(signal.SIGINT)
    pressed(1)
    with pytest.raises(KeyboardInterrupt), Keyboard(there=True):
        pass
    assert signal.getsignal(signal.SIGINT) is before
    assert echoes(terminal)


def test_when_the_answer_is_over_it_is_too_late(terminal, pressed):
    before = signal.getsignal(signal.SIGINT)
    pressed(2)
    with Keyboard(there=True):
        pass
    assert signal.getsignal(signal.SIGINT) is before
    assert echoes(terminal)


def test_what_is_typed_is_not_shown_meanwhile(terminal):
    assert echoes(terminal)
    with Keyboard(there=True):
        assert not echoes(terminal)
    assert echoes(terminal)


def test_without_a_keyboard_nothing_is_changed():
    with Keyboard(there=False) as keyboard, pytest.raises(KeyboardInterrupt), keyboard.held():
        signal.raise_signal(signal.SIGINT)
