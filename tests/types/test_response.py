from __future__ import annotations

import dataclasses

import pytest

from svir import (
    AnswerError,
    Completion,
    FinishReason,
    Reasoning,
    Text,
    Timing,
    ToolCall,
    Usage,
    assistant,
)

CALL = ToolCall("c", "t")
STOP = FinishReason.STOP


@dataclasses.dataclass
class River:
    name: str
    km: int


def test_an_answer_is_read_as_a_type():
    assert Completion(STOP, '\n\n{"name": "Otra", "km": 245}').parse(River) == River("Otra", 245)


SAID = {
    FinishReason.TOOL_CALLS: "calls tools instead of answering",
    FinishReason.LENGTH: "length limit cut it",
    FinishReason.CONTENT_FILTER: "content filter withdrew it",
    FinishReason.REFUSAL: "model refused",
}


@pytest.mark.parametrize("finish", [f for f in FinishReason if f is not STOP])
def test_an_answer_that_did_not_stop_is_never_read(finish):
    completion = Completion(finish, '{"name": "Otra", "km": 245}')
    with pytest.raises(AnswerError, match=SAID[finish]) as caught:
        completion.parse(River)
    assert caught.value.completion is completion


@pytest.mark.parametrize(
    "text", ["", "Otra", '{"name": "Otra"}', '{"name": "Otra", "km": "far"}', '{"name":']
)
def test_an_answer_that_does_not_fit_is_an_error_without_the_servers_words(text):
    completion = Completion(STOP, text, reasoning=(Reasoning("think", '{"name": "x", "km": 1}'),))
    with pytest.raises(AnswerError) as caught:
        completion.parse(River)
    assert caught.value.completion is completion
    assert "Otra" not in str(caught.value)
    assert "far" not in str(caught.value)
    assert caught.value.__context__ is None


def test_an_answer_becomes_a_message_with_reasoning_text_and_calls():
    answer = Completion(FinishReason.TOOL_CALLS, "t", reasoning=(Reasoning("think", "r"),), calls=(CALL,))
    assert answer.to_message() == assistant(Reasoning("think", "r"), "t", CALL)
    assert Completion(STOP, "").to_message() == assistant()
    assert Completion(STOP, " ").to_message() == assistant(Text(" "))


SPEED = {"usage": Usage(5, 11), "timing": Timing(100, 600)}


def test_speed_counts_the_intervals_between_visible_tokens():
    assert Completion(STOP, "x", **SPEED).tokens_per_second == 20.0


def test_hidden_reasoning_is_left_out_of_the_speed():
    hidden = {**SPEED, "usage": Usage(5, 31, reasoning=20)}
    assert Completion(STOP, "x", **hidden).tokens_per_second == 20.0
    shown = Completion(STOP, "x", reasoning=(Reasoning("reasoning", "r"),), **hidden)
    assert shown.tokens_per_second == 60.0


@pytest.mark.parametrize(
    "fields",
    [
        {"timing": SPEED["timing"]},
        {"usage": SPEED["usage"]},
        {**SPEED, "calls": (CALL,)},
        {**SPEED, "cut_calls": (CALL,)},
        {**SPEED, "usage": Usage(5, 1)},
        {**SPEED, "usage": Usage(5, 10, reasoning=10)},
        {**SPEED, "timing": Timing(100, 100)},
    ],
    ids=["no-usage", "no-timing", "calls", "cut-calls", "one-token", "all-hidden", "no-span"],
)
def test_there_is_no_speed_when_it_cannot_be_told(fields):
    assert Completion(STOP, "x", **fields).tokens_per_second is None


def test_an_answer_made_by_hand_with_a_bare_word_is_read_like_any():
    assert Completion("stop", "1").parse(int) == 1
    with pytest.raises(AnswerError, match="length limit cut it"):
        Completion("length", "1").parse(int)
