"""What the script writes is what the strict decoder reads: the same events, the same answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import svir
from svir import (
    Completed,
    Completion,
    FinishReason,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
)
from svir.openai.chat import Decoder
from svir.openai.chat._models import read_models
from svir.openai.chat._script import answer_events, write_events, write_models


def decoded(chunks):
    decoder = Decoder(clock=lambda: 1.0)
    events = [event for chunk in chunks for event in decoder.push(chunk)]
    decoder.finish()
    return events


# Tags would be taken out of the text, and text that begins one held back: those are the decoder's own tests.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="<"), min_size=1, max_size=20)
COUNT = st.integers(0, 10**17)
USAGE = st.builds(Usage, COUNT, COUNT, *[st.none() | COUNT] * 3)
CALLS = st.lists(
    st.builds(ToolCall, TEXT, TEXT, st.text(max_size=50)), max_size=3, unique_by=lambda call: call.id
)
THOUGHT = st.builds(ReasoningDelta, st.sampled_from(["reasoning", "reasoning_content", "think"]), TEXT)


@given(st.lists(st.builds(TextDelta, TEXT) | THOUGHT, max_size=8), CALLS, st.none() | USAGE)
def test_the_decoder_gives_the_events_that_were_written(deltas, calls, usage):
    events = deltas + answer_events(calls=calls)
    got = decoded(write_events(events, usage=usage))
    *rest, done = got
    assert rest == events
    completion = done.completion
    assert completion.calls == tuple(calls)
    assert completion.finish is (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
    assert completion.usage == usage
    assert decoded(write_events(got)) == got


@given(
    st.sampled_from(list(FinishReason)),
    TEXT,
    st.lists(
        st.builds(Reasoning, st.sampled_from(["reasoning", "reasoning_content", "think"]), TEXT), max_size=1
    ),
    CALLS,
    st.none() | USAGE,
)
def test_a_completion_alone_is_written_whole(finish, text, reasoning, calls, usage):
    cut = finish is FinishReason.LENGTH
    can_call = finish in {FinishReason.TOOL_CALLS, FinishReason.LENGTH}
    calls = tuple(calls) if can_call else ()
    if finish is FinishReason.TOOL_CALLS and not calls:
        finish = FinishReason.STOP
    if finish is FinishReason.REFUSAL:  # D42: never with content, and tags are content
        reasoning = [told for told in reasoning if told.source != "think"]
    completion = Completion(
        finish,
        text,
        reasoning=tuple(reasoning),
        calls=() if cut else calls,
        cut_calls=calls if cut else (),
        usage=usage,
        response_id="r-1",
        model="some-model",
    )
    [*_, done] = decoded(write_events([Completed(completion)]))
    assert structs.replace(done.completion, timing=None, raw_finish=None) == completion


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_is_cut_into_words_and_nothing_is_lost(text, reasoning):
    events = answer_events(text, reasoning)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == reasoning
    assert all(event.text for event in events)


def test_thinking_is_closed_when_nothing_follows():
    thought = ReasoningDelta("think", "hm")
    chunks = write_events([thought])
    assert b"".join(chunks).count(b"</think>") == 1
    assert decoded(chunks)[0] == thought


def test_one_event_is_one_chunk():
    events = answer_events("one two three", "hm", [ToolCall("1", "f", '{"city": "Oslo"}')])
    chunks = write_events(events, usage=Usage(1, 2))
    assert len(chunks) == len(events) + 3  # finish, usage, [DONE]
    for chunk, event in zip(chunks, events, strict=False):
        assert list(Decoder().push(chunk)) == [event]


def test_arguments_come_in_pieces():
    pieces = answer_events(calls=[ToolCall("1", "f", '{"city": "Oslo"}')])
    assert pieces[0] == ToolCallDelta(0, "1", "f", "")
    assert [piece.arguments for piece in pieces[1:]] == ['{"city": "Os', 'lo"}']


def test_a_refusal_is_written_under_its_key():
    chunks = write_events([TextDelta("I will not.")], finish="refusal")
    assert b'"refusal":"I will not."' in chunks[0]
    [*_, done] = decoded(chunks)
    assert done.completion.finish is FinishReason.REFUSAL


def test_calls_that_finished_with_stop_are_written_so():
    completion = Completion(FinishReason.TOOL_CALLS, calls=(ToolCall("1", "f"),), raw_finish="stop")
    chunks = write_events([Completed(completion)])
    assert b'"finish_reason":"stop"' in chunks[-2]
    assert decoded(chunks)[-1].completion.finish is FinishReason.TOOL_CALLS


def test_the_same_events_give_the_same_bytes():
    assert write_events([TextDelta("Hi")]) == write_events(iter([TextDelta("Hi")]))


def test_an_answer_over_the_default_limits_can_be_written():
    chunks = write_events([TextDelta("x" * 300_000)])
    with pytest.raises(svir.ResponseLimitError):
        decoded(chunks)


DONE = Completed(Completion(FinishReason.STOP))


@pytest.mark.parametrize(
    ("events", "options"),
    [
        ([DONE, TextDelta("late")], {}),
        ([DONE, DONE], {}),
        ([ToolCallDelta(1, "a", "f", "{}")], {}),
        ([ToolCallDelta(0, None, "f", "{}")], {}),
        ([TextDelta("no"), ToolCallDelta(0, "a", "f", "{}")], {"finish": "refusal"}),
        ([ReasoningDelta("think", "hm"), TextDelta("no")], {"finish": "refusal"}),
        ([ToolCallDelta(0, "a", "f", "{}"), ToolCallDelta(1, "a", "f", "{}")], {}),
        ([TextDelta("\ud800")], {}),
        ([TextDelta("x")], {"finish": "bored"}),
        ([], {"finish": "tool_calls", "usage": Usage(-1, 2)}),
    ],
)
def test_what_no_correct_server_sends_is_refused(events, options):
    with pytest.raises(svir.ConfigError) as caught:
        write_events(events, **options)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("event", ["text", None, TextDelta, ToolCall("1", "f")])
def test_what_is_no_event_is_a_type_error(event):
    with pytest.raises(TypeError, match="an event must be TextDelta or"):
        write_events([event])


def test_a_listing_is_read_back():
    listing = write_models([("small", None), ("large", "Large One")])
    assert read_models(listing) == (svir.ModelInfo("small"), svir.ModelInfo("large", "Large One"))
