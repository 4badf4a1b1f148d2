"""A conversation: what is asked, and what becomes of an answer."""

from __future__ import annotations

import pytest

import svir
from svir import (
    Completion,
    FinishReason,
    Message,
    Partial,
    Reasoning,
    Request,
    Role,
    Text,
    ToolCall,
    Usage,
    user,
)
from svir.cli._refused import RefusedError
from svir.cli.chat._files import Stored
from svir.cli.chat._session import Session


@pytest.fixture
def session():
    return Session(Request("m", system="be brief"))


def said(text, **more):
    return Completion(FinishReason.STOP, text, **more)


def turns(request):
    """Roles and texts."""
    return [
        (str(turn.role), "".join(p.text for p in turn.parts if isinstance(p, Text)))
        for turn in request.messages
    ]


def test_a_question_is_sent_with_all_that_was_said_before(session):
    session.ask("one")
    assert session.answered(said("first")) == ""
    request = session.ask("two")
    assert turns(request) == [("user", "one"), ("assistant", "first"), ("user", "two")]
    assert (request.model, request.system) == ("m", "be brief")


def test_what_is_attached_goes_with_the_next_question_and_only_with_that(session):
    part = svir.TextFile.from_text("a.txt", "some text")
    session.attach(part)
    assert session.ask("one").messages[-1] == user("one", part)
    session.answered(said("first"))
    assert session.ask("two").messages[-1] == user("two")


def test_a_failed_question_is_kept_for_another_try_with_what_was_attached(session):
    part = svir.TextFile.from_text("a.txt", "some text")
    session.attach(part)
    asked = session.ask("one")
    assert "/retry" in session.stopped(Partial(""))
    assert session.again() == asked


def test_a_failed_question_is_not_sent_along_with_another_one(session):
    session.ask("one")
    session.stopped(Partial(""))
    assert turns(session.ask("two")) == [("user", "two")]


def test_asking_again_drops_the_old_answer(session):
    session.ask("one")
    session.answered(said("first"))
    session.ask("two")
    session.answered(said("second"))
    assert turns(session.again()) == [("user", "one"), ("assistant", "first"), ("user", "two")]
    session.answered(said("another second"))
    assert turns(session.request)[-1] == ("assistant", "another second")
    assert len(session.request.messages) == 4


def test_nothing_can_be_asked_again_before_anything_was_asked(session):
    with pytest.raises(RefusedError, match="nothing was asked"):
        session.again()


def test_without_a_model_nothing_is_asked_and_nothing_lost(session):
    session.change(model="")
    session.attach(svir.TextFile.from_text("a.txt", "some text"))
    with pytest.raises(RefusedError, match="no model"):
        session.ask("one")
    assert len(session.attached) == 1


def test_what_was_shown_of_an_answer_that_broke_off_is_the_models_turn(session):
    session.ask("one")
    assert "kept as the model's turn" in session.stopped(Partial("half an ans"))
    assert turns(session.request) == [("user", "one"), ("assistant", "half an ans")]
    assert turns(session.again()) == [("user", "one")]


def test_of_reasoning_that_broke_off_nothing_is_sent_and_all_can_be_read(session):
    session.ask("one")
    session.stopped(Partial("half an ans", "hm"))
    assert session.request.messages[-1] == svir.assistant("half an ans")
    assert session.reasoning == "hm"


def test_an_answer_of_blanks_is_none(session):
    session.ask("one")
    assert "kept" not in session.stopped(Partial(" \n"))
    assert session.request.messages == ()


def test_reasoning_stays_with_its_answer_and_calls_stay_out(session):
    thought = Reasoning("reasoning", "hm")
    session.ask("one")
    session.answered(
        Completion(
            FinishReason.TOOL_CALLS, "let me look", reasoning=(thought,), calls=(ToolCall("c", "look"),)
        )
    )
    assert session.request.messages[-1] == Message(Role.ASSISTANT, (thought, Text("let me look")))
    assert session.reasoning == "hm"


@pytest.mark.parametrize(
    ("completion", "note"),
    [
        (Completion(FinishReason.CONTENT_FILTER, "something bad"), "not kept"),
        (Completion(FinishReason.TOOL_CALLS, calls=(ToolCall("c", "look"),)), "no text"),
        (Completion(FinishReason.LENGTH, reasoning=(Reasoning("think", "hm"),)), "no text"),
    ],
    ids=["withdrawn", "only calls", "only reasoning"],
)
def test_what_is_no_answer_leaves_the_question_open(session, completion, note):
    asked = session.ask("one")
    told = session.answered(completion)
    assert note in told
    assert "/retry" in told
    assert session.request.messages == ()
    assert session.again() == asked


def test_an_answer_cut_by_the_length_limit_is_kept(session):
    session.ask("one")
    assert session.answered(Completion(FinishReason.LENGTH, "a long")) == ""
    assert turns(session.request)[-1] == ("assistant", "a long")


def test_starting_anew_keeps_the_settings_and_nothing_else(session):
    session.ask("one")
    session.answered(said("first", usage=Usage(1, 2), reasoning=(Reasoning("think", "hm"),)))
    session.attach(svir.TextFile.from_text("a.txt", "some text"))
    session.clear()
    assert session.request == Request("m", system="be brief")
    assert (session.attached, session.reasoning, session.spent.answers) == ((), "", 0)


def test_tokens_are_those_that_the_server_counted(session):
    assert session.spent.lines() == ("no answer yet",)
    session.spent.add(Usage(10, 20, cached=4))
    session.spent.add(Usage(30, 40, reasoning=7))
    assert session.spent.lines() == (
        "last answer: 30 tokens in, 40 out (7 reasoning)",
        "this chat: 2 answers: 40 tokens in (4 cached), 60 out (7 reasoning)",
    )
    session.spent.add(None)
    assert session.spent.lines() == (
        "last answer: no token counts sent",
        "this chat: 3 answers: 40 tokens in (4 cached), 60 out (7 reasoning); no token counts for 1",
    )


def test_tokens_that_nobody_counted_are_not_made_up(session):
    session.spent.add(None)
    assert session.spent.lines()[1] == "this chat: 1 answer; no token counts for 1"


def test_a_stored_conversation_goes_on_as_it_was(session):
    session.ask("one")
    session.answered(said("first"))
    session.ask("two")
    session.stopped(Partial(""))
    other = Session(Request("another"))
    notes = other.restore(Stored(session.stored()))
    assert notes == ("turns loaded: 3, model m", "Its last question has no answer: /retry asks it.")
    assert turns(other.again()) == [("user", "one"), ("assistant", "first"), ("user", "two")]
    assert (other.request.model, other.request.system) == ("m", "be brief")


def test_messages_alone_leave_the_settings(session):
    session.restore(Stored((user("one"), svir.assistant("first"))))
    assert session.request == Request("m", system="be brief", messages=[user("one"), svir.assistant("first")])


def test_a_stored_conversation_without_a_model_leaves_the_model(session):
    session.restore(Stored(Request(messages=[user("one"), svir.assistant("first")])))
    assert (session.request.model, session.request.system) == ("m", None)


def test_stored_tools_are_left_out_and_named_files_are_told(session):
    stored = Request("m", messages=["one"], tools=svir.Tool("look", "looks", {}), tool_choice="required")
    notes = session.restore(Stored(stored, ("/home/me/notes.txt",)))
    assert "tools are left out" in notes[2]
    assert "/home/me/notes.txt" in notes[3]
    assert session.again() == Request("m", messages=["one"])
