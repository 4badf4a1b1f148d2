"""The soak test accounts for every call, and would see what it looks for. It runs for long by `make soak`."""

from __future__ import annotations

import threading

import pytest

import svir
from bench import soak
from tests.support.storm import Storm


class Pipe:
    """The server's end of the pipe, played by a server in this process."""

    def __init__(self, storm):
        self.storm = storm

    def send(self, _):
        pass

    def recv(self):
        return self.storm.open


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(soak, "CALLS", 36)
    monkeypatch.setattr(soak, "AT_ONCE", 3)
    monkeypatch.setattr(soak, "WARM_UP", 0)


def test_a_round_accounts_for_all_of_its_calls(short, capsys):
    with Storm(3) as storm:
        assert soak.soak(storm.url, Pipe(storm), 0, 3) == []
    assert "1 rounds" in capsys.readouterr().out


def test_a_thread_that_stays_is_found(short, monkeypatch, capsys):
    over = threading.Event()
    monkeypatch.setattr(soak, "in_loops", lambda *_: threading.Thread(target=over.wait, args=(60,)).start())
    try:
        with Storm(3) as storm:
            [wrong] = soak.soak(storm.url, Pipe(storm), 0, 3)
    finally:
        over.set()
    assert "threads that stay" in wrong
    capsys.readouterr()


def test_a_call_that_ends_as_it_may_not_is_found():
    book = soak.Book()
    book.answered("half")
    book.failed(svir.ProtocolError("broken"))
    assert len(book.wrong) == 2
    book.failed(svir.TransportError("cut"))
    assert len(book.wrong) == 2
