from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from svir.codec._think import ThinkSplitter, may_open

TEXTS = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "/", "think>", "<thi", "nk>", "a", "\u00e9", "b<c"])
).map("".join)


def split(pieces):
    """Text and reasoning of a text that came in these pieces."""
    splitter = ThinkSplitter()
    told = [one for piece in pieces for one in splitter.feed(piece)] + splitter.flush()
    assert all(text for _, text in told)
    return tuple("".join(text for inside, text in told if inside is kind) for kind in (False, True))


def expected(text):
    """The same, with the whole text at hand."""
    out, inside = {False: "", True: ""}, False
    while text:
        before, tag, text = text.partition("</think>" if inside else "<think>")
        out[inside] += before
        inside ^= bool(tag)
    return out[False], out[True]


@given(TEXTS, st.data())
def test_a_text_is_split_the_same_wherever_it_is_cut(text, data):
    places = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    edges = [0, *places, len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(edges)]
    assert split(pieces) == split([text]) == split(list(text)) == expected(text)


@given(TEXTS)
def test_only_what_may_become_a_tag_is_held_back(text):
    splitter = ThinkSplitter()
    splitter.feed(text)
    awaited = "</think>" if splitter.inside else "<think>"
    assert awaited.startswith(splitter.held)
    assert len(splitter.held) < len(awaited)
    assert not splitter.held or text.endswith(splitter.held)


@given(st.text(alphabet="<think>/ x", max_size=12))
def test_a_text_that_may_not_open_a_block_is_handed_out_whole(text):
    splitter = ThinkSplitter()
    pieces = splitter.feed(text)
    untouched = not splitter.held and pieces == ([(False, text)] if text else [])
    assert may_open(text) or untouched
