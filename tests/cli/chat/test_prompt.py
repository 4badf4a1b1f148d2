"""What a person types, key by key."""

from __future__ import annotations

import os
import stat

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from svir.cli.chat import _prompt
from svir.cli.chat._prompt import Prompt, _Completer, history_path, open_history

ALT_ENTER = "\x1b\r"
CTRL_C = "\x03"
CTRL_D = "\x04"
UP = "\x1b[A"


@pytest.fixture
def typed():
    """What comes of these keys: every message until the end."""

    def read(keys, history=None):
        with create_pipe_input() as pipe:
            prompt = Prompt(history or InMemoryHistory(), lambda kind: (), keys=pipe, screen=DummyOutput())
            pipe.send_text(keys + CTRL_D)
            return list(iter(prompt.read, None))

    return read


@pytest.mark.parametrize(
    ("keys", "messages"),
    [
        ("Why?\r", ["Why?"]),
        ("one\rtwo\r", ["one", "two"]),
        (f"one{ALT_ENTER}two\r", ["one\ntwo"]),
        ("one\\\rtwo\r", ["one\ntwo"]),
        ("one\\\r\\\rtwo\r", ["one\n\ntwo"]),
        ("a\\b\r", ["a\\b"]),
        ("\x1b[200~one\ntwo\n/quit\n\x1b[201~ and more\r", ["one\ntwo\n/quit\n and more"]),
        (f"forget this{CTRL_C}Why?\r", ["Why?"]),
        ("\r", [""]),
        ("", []),
    ],
    ids=[
        *("a line", "two", "Alt-Enter", "backslash", "two backslashes", "backslash inside"),
        *("paste", "Ctrl-C", "nothing", "Ctrl-D"),
    ],
)
def test_keys_make_messages(typed, keys, messages):
    assert typed(keys) == messages


def test_ctrl_c_at_an_empty_prompt_says_how_to_end(typed, capsys):
    assert typed(f"{CTRL_C}Why?\r") == ["Why?"]
    assert capsys.readouterr().err == "Ctrl-D or /quit ends the chat.\n"


def test_what_was_typed_comes_back(typed, tmp_path):
    path = tmp_path / "state" / "svir" / "history"
    assert typed("one\\\rtwo\r", open_history(path)) == ["one\ntwo"]
    assert typed(f"{UP}!\r", open_history(path)) == ["one\ntwo!"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_history_that_is_no_file_or_too_large_is_not_read(tmp_path, capsys, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    assert isinstance(open_history(tmp_path / "pipe"), InMemoryHistory)
    (tmp_path / "history").write_bytes(b"123456")
    monkeypatch.setattr(_prompt, "TEXT_BYTES", 5)
    assert isinstance(open_history(tmp_path / "history"), InMemoryHistory)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("/pipe cannot be used: it is no regular file")
    assert second.endswith("/history cannot be used: it is larger than 5 bytes")


def test_a_history_that_others_could_read_is_closed_to_them(tmp_path):
    path = tmp_path / "history"
    path.touch(0o644)
    open_history(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_history_that_cannot_be_kept_is_told_and_ends_nothing(typed, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert typed("Why?\r", open_history(tmp_path / "file" / "history")) == ["Why?"]
    assert "is not kept" in capsys.readouterr().err


def test_a_history_that_can_no_longer_be_written_ends_nothing(typed, tmp_path):
    history = open_history(tmp_path / "state" / "history")
    (tmp_path / "state" / "history").unlink()
    (tmp_path / "state").rmdir()
    assert typed("Why?\r", history) == ["Why?"]


def test_without_a_file_what_was_typed_comes_back_in_the_same_chat(typed):
    history = open_history(None)
    assert typed("one\r", history) == typed(f"{UP}\r", history) == ["one"]


def test_the_history_is_where_state_belongs(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in ("", "not/absolute"):
        monkeypatch.setenv("XDG_STATE_HOME", unset)
        assert history_path() == tmp_path / ".local" / "state" / "svir" / "history"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert history_path() == tmp_path / "other" / "svir" / "history"


def completions(typed):
    words = {"effort": ["low", "high"], "model": ["alpha", "beta"]}
    found = _Completer(lambda kind: words.get(kind, ())).get_completions(Document(typed), CompleteEvent())
    return [typed[: len(typed) + one.start_position] + one.text for one in found]


def test_commands_and_their_words_are_completed():
    assert completions("/sa") == ["/save", "/save!"]
    assert completions("/effort l") == ["/effort low"]
    assert completions("/model ") == ["/model alpha", "/model beta"]
    assert (
        completions("sa")
        == completions("/nothing ")
        == completions("/sa\n/sa")
        == completions("/usage ")
        == []
    )


@pytest.mark.parametrize("command", ["/image", "/file", "/save", "/save!", "/load"])
def test_paths_are_completed(tmp_path, command):
    (tmp_path / "my notes.txt").touch()
    assert completions(f"{command} {tmp_path}/my") == [f"{command} {tmp_path}/my notes.txt"]
