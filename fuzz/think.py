"""Cuts texts full of think tags anywhere, and compares the splitter with a search through the whole text.

    PYTHONPATH=src:. python fuzz/think.py [--seconds 30] [--seed N]

Nothing may be lost, doubled or moved to the other side, whatever the cut; and no more may be held back than
the beginning of a tag.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from _loop import fuzz, no_longer_than  # noqa: E402

from svir.codec._think import CLOSE, OPEN, ThinkSplitter, may_open  # noqa: E402
from tests.support.streams import cut, recorded_streams  # noqa: E402

TEXT = re.compile(rb'"(?:content|reasoning|reasoning_content)": ?("(?:[^"\\]|\\.)*")')
WORDS = [json.loads(one) for data in recorded_streams().values() for one in TEXT.findall(data)]
PIECES = (
    *(
        OPEN,
        CLOSE,
        OPEN,
        CLOSE,
        "<",
        "</",
        "<t",
        "</thin",
        "<think",
        "k>",
        ">",
        "think>",
        "<<think>",
        "<THINK>",
    ),
    *("<think >", "</ think>", "<thinking>", "\n", " ", "a", "\u00e9", "\U0001f600", "\u202e", "\x00"),
)
SLOWEST = 0.5


def reference(text):
    """The runs of a whole text: each with whether it is reasoning."""
    runs, inside = [], False
    while text:
        before, tag, text = text.partition(CLOSE if inside else OPEN)
        if before:
            runs.append((inside, before))
        if tag:
            inside = not inside
    return joined(runs)


def joined(pieces):
    """The pieces, those of one side that follow each other put together."""
    sides = itertools.groupby(pieces, key=lambda piece: piece[0])
    return [(inside, "".join(text for _, text in group)) for inside, group in sides]


def make(rng):
    """A text, and places where it is cut."""
    words = [rng.choice(PIECES if rng.random() < 0.6 else WORDS or PIECES) for _ in range(rng.randint(1, 30))]
    text = "".join(words)
    places = range(1, len(text))
    often = rng.choice((0.05, 0.3, 1.0))
    return text, [place for place in places if rng.random() < often]


def attempt(given):
    text, places = given
    splitter, pieces, started = ThinkSplitter(), [], time.thread_time()
    for part in cut(text, places):
        pieces += splitter.feed(part)
        awaited = CLOSE if splitter.inside else OPEN
        assert awaited.startswith(splitter.held), "more is held back than the beginning of a tag"
        assert splitter.held != awaited, "a whole tag is held back"
    pieces += splitter.flush()
    no_longer_than(SLOWEST, started)
    assert all(piece for _, piece in pieces), "an empty piece"
    assert joined(pieces) == reference(text), f"{joined(pieces)} instead of {reference(text)}"
    if OPEN in text:
        assert may_open(text), "an opening tag that is not seen"
    return OPEN in text


if __name__ == "__main__":
    fuzz(__doc__, make, attempt)
