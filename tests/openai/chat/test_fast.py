"""The shortcut takes plain events, and nothing can tell whether it did."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import svir
from svir.openai.chat import Decoder
from tests.support.streams import (
    DONE,
    STOP,
    chunk,
    mutate,
    outcome,
    own_streams,
    random_cuts,
    recorded_streams,
    strides,
)

STREAMS = own_streams() | recorded_streams()
PLAIN = ("Her", "ons ", "wa\n", 'de"', "\\", "\u00e9", "", "\U0001f9a2", "a<b", "\t")


@pytest.mark.uncounted
@given(st.sampled_from(sorted(STREAMS)), st.integers(0, 2**32), st.sampled_from(["strict", "lenient"]))
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_outcome_depends_neither_on_shortcuts_nor_on_cuts(name, seed, mode):
    rng = random.Random(seed)
    data = mutate(STREAMS[name][:20_000], rng)
    data = data.replace(b"\n", rng.choice((b"\n", b"\n", b"\r\n", b"\r")))
    limits = svir.Limits(
        wire_bytes=rng.choice((1 << 26, 1 << 26, 2000)),
        event_bytes=rng.choice((1 << 18, 1 << 18, 300)),
        tool_calls=rng.choice((64, 1)),
    )
    options = {"limits": limits, "think": rng.choice(("split", "keep"))}
    expected = outcome([data], mode, shortcuts=False, **options)
    whole = [event + b"\n\n" for event in data.split(b"\n\n")]
    for chunks in ([data], random_cuts(data, rng), strides(data, 200), [*whole[:-1], whole[-1][:-2]]):
        assert outcome(chunks, mode, **options) == expected
    assert outcome(random_cuts(data, rng), mode, shortcuts=False, **options) == expected


def call_head():
    return chunk({"tool_calls": [{"index": 0, "id": "i", "function": {"name": "n", "arguments": ""}}]})


def deltas(kind):
    for text in PLAIN * 3:
        if kind == "arguments":
            yield {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
        else:
            yield {kind: text}


KINDS = ["content", "reasoning_content", "reasoning", "arguments"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("spaced", [False, True])
@pytest.mark.parametrize("size", [None, 16384, 100])
def test_nearly_every_plain_event_takes_the_shortcut(kind, ending, spaced, size):
    events = [chunk(delta) for delta in deltas(kind)]
    events = [event.replace(b'":', b'": ') if spaced else event for event in events]
    head = call_head() if kind == "arguments" else chunk({"role": "assistant"})
    stream = [one.replace(b"\n", ending) for one in (head, *events)]
    decoder = Decoder()
    for data in strides(b"".join(stream), size) if size else stream:
        list(decoder.push(data))
    # An event whose blank line is cut is read in full; that can happen in small reads only.
    assert decoder._fast.taken >= len(stream) - (3 if size == 100 else 0)
    assert size == 100 or decoder._fast._pattern is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_decodes_to_each_of_its_strings(kind):
    finish = "tool_calls" if kind == "arguments" else "stop"
    events = [call_head()] if kind == "arguments" else []
    data = b"".join((*events, *(chunk(delta) for delta in deltas(kind)), chunk({}, finish), DONE))
    found, error = outcome([data])
    assert error is None
    texts = [one.arguments if kind == "arguments" else one.text for one in found[:-1]]
    joined = "".join(PLAIN * 3)
    assert "".join(texts) == joined
    done = found[-1].completion
    kept = {"content": done.text, "arguments": done.calls[0].arguments if done.calls else ""}
    assert kept.get(kind, done.reasoning[0].text if done.reasoning else "") == joined


@pytest.mark.parametrize(
    "hostile",
    [
        b'"}}],"id":"c","model":"m"}\n\ndata: {"choices":[{"index":0,"delta":{"content":"',
        b'a","refusal":"b',
        b'a","content":"b',
        b"a\\",
        b"a\\u12",
        b"a\x01",
        b"a\n",
        b"a\r",
        b"a\xff",
        b"\\ud800",
        b'a"',
        b'a\\","b',
        b'a\\\\","b',
    ],
)
@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_a_string_that_is_more_than_a_string_is_read_by_every_rule(hostile, mode):
    plain = [chunk({"content": text}) for text in ("x", "y", "z", "q")]
    odd = chunk({"content": "HERE"}).replace(b"HERE", hostile)
    for events in ([*plain, odd, *plain, STOP, DONE], [*plain, odd, odd, STOP, DONE]):
        expected = outcome([b"".join(events)], mode, shortcuts=False)
        assert outcome([b"".join(events)], mode) == expected
        assert outcome(events, mode) == expected


@pytest.mark.parametrize("start", [b"\n", b"\r\n", b": note\n", b"\n\n"])
def test_an_event_without_its_line_end_is_not_taken(start):
    # Found by fuzzing: no line end was taken for the one at the very start.
    event = chunk({"content": "x"})
    for rest in (b"\n\n", b" \n\n", b"\r\n\r\n"):
        event = event.rstrip() + rest
        for size in (1, len(rest) - 1, len(rest)):
            check_cut(start, event, size)


def check_cut(start, event, size):
    for first in ([event], []):
        data = [*first, start + event[:-size], event[-size:] + event + STOP + DONE]
        assert outcome(data) == outcome([b"".join(data)], shortcuts=False)
        assert outcome(data)[1] is None


def test_a_pattern_that_never_fits_is_given_up():
    # As Azure's obfuscation: something else differs in every event.
    decoder = Decoder()
    for n in range(2000):
        list(decoder.push(chunk({"content": "x"}, obfuscation="z" * (n % 7), n=n)))
    assert decoder._fast._next_wait >= 512
    assert decoder._fast.taken == 2000


@pytest.mark.parametrize("names", ["", '"id":"","model":"",', '"model":"m\\u00e9","id":"%s",' % ("x" * 300)])
@pytest.mark.parametrize("start", [b"data:", b"data: "])
@pytest.mark.parametrize(("levels", "deep"), [(128, False), (129, True), (140, True)])
def test_a_chunk_is_as_deep_as_it_may_be_whatever_its_length(names, start, levels, deep):
    inner = "[" * (levels - 1) + "]" * (levels - 1)
    data = start + f'{{{names}"choices":[],"":{inner}}}\n\n'.encode()
    found = outcome([data])
    assert found == outcome([data], shortcuts=False)
    assert ("nested deeper" in found[1]["detail"]) is deep


@pytest.mark.parametrize("arrays", [0, 1, 2, 7, 64, 126, 127, 128])
@pytest.mark.parametrize("outer", ["arrays", "objects"])
@pytest.mark.parametrize(("levels", "deep"), [(128, False), (129, True)])
def test_the_shortest_chunk_is_as_deep_as_it_may_be_whatever_its_levels_are(arrays, outer, levels, deep):
    arrays = min(arrays, levels - 1)  # the chunk itself is a level
    kinds = [("[", "]")] * arrays + [('{"":', "}")] * (levels - 1 - arrays)
    if outer == "objects":
        kinds.reverse()
    inner = "".join(start for start, _ in kinds).removesuffix('"":') + "".join(end for _, end in kinds[::-1])
    data = f'data:{{"choices":[],"":{inner}}}\n\n'.encode()
    found = outcome([data])
    assert found == outcome([data], shortcuts=False)
    assert ("nested deeper" in found[1]["detail"]) is deep


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_outlives_an_event_that_was_cut(kind):
    head = call_head() if kind == "arguments" else chunk({"role": "assistant"})
    events = [chunk(delta) for delta in deltas(kind)]
    decoder = Decoder()
    list(decoder.push(b"".join((head, *events))))
    pattern = decoder._fast._pattern
    assert pattern is not None
    for place in range(1, len(events[0])):
        list(decoder.push(events[0][:place]))
        list(decoder.push(events[0][place:]))
        assert decoder._fast._pattern is pattern


def test_no_pattern_is_learned_for_the_few_events_that_are_left():
    # Learning costs more than reading these.
    for count, learned in ((12, False), (40, True)):
        decoder = Decoder()
        list(decoder.push(b"".join([chunk({"content": "x"})] * count + [chunk({"role": "assistant"})])))
        assert (decoder._fast._pattern is not None) is learned


@pytest.mark.parametrize("text", ["so", "", "a<b", "</thi"])
@pytest.mark.parametrize("size", [None, 1000, 100])
def test_runs_within_a_think_block_are_reasoning(text, size):
    inside = [chunk({"content": one}) for one in ("<think>", *["hm "] * 40, text, "</think>", "Yes")]
    data = b"".join((*inside, STOP, DONE))
    found = outcome(strides(data, size) if size else [data])
    assert found == outcome([data], shortcuts=False)
    done = found[0][-1].completion
    assert done.text == "Yes"
    assert done.reasoning == (svir.Reasoning("think", "hm " * 40 + text),)


@pytest.mark.parametrize(
    "between", [b": ping\n\n", b": ping\n", b"\n\n\n", b":\n\n:\n\n\n", b": a\r\n\r\n", b": a\r\n"]
)
def test_comments_and_empty_lines_between_plain_events_are_nothing(between):
    events = [chunk({"content": text}) for text in PLAIN if text]
    plain = outcome([b"".join((*events, STOP, DONE))])
    assert plain[1] is None
    data = between + between.join((*events, STOP, DONE))
    assert outcome([data]) == outcome([data], shortcuts=False) == plain
