"""Each row, each of its verdicts: a server that does one thing differently, and what is found."""

from __future__ import annotations

import re

import pytest

from svir.cli.probe._questions import QUESTIONS
from svir.cli.probe._report import Verdict
from tests.cli.probe import cases_calls, cases_rest, cases_stream
from tests.cli.probe.servers import ONE, found, probed, refused, serving, stream, text
from tests.cli.scripted import chunk

CASES = [*cases_stream.CASES, *cases_calls.CASES, *cases_rest.CASES]


@pytest.mark.parametrize(
    ("row", "verdict", "answers", "said"),
    CASES,
    ids=[f"{case[0]}-{case[1]}-{n}" for n, case in enumerate(CASES)],
)
def test_a_server_that_does_one_thing_otherwise_is_found_out(row, verdict, answers, said):
    with serving(**answers) as server:
        one = found(server, row, model="m")
    assert said in one.finding
    assert not re.search(r"[^.]\.\.$", one.finding)
    assert one.verdict is verdict


def test_every_row_is_in_the_table():
    assert {case[0] for case in CASES} == {question.id for question in QUESTIONS}


def test_a_wrong_key_is_judged_by_what_the_right_one_gets():
    for answer, verdict, said in (
        (refused("401 Unauthorized", "who?"), Verdict.OK, "HTTP 401 with an error object"),
        (refused("403 Forbidden", "who?"), Verdict.DIFFERENT, "HTTP 403"),
        (refused("500 Oh", "who?"), Verdict.DIFFERENT, "says something else"),
        (ONE, Verdict.DIFFERENT, "Answers also to a made-up key"),
    ):
        with serving(wrong_key=answer) as server:
            one = found(server, "errors.key", key="sk-right-12345")
        assert said in one.finding
        assert one.verdict is verdict


def test_options_follow_from_what_is_refused():
    with serving(bare=refused(message="no"), plain=refused(message="no")) as server:
        report = probed(server, "fields", "usage")
    assert "max_tokens_field='max_completion_tokens'" in report.call
    assert "include_usage=False" in report.call
    with serving(plain=stream(chunk({"emotion": "joy"}), chunk({}, "stop"))) as server:
        assert "mode='lenient'" in probed(server, "stream").call


def test_a_server_without_v1_is_asked_where_it_is():
    with serving(bare=refused("404 Not Found"), completion=refused("404 Not Found"), elsewhere=ONE) as server:
        report = probed(server, "fields")
        paths = [request.line.split(" ")[1] for request in server.requests]
    assert "path='/chat/completions'" in report.call
    assert set(paths[3:]) == {"/chat/completions"}


@pytest.mark.parametrize(
    ("row", "answers", "shown"),
    [
        ("reasoning.carrier", {}, "HTTP 200, text/event-stream: data: "),
        ("fields.unknown", {"unknown": ONE}, "HTTP 200, text/event-stream: data: "),
        ("fields.stop", {"stop": text(*(f"{n} sea. " for n in range(9)))}, "0 sea. 1 sea. "),
    ],
)
def test_what_was_found_is_shown(row, answers, shown):
    with serving(**answers) as server:
        assert found(server, row, model="m").shown.startswith(shown)


def test_words_that_were_cut_end_a_sentence_with_three_dots():
    with serving(image=refused("500 Oh", f"not supported: {'x' * 400}")) as server:
        finding = found(server, "images.input", model="m").finding
    assert finding.endswith("xxx...")
    assert not finding.endswith("....")
