"""Whatever a server answers, every question has a finding, and the report can be shown."""

from __future__ import annotations

import io
import itertools
import json

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from svir.cli.probe._ask import Answer, Asked
from svir.cli.probe._evidence import MODELS_PATH, Evidence
from svir.cli.probe._html import render
from svir.cli.probe._questions import QUESTIONS, row
from svir.cli.probe._report import Report
from svir.cli.probe._requests import overflow
from svir.cli.probe._steps import STEPS
from svir.cli.probe._terminal import print_report
from svir.http import Headers

HEAD = Headers([("content-type", "text/event-stream")])
ODD = st.sampled_from(
    [None, True, -1, 0, 1, 1e300, "", " ", "stop", "<think>", "\x1b[2J\u202e", [], {}, [{}], [None]]
)
KEYS = st.sampled_from(
    ["content", "reasoning", "tool_calls", "index", "id", "function", "name", "arguments", "logprobs"]
)
VALUES = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
PIECES = st.fixed_dictionaries(
    {"index": ODD, "id": ODD, "function": st.fixed_dictionaries({"name": ODD, "arguments": ODD})}
)
DELTAS = (
    st.dictionaries(KEYS, VALUES, max_size=3)
    | st.fixed_dictionaries({"tool_calls": st.lists(PIECES, max_size=2)})
    | ODD
)
CHOICES = st.fixed_dictionaries({"index": st.just(0), "delta": DELTAS, "finish_reason": VALUES})
COUNTS = st.fixed_dictionaries({"prompt_tokens": ODD, "completion_tokens": ODD})
CHUNKS = st.fixed_dictionaries({"choices": st.lists(CHOICES, max_size=1), "usage": ODD | COUNTS}) | VALUES
LISTINGS = st.fixed_dictionaries(
    {"data": st.lists(st.fixed_dictionaries({"id": st.just("m"), "n_ctx": ODD}) | ODD, max_size=2)}
)
STATUSES = st.sampled_from([200, 200, 200, 200, 301, 400, 404, 500, 503])


ANSWERS = st.tuples(STATUSES, st.lists(CHUNKS, max_size=3))


@settings(deadline=None, max_examples=30)
@given(LISTINGS | VALUES, st.lists(ANSWERS, min_size=1, max_size=4))
def test_any_answers_make_a_report(listing, answers):
    evidence = Evidence("m")
    for step, (status, chunks) in zip(STEPS, itertools.cycle(answers), strict=False):
        asked, body = Asked(body=b'{"model":"m"}'), b"".join(map(event, chunks))
        if step.name == "models":
            asked, body = Asked(method="GET", path=MODELS_PATH), json.dumps(listing).encode()
        evidence.add(step.name, Answer(asked=asked, status=status, headers=HEAD, body=body))
    rows = tuple(row(question, evidence) for question in QUESTIONS)
    assert all(one.finding for one in rows)
    overflow(evidence)
    report = Report(svir="1", url="u", model="m", started="", seconds=1.0, requests=1, rows=rows, call="c")
    shown = io.StringIO()
    print_report(Console(file=shown, width=80), report, verbose=True)
    assert shown.getvalue().replace("\n", "").isprintable()
    assert "\x1b" not in render(report)


def event(value: object) -> bytes:
    return b"data: %b\n\n" % json.dumps(value).encode()
