"""Runs the decoder's conformance cases: see ``docs/conformance.md`` for the notation.

Every case runs in both modes, with each line ending it allows, and cut in many ways: the outcome must be the
same (P9). A case that allows CRLF is run with a lone CR as well, which ends a line, too.
"""

from __future__ import annotations

import json
import random

import pytest

from tests.support.conformance_decoder import DecoderPart
from tests.support.streams import CASES, cut, own_streams, strides

KEYS = {
    "description",
    "chunks",
    "file",
    "replace",
    "cut_before",
    "strides",
    "line_endings",
    "options",
    "expect",
}
EVERY_SPLIT = 4096
"""Up to this many bytes the input is split in two at every place."""

STREAMS = own_streams()


def load(name):
    return json.loads((CASES / f"{name}.json").read_text("ascii"))


def known(case):
    """A key nobody reads would be an expectation that passes silently."""
    assert case.keys() <= KEYS
    assert case["expect"].keys() == {"strict", "lenient"}
    for outcome in case["expect"].values():
        if outcome != "same":
            assert outcome.keys() <= {"completion"} or outcome.keys() <= {"error", "partial", "message"}


def chunkings(data, rng, *, every):
    """The input whole, byte by byte, in threes, and split in two."""
    yield [data]
    yield strides(data, 1)
    yield strides(data, 3)
    everywhere = range(1, len(data))
    if every and len(data) <= EVERY_SPLIT:
        places = everywhere
    else:
        ends = [at for at in everywhere if data[at - 1 : at] in {b"\n", b"\r"}]
        places = sorted({*ends[:40], *rng.sample(everywhere, min(40, len(everywhere)))})
    for at in places:
        yield cut(data, [at])


def check(got, want):
    """The parts of an outcome that are compared: a completion whole, of an error what the case names."""
    if "completion" in want:
        defaults = {"text": "", "reasoning": [], "calls": [], "usage": None}
        assert got.get("completion") == defaults | want["completion"]
    else:
        assert {key: got.get(key) for key in want} == want


def run_case(name, case, stream):
    """Runs a case whose input is this stream, in every way it allows."""
    known(case)
    strict, lenient = case["expect"]["strict"], case["expect"]["lenient"]
    endings = [b"\n"] + [b"\r\n", b"\r"] * ("crlf" in case.get("line_endings", ()))
    rng = random.Random(name)
    for mode, want in (("strict", strict), ("lenient", strict if lenient == "same" else lenient)):
        for ending in endings:
            data = stream.replace(b"\n", ending)
            for chunks in chunkings(data, rng, every=ending == b"\n"):
                check(DecoderPart().decode(chunks, mode, case.get("options", {})), want)


@pytest.mark.uncounted
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_decoder_case(name):
    run_case(name, load(name), STREAMS[name])


# One name for each row of both tables in docs/architecture.md, so that none can be lost.
ROWS = {
    "sse-field-unknown",
    "json-invalid",
    "utf8-invalid-in-text",
    "delta-key-unknown",
    "choices-empty-early",
    "choices-several",
    "id-changes",
    "model-changes",
    "usage-twice",
    "usage-without-required-counts",
    "error-object",
    "limit-wire-bytes",
    "limit-event-bytes",
    "limit-tool-calls",
    "truncated-before-finish",
    "truncated-done-without-finish",
    "truncated-before-done",
    "call-ids-equal",
    "call-id-changes",
    "call-id-never",
    "call-name-never",
    "call-index-gap",
    "finish-tool-calls-without-calls",
    "finish-content-filter-with-calls",
    "refusal-after-content",
    "refusal-with-calls",
    "finish-unknown",
    "after-finish-text",
    "filter-annotation-other-finish",
}


def test_there_is_a_case_for_each_row_of_the_tables():
    assert set(STREAMS) >= ROWS
