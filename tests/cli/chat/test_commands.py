"""What is typed, and what it leads to."""

from __future__ import annotations

import pytest

import svir
from svir import Completion, FinishReason, Reasoning, Request, Usage, user
from svir.cli._refused import RefusedError
from svir.cli.chat._commands import COMMANDS, take
from svir.cli.chat._effects import Ask, ListModels, Quit, Tell
from svir.cli.chat._session import Session


@pytest.fixture
def session():
    return Session(Request("m"))


def asked(effect):
    assert isinstance(effect, Ask)
    return effect.request.messages[-1]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_blank_input_is_nothing(session, text):
    assert take(session, text) == Tell()
    assert session.question is None


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("Why?", "Why?"),
        (" two\nlines ", " two\nlines "),
        ("//usr is what?", "/usr is what?"),
        ("a /b", "a /b"),
    ],
)
def test_what_is_no_command_is_a_message_as_it_is(session, typed, sent):
    assert asked(take(session, typed)) == user(sent)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("/sytem be brief", "/system"), ("/models", "/model"), ("/lod x", "/load"), ("/saave", "/save")],
)
def test_an_unknown_command_says_so_and_suggests(session, typed, meant):
    with pytest.raises(RefusedError) as refused:
        take(session, typed)
    assert typed.split()[0] in refused.value.problem
    assert refused.value.advice.startswith(f"Did you mean {meant}?")
    assert refused.value.code == 2


@pytest.mark.parametrize(
    "typed", ["/", "/ help", "/xyzzy", "/usr/bin/python: not found\nat all", f"/{'x' * 999}"]
)
def test_an_unknown_command_that_is_like_none_is_told_what_to_do(session, typed):
    with pytest.raises(RefusedError, match="no command") as refused:
        take(session, typed)
    assert refused.value.advice.startswith("/help lists")
    assert len(refused.value.problem) < 80
    assert session.question is None


def test_files_are_attached_in_their_order(session, tmp_path):
    (tmp_path / "my notes.txt").write_text("some notes")
    (tmp_path / "dot.png").write_bytes(b"\x89PNG")
    assert take(session, f"/file {tmp_path}/my notes.txt") == Tell(("1 attached to the next message",))
    assert take(session, f"/image {tmp_path}/dot.png") == Tell(("2 attached to the next message",))
    assert asked(take(session, "What?")) == user(
        "What?",
        svir.TextFile.from_text("my notes.txt", "some notes"),
        svir.Image.from_bytes(b"\x89PNG", "image/png"),
    )


def test_what_is_attached_can_be_seen_and_taken_back(session, tmp_path):
    (tmp_path / "a.txt").write_text("x")
    take(session, f"/file {tmp_path}/a.txt")
    assert take(session, "/image") == Tell(("1 attached to the next message",))
    assert take(session, "/file -") == Tell(("nothing is attached",))
    assert asked(take(session, "What?")) == user("What?")


def test_a_file_that_cannot_be_read_is_told_at_once(session, tmp_path):
    with pytest.raises(RefusedError, match=r"none\.txt") as refused:
        take(session, f"/file {tmp_path}/none.txt")
    assert refused.value.code == 21
    assert session.attached == ()


def test_the_system_prompt_is_shown_set_and_removed(session):
    assert take(session, "/system") == Tell(("no system prompt",))
    take(session, "/system Be brief.\nBe  kind.")
    assert session.request.system == "Be brief.\nBe  kind."
    assert take(session, "/system") == Tell(("system prompt:", "Be brief.", "Be  kind."))
    take(session, "/system -")
    assert session.request.system is None


def test_the_model_is_listed_and_chosen(session):
    assert take(session, "/model") == ListModels()
    take(session, "/model a b")
    assert session.request.model == "a b"


def test_the_effort_is_shown_set_and_left_to_the_server(session):
    assert take(session, "/effort low") == Tell(("effort low",))
    assert take(session, "/effort") == Tell(("effort low",))
    assert session.request.effort is svir.Effort.LOW
    take(session, "/effort -")
    assert session.request.effort is None
    with pytest.raises(RefusedError, match="huge") as refused:
        take(session, "/effort huge")
    assert "xhigh" in refused.value.advice


def test_the_last_question_is_asked_again(session):
    take(session, "Why?")
    session.answered(Completion(FinishReason.STOP, "Because."))
    assert take(session, "/retry") == Ask(Request("m", messages=["Why?"]))


def test_a_conversation_is_saved_and_loaded(session, tmp_path):
    take(session, "Why?")
    session.answered(Completion(FinishReason.STOP, "Because."))
    path = tmp_path / "talk.json"
    assert take(session, f"/save {path}") == Tell((f"saved to {path}",))
    before = session.request
    take(session, "/clear")
    assert session.request.messages == ()
    assert take(session, f"/load {path}") == Tell(("turns loaded: 2, model m",))
    assert session.request == before


def test_a_file_is_overwritten_only_when_the_command_says_so(session, tmp_path):
    path = tmp_path / "talk.json"
    path.write_text("precious")
    with pytest.raises(RefusedError, match="exists") as refused:
        take(session, f"/save {path}")
    assert "/save!" in refused.value.advice
    assert path.read_text() == "precious"
    take(session, f"/save! {path}")
    assert "messages" in path.read_text()


@pytest.mark.parametrize("typed", ["/save", "/load", "/save! "])
def test_a_path_that_is_missing_is_told(session, typed):
    with pytest.raises(RefusedError, match="takes a path"):
        take(session, typed)


def test_a_conversation_that_cannot_be_loaded_leaves_this_one(session, tmp_path):
    take(session, "Why?")
    session.answered(Completion(FinishReason.STOP, "Because."))
    (tmp_path / "bad.json").write_text("[1]")
    before = session.request
    with pytest.raises(RefusedError):
        take(session, f"/load {tmp_path}/bad.json")
    assert session.request is before


def test_reasoning_and_tokens_of_the_last_answer_can_be_seen(session):
    assert "without reasoning" in take(session, "/reasoning").lines[0]
    take(session, "Why?")
    thoughts = Reasoning("reasoning", "let me\nsee")
    session.answered(Completion(FinishReason.STOP, "So.", reasoning=(thoughts,), usage=Usage(1, 2)))
    assert take(session, "/reasoning") == Tell(("let me", "see"))
    assert take(session, "/usage").lines[0] == "last answer: 1 tokens in, 2 out"


def test_it_ends(session):
    assert take(session, "/quit") == Quit()


def test_the_help_has_every_command_and_fits_a_screen(session):
    lines = take(session, "/help").lines
    for name, command in COMMANDS.items():
        assert command.usage.split()[0] == f"/{name}"
        assert any(line.split()[0] == f"/{name}" for line in lines)
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
