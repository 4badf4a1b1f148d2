"""The decoder's contract: what push and finish hand out, raise, and keep."""

from __future__ import annotations

import contextlib
import copy
import pickle
import sys
import time

import pytest

import svir
from svir.openai.chat import API, Decoder
from tests.support.streams import DONE, STOP, chunk, event, outcome

TEXT = chunk({"content": "Herons "})
BOOM = event({"error": {"message": "SECRET words of the server", "code": "pump_failed"}})


def tools(*pieces, finish=None):
    return chunk({"tool_calls": list(pieces)}, finish)


def piece(index, call_id=None, name=None, arguments=None):
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


def complete(*events, **options):
    """The completion of a stream, with everything the decoder puts into it."""
    found, error = outcome(events, **options)
    assert error is None
    assert isinstance(found[-1], svir.Completed)
    return found[-1].completion


def failing(*events, mode="strict", **options):
    """A decoder that was given these bytes, the events before its error, and the error."""
    decoder = Decoder(mode, **options)
    found = []
    with pytest.raises(svir.Error) as caught:
        for data in events:
            for one in decoder.push(data):
                found.append(one)  # noqa: PERF402 (what came before an error is kept)
        decoder.finish()
    return decoder, found, caught.value


# What is handed out


def test_events_come_in_wire_order():
    delta = {
        "content": "c",
        "reasoning": "b",
        "reasoning_content": "a",
        "tool_calls": [piece(0, "i", "n", "d")],
    }
    assert list(Decoder().push(chunk(delta))) == [
        svir.ReasoningDelta("reasoning_content", "a"),
        svir.ReasoningDelta("reasoning", "b"),
        svir.TextDelta("c"),
        svir.ToolCallDelta(0, "i", "n", "d"),
    ]


def test_push_decodes_at_once_and_returns_a_plain_list_iterator():
    decoder = Decoder()
    events = decoder.push(TEXT)
    assert decoder.partial == svir.Partial("Herons ")
    assert type(events) is type(iter([]))


def test_a_piece_of_a_call_tells_what_is_new():
    pieces = [
        piece(1, "i", "look"),
        piece(1, "i", "look", "{"),
        piece(1, None, "up"),
        piece(1, "i", None, ""),
    ]
    assert list(Decoder().push(tools(*pieces))) == [
        svir.ToolCallDelta(1, "i", "look"),
        svir.ToolCallDelta(1, None, None, "{"),
        svir.ToolCallDelta(1, None, "up"),
    ]


def test_an_empty_push_changes_nothing():
    decoder = Decoder()
    assert list(decoder.push(b"")) == []
    for half in (TEXT[:20], b"", TEXT[20:]):
        events = list(decoder.push(half))
    assert events == [svir.TextDelta("Herons ")]


def test_after_completed_nothing_is_read_and_finish_returns():
    decoder = Decoder()
    *_, last = decoder.push(TEXT + STOP + DONE + BOOM)
    assert isinstance(last, svir.Completed)
    assert decoder.done
    assert list(decoder.push(BOOM)) == []
    decoder.finish()


# The completion


def test_a_completion_says_all_the_server_said():
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "total_tokens": 13,
        "completion_tokens_details": {"reasoning_tokens": 2},
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    done = complete(
        TEXT + STOP + event({"choices": [], "usage": usage}) + DONE, request_id="r-1", dropped=("effort",)
    )
    assert done == svir.Completion(
        svir.FinishReason.STOP,
        "Herons ",
        usage=svir.Usage(9, 4, 13, 2, 8),
        timing=svir.Timing(0, 0),
        response_id="c",
        model="m",
        raw_finish="stop",
        request_id="r-1",
        dropped=("effort",),
    )


def test_id_and_model_are_the_first_that_are_not_empty():
    first = chunk({"content": "a"}, id="", model="")
    done = complete(first, TEXT, STOP, DONE, mode="lenient")
    assert (done.response_id, done.model) == ("c", "m")
    assert complete(first, chunk({}, "stop", id="", model=""), DONE).response_id is None


def test_the_finish_reason_is_kept_in_the_servers_word():
    call = tools(piece(0, "i", "n", "{}"))
    assert complete(call, STOP, DONE).raw_finish == "stop"
    assert complete(TEXT, STOP, chunk({}, "content_filter"), DONE).raw_finish == "content_filter"


@pytest.mark.parametrize(("finish", "cut"), [("tool_calls", False), ("stop", False), ("length", True)])
def test_calls_of_an_answer_that_was_cut_are_not_among_those_to_answer(finish, cut):
    done = complete(tools(piece(0, "i", "n", "{}")), chunk({}, finish), DONE)
    call = (svir.ToolCall("i", "n", "{}"),)
    assert (done.calls, done.cut_calls) == (((), call) if cut else (call, ()))


def test_timing_is_that_of_the_first_and_last_visible_token():
    now = [100.0]
    decoder = Decoder(clock=lambda: now[0])
    for after, data in [
        (1.0, chunk({"role": "assistant", "content": ""})),
        (1.5, chunk({"content": "<think>"})),
        (2.0, chunk({"content": "why"})),
        (2.5, chunk({"content": "</think>Her"})),
        (3.25, chunk({"content": "ons<"})),
        (4.0, STOP),
    ]:
        now[0] = 100.0 + after
        list(decoder.push(data))
    now[0] = 105.0
    [held, done] = decoder.push(DONE)
    assert held == svir.TextDelta("<")
    assert done.completion.timing == svir.Timing(2000, 5000)


def test_an_answer_without_visible_tokens_has_no_timing():
    assert complete(tools(piece(0, "i", "n", "{}")), chunk({}, "tool_calls"), DONE).timing is None


# Errors


def test_an_error_comes_after_every_event_before_it():
    decoder, events, error = failing(TEXT + chunk({"content": "fish<thi"}) + BOOM)
    assert [one.text for one in events] == ["Herons ", "fish", "<thi"]
    assert error.kind == "server"
    assert error.partial == decoder.partial == svir.Partial("Herons fish<thi")


def test_an_error_is_raised_by_every_later_call():
    decoder, _, first = failing(TEXT, BOOM)
    for later in (lambda: decoder.push(STOP), decoder.finish, lambda: decoder.push(b"")):
        with pytest.raises(svir.ServerError) as caught:
            later()
        assert caught.value is first
    assert not decoder.done


def test_an_error_that_was_not_handed_out_is_raised_by_the_next_call():
    for later in (lambda decoder: decoder.push(b""), lambda decoder: decoder.finish()):
        decoder = Decoder()
        unread = decoder.push(TEXT + BOOM)
        with pytest.raises(svir.ServerError):
            later(decoder)
        assert next(unread) == svir.TextDelta("Herons ")
        for _ in range(2):
            with pytest.raises(svir.ServerError):
                next(unread)


def test_an_end_before_the_answer_is_whole_is_an_error_each_time():
    decoder, _, error = failing(TEXT, chunk({"content": "<"}))
    assert error.partial == svir.Partial("Herons <")
    assert error.retryable
    with pytest.raises(svir.TruncatedStreamError):
        decoder.finish()
    with pytest.raises(svir.TruncatedStreamError):
        decoder.push(STOP + DONE)


def test_an_error_holds_no_words_of_the_server_but_in_their_place():
    _, _, error = failing(TEXT, BOOM, request_id="r-1")
    assert (error.server_message, error.code) == ("SECRET words of the server", "pump_failed")
    assert error.request_id == "r-1"
    assert "SECRET" not in f"{error} {error!r} {error.args} {error.detail}"
    assert error.__cause__ is error.__context__ is None
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is svir.ServerError
        assert vars(twin) == vars(error)


def test_no_frame_of_an_error_holds_what_the_server_sent():
    _, _, error = failing(TEXT, event({"choices": [{"delta": {"SECRET": 1}}]}))
    frame = error.__traceback__
    names = []
    while frame is not None:
        names.append(frame.tb_frame.f_code.co_name)
        assert "SECRET" not in repr(frame.tb_frame.f_locals) or frame.tb_frame.f_code.co_filename == __file__
        frame = frame.tb_next
    assert names == ["failing", "__next__"]


@pytest.mark.parametrize(
    ("events", "options", "detail"),
    [
        (
            [TEXT, chunk({"audio": 1})],
            {},
            f"an unknown key in a delta (event 2, byte {len(TEXT)}); mode='lenient' skips it",
        ),
        ([TEXT, TEXT + b"hm: 1\n"], {}, f"(event 3, byte {2 * len(TEXT)}); mode='lenient' ignores it"),
        ([TEXT, chunk({"content": []})], {}, f"content that is no text (event 2, byte {len(TEXT)})"),
        (
            [TEXT * 5, chunk({}, "stop", id="d")],
            {},
            f"the id of the answer changes (event 6, byte {5 * len(TEXT)})",
        ),
        (
            [TEXT],
            {"limits": svir.Limits(wire_bytes=50)},
            "a response of more than 50 bytes (event 1, byte 50); Limits(wire_bytes=...) allows more",
        ),
        (
            [TEXT],
            {"limits": svir.Limits(event_bytes=50)},
            "an event of more than 50 bytes (event 1, byte 50); Limits(event_bytes=...) allows more",
        ),
        (
            [tools(piece(3, "i", "n"))],
            {"limits": svir.Limits(tool_calls=2)},
            "more than 2 tool calls (event 1, byte 0); Limits(tool_calls=...) allows more",
        ),
        ([TEXT, b"data: x"], {}, f"the stream ended before a finish reason (event 1, byte {len(TEXT)})"),
        ([TEXT, STOP], {}, f"the stream ended before [DONE] (event 2, byte {len(TEXT + STOP)})"),
    ],
)
def test_an_error_says_what_where_and_which_switch(events, options, detail):
    for chunks in (events, [b"".join(events)]):
        _, _, error = failing(*chunks, **options)
        assert detail in error.detail


def test_a_failed_decoder_still_knows_what_came():
    decoder, _, _ = failing(chunk({"reasoning": "hm", "content": "Her"}), BOOM)
    assert decoder.partial == svir.Partial("Her", "hm")


@pytest.mark.parametrize("arguments", [{"mode": "loose"}, {"think": "hide"}])
def test_an_unknown_word_is_a_config_error(arguments):
    with pytest.raises(svir.ConfigError):
        Decoder(**arguments)


def test_the_wire_api_makes_the_same_decoder():
    options = {"mode": "lenient", "limits": svir.Limits(), "think": "keep", "clock": lambda: 0.0}
    decoder = API.decoder(**options, request_id="r", dropped=("x",))
    *_, done = decoder.push(chunk({"content": "<think>a", "audio": 1}) + STOP + DONE)
    assert (done.completion.text, done.completion.request_id) == ("<think>a", "r")


# Cost


def taken(make, count):
    """Seconds to decode a stream of so many pieces, in reads of 16 KiB."""
    data = b"".join(make(n) for n in range(count))
    best = []
    for _ in range(3):
        decoder = Decoder(limits=svir.Limits(wire_bytes=1 << 30))
        started = time.process_time()
        for at in range(0, len(data), 16384):
            for _ in decoder.push(data[at : at + 16384]):
                pass
        best.append(time.process_time() - started)
    return min(best)


@pytest.mark.uncounted
@pytest.mark.parametrize(
    "make",
    [
        lambda n: chunk({"content": "ab "}),
        lambda n: chunk({"content": "ab "}, created=n),
        lambda n: chunk({"content": "<"}),
        lambda n: tools(piece(0, "i", "look" if n == 0 else None, "ab ")),
        lambda n: tools(piece(0, "i", "n" if n else "name", None)),
        lambda n: chunk({"content": "ab "} if n % 2 else {"reasoning": "ab "}),
    ],
)
def test_the_cost_of_an_event_does_not_grow_with_the_stream(make):
    taken(make, 100)
    assert taken(make, 20_000) < 30 * taken(make, 2_000) + 0.05


# What a caller does to a decoder


def test_a_tail_held_back_is_handed_out_when_asked_for():
    decoder = Decoder()
    assert list(decoder.push(chunk({"content": "Hello <thi"}))) == [svir.TextDelta("Hello ")]
    assert list(decoder.flush()) == [svir.TextDelta("<thi")]
    assert list(decoder.flush()) == []
    with pytest.raises(svir.TruncatedStreamError) as caught:
        decoder.finish()
    assert caught.value.partial.text == "Hello <thi"


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_an_event_that_could_not_be_read_near_the_end_of_the_stack_is_no_answer(mode):
    lost = chunk({"content": "LOST"}, logprobs=[[[[1]]]] * 2).replace(
        b'"finish_reason"', b'"content_filter_results":{"a":[[[[1]]]]},"finish_reason"'
    )
    stream = chunk({"content": "p"}) + lost + chunk({}, "stop") + b"data: [DONE]\n\n"

    def push(depth):
        if depth:
            return push(depth - 1)
        decoder = Decoder(mode)
        return [event for event in decoder.push(stream) if isinstance(event, svir.Completed)]

    texts = set()
    for depth in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit()):
        with contextlib.suppress(RecursionError, svir.ProtocolError):
            texts |= {event.completion.text for event in push(depth)}
    assert texts <= {"pLOST"}
    assert texts


def test_a_decoder_that_was_interrupted_calls_nothing_whole():
    ticks = iter([0.0, KeyboardInterrupt()])

    def clock():
        tick = next(ticks, 1.0)
        if isinstance(tick, BaseException):
            raise tick
        return tick

    decoder = Decoder(clock=clock)
    with pytest.raises(KeyboardInterrupt):
        decoder.push(chunk({"content": "a"}))
    for _ in range(2):
        with pytest.raises(svir.ProtocolError, match="interrupted"):
            decoder.push(chunk({}, "stop") + b"data: [DONE]\n\n")


def test_a_buffer_may_be_used_again_once_it_was_pushed():
    decoder = Decoder()
    for data in (chunk({"content": "AAAA"}), chunk({}, "stop"), b"data: [DONE]\n\n"):
        for start in range(0, len(data), 7):
            buffer = bytearray(data[start : start + 7])
            events = list(decoder.push(memoryview(buffer)))
            buffer[:] = b"B" * len(buffer)
    assert events[-1].completion.text == "AAAA"
    with pytest.raises(TypeError, match="bytes"):
        decoder.push("text")
