"""The whole of a probe: what is asked, in which order, for how long, and what cannot be found out."""

from __future__ import annotations

import json
import re
import socket
import threading
import time

import pytest

import svir
from svir.cli._advice import LISTING
from svir.cli._refused import RefusedError
from svir.cli.probe._plan import make_plan
from svir.cli.probe._questions import GROUPS, QUESTIONS
from svir.cli.probe._report import Verdict
from svir.cli.probe._steps import BASICS, STEPS
from tests.cli.probe.servers import (
    GOOD,
    NO_DONE,
    NOT_HERE,
    ONE,
    PLAIN,
    Behave,
    everywhere,
    found,
    probed,
    refused,
    reply_json,
    role,
    serving,
    step_of,
    stream,
    text,
)
from tests.cli.scripted import HEAD, chunk
from tests.support.loopback import Cut, Flood, Gone, Loopback, Send, Stall

HANGS = [Stall()]


def test_every_step_is_needed_and_every_need_is_a_step():
    names = [step.name for step in STEPS]
    assert len(names) == len(set(names))
    needs = {name for question in QUESTIONS for name in question.needs}
    assert needs | set(BASICS) == set(names)


def test_ids_are_unique_and_groups_are_together():
    ids = [question.id for question in QUESTIONS]
    assert len(ids) == len(set(ids))
    order = [question.group for question in QUESTIONS]
    assert [group for n, group in enumerate(order) if n == 0 or order[n - 1] != group] == list(GROUPS)


def test_only_what_is_needed_is_asked():
    with serving() as server:
        report = probed(server, "images")
    assert [step_of(request) for request in server.requests] == ["models", "bare", "completion", "image"]
    assert [row.id for row in report.rows] == ["images.input"]


def test_everything_is_asked_once_and_within_the_plan():
    with serving(__slots=Behave.slots) as server:
        report = probed(server)
    asked = [step_of(request) for request in server.requests]
    once = {step.name for step in STEPS} - {"lean", "elsewhere", "leaving", "bare", "several"}
    assert once <= set(asked)
    assert all(asked.count(name) == 1 for name in once)
    assert {row.verdict for row in report.rows} <= {Verdict.OK, Verdict.UNCLEAR}
    assert report.model == "m"
    assert report.seconds < 20
    assert [row.id for row in report.rows] == [question.id for question in QUESTIONS]
    assert not any(row.verdict is Verdict.SKIPPED for row in report.rows)


def test_every_request_asks_for_no_more_tokens_than_the_plan_says():
    with serving(plain=refused(), __slots=Behave.slots) as server:
        probed(server)
    sent = [
        request for request in server.requests if step_of(request) not in {"models", "bad_json", "/slots"}
    ]
    bodies = [json.loads(request.body) for request in sent]
    limits = [body.get("max_tokens", body.get("max_completion_tokens")) for body in bodies]
    assert all(limits)
    assert sum(limits) <= make_plan(seconds=60.0).tokens
    assert all(body["stream"] is True for body in bodies)


def test_nothing_is_asked_when_there_is_no_connection():
    with Loopback() as server:
        pass
    with pytest.raises(svir.TransportError):
        probed(server)


def test_a_key_that_is_refused_is_not_tried_on_everything():
    no = refused("401 Unauthorized", "who are you?")
    with serving(models=no) as server, pytest.raises(svir.AuthenticationError):
        probed(server)
    with serving(bare=no, completion=no) as server, pytest.raises(svir.AuthenticationError):
        probed(server)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("listing", "said"),
    [
        (reply_json({"data": []}), "lists no model"),
        (reply_json({"data": [{"id": "a"}, {"id": "b"}]}), r"has 2 models \(a, b\)"),
    ],
)
def test_a_model_must_be_known(listing, said):
    with serving(models=listing) as server, pytest.raises(RefusedError, match=said):
        probed(server)


@pytest.mark.parametrize(
    ("listing", "kind"), [(reply_json("what?"), svir.ProtocolError), (NOT_HERE, svir.UnsupportedError)]
)
def test_why_there_is_no_list_of_models_is_the_error(listing, kind):
    with serving(models=listing) as server, pytest.raises(kind) as caught:
        probed(server)
    assert caught.value.__notes__ == [LISTING]


def test_a_server_that_goes_silent_costs_no_more_time_than_was_allowed():
    with serving(bare=HANGS, completion=HANGS, plain=HANGS) as server:
        begun = time.monotonic()
        report = probed(server, "stream", "tools", seconds=0.8, model="m")
        assert time.monotonic() - begun < 2.5
    rows = {row.id: row for row in report.rows}
    assert rows["stream.path"].verdict is Verdict.UNCLEAR
    assert re.match(r"Did not answer within .* s \(busy, or slow\?\)\.", rows["stream.path"].finding)
    assert rows["tools.auto"].verdict is Verdict.SKIPPED
    assert "the time was used up (--max-seconds)" in rows["tools.auto"].finding


def test_a_server_that_hangs_on_one_thing_is_asked_the_next(monkeypatch):
    with serving(image=HANGS) as server:
        report = probed(server, "images", "roles", each=0.3)
    assert {row.id: row.verdict for row in report.rows} == {
        "images.input": Verdict.UNCLEAR,
        "roles.system": Verdict.OK,
        "roles.tool": Verdict.OK,
    }


def test_a_busy_server_is_asked_again_later():
    def once(step):
        return lambda _: HANGS if step in busy and not busy.remove(step) else GOOD.get(step, ONE)

    busy = ["bare", "image", "system"]
    named = {step: once(step) for step in tuple(busy)}
    with serving(**named) as server:
        report = probed(server, "images", "roles", each=0.3)
    assert [row.verdict for row in report.rows] == [Verdict.OK] * 3
    asked = [step_of(request) for request in server.requests]
    assert asked == ["models", "bare", "bare", "completion", "result", *("system", "image") * 2]


def test_a_connection_that_breaks_before_the_answer_is_not_held_against_the_question():
    broken = []

    def once(_):
        return GOOD.get("system", ONE) if broken else broken.append(True) or [Cut()]

    with serving(system=once) as server:
        report = probed(server, "roles")
    assert [row.verdict for row in report.rows] == [Verdict.OK] * 2
    assert [step_of(request) for request in server.requests].count("system") == 2


def test_a_server_that_stays_busy_is_said_to_be_busy_and_is_asked_the_rest():
    with serving(image=HANGS, system=HANGS) as server:
        report = probed(server, "images", "roles", each=0.2)
    rows = {row.id: row for row in report.rows}
    for name in ("images.input", "roles.system"):
        assert rows[name].finding == "Did not answer within 0.2 s (busy, or slow?)."
        assert rows[name].verdict is Verdict.UNCLEAR
        assert "nothing else to do" in rows[name].advice
    assert rows["roles.tool"].verdict is Verdict.OK


def test_what_came_of_an_answer_stays_when_asking_again_brings_less():
    def slower(_):
        return [Send(HEAD + role() + chunk({"content": "PINE"})), Gone()] if first and first.pop() else HANGS

    first = [True]
    with serving(system=slower) as server:
        report = probed(server, "roles", each=0.3)
    (row,) = [row for row in report.rows if row.id == "roles.system"]
    assert row.shown == "PINE"
    assert [step_of(request) for request in server.requests].count("system") == 2


def test_a_prompt_that_is_too_long_and_is_taken_at_first_was_not_answered():
    taken = [Send(HEAD + role()), Gone()]
    with serving(overflow=taken) as server:
        row = found(server, "errors.overflow", each=0.3)
    assert [step_of(request) for request in server.requests].count("overflow") == 1
    assert "still be reading it" in row.advice
    assert re.fullmatch(r"A prompt of 8192 letters was taken; no text came within 0\.\d+ s\.", row.finding)
    assert row.verdict is Verdict.UNCLEAR


def test_an_answer_that_our_time_cut_did_not_break_off():
    slow = [Send(HEAD + role() + chunk({"content": "on "})), Gone()]
    with serving(required=slow) as server:
        row = found(server, "tools.required", each=0.3)
    assert re.fullmatch(r"The 0\.\d+ s for the answer ended before a call came\.", row.finding)
    assert row.verdict is Verdict.UNCLEAR


def test_a_server_of_which_nothing_is_taken_for_whole_is_told_so_beside_the_call():
    with serving(**everywhere(stream(chunk({"content": "Yes"}, "stop"), done=False), *PLAIN)) as server:
        report = probed(server, "stream")
    assert report.call.startswith("# svir takes none of its answers for whole, whatever the options.\nsvir.")
    (row,) = [row for row in report.rows if row.id == "stream.strict"]
    assert "lenient mode does not help" in row.finding
    assert "partial" in row.advice


def test_lenient_mode_is_the_advice_also_when_it_reads_only_some_of_what_strict_mode_refuses():
    with serving(plain=stream(chunk({"emotion": "joy"}), chunk({}, "stop")), bare=NO_DONE) as server:
        report = probed(server, "stream")
    (row,) = [row for row in report.rows if row.id == "stream.strict"]
    assert row.finding == "Strict mode refuses 2 of 3 streams; lenient mode refuses 1 of them."
    assert report.call.startswith("svir.")
    assert "mode='lenient'" in report.call


def test_an_endless_answer_is_one_row_and_the_probe_goes_on():
    flood = [Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"), Flood(b"x" * 65536)]
    with serving(image=flood, __slots=flood) as server:
        report = probed(server, "images", "roles")
    assert [row.verdict for row in report.rows] == [Verdict.BROKEN, Verdict.OK, Verdict.OK]


def test_a_server_that_goes_away_is_noticed_and_what_it_failed_at_is_not_held_against_it():
    class Dies(Loopback):
        def record(self, request):
            super().record(request)
            if step_of(request) == "image":
                self._listener.shutdown(socket.SHUT_RDWR)

    with Dies(repeat=[Behave({"image": refused("500 Oh", "upstream is gone")})]) as server:
        report = probed(server, "images", "fields")
    rows = {row.id: row for row in report.rows}
    assert rows["images.input"].verdict is Verdict.UNCLEAR
    assert "none to the simplest request either" in rows["images.input"].finding
    assert rows["fields.stop"].verdict is Verdict.SKIPPED
    assert rows["fields.stop"].finding == "Not asked: the server had stopped answering."
    assert rows["fields.max_tokens"].verdict is Verdict.OK


def test_a_server_that_fails_at_all_from_then_on_is_said_to():
    failing = []
    no = refused("500 Oh", "gone")

    def image(_):
        failing.append(True)
        return no

    with serving(image=image, bare=lambda _: no if failing else ONE) as server:
        report = probed(server, "images", "fields")
    rows = {row.id: row for row in report.rows}
    assert "none to the simplest request either" in rows["images.input"].finding
    assert rows["fields.stop"].finding == (
        "Not asked: the simplest request was answered with HTTP 500 by then."
    )


def test_a_failure_is_held_against_a_server_that_answers_all_else():
    with serving(image=refused("500 Oh", "KeyError"), system=[Cut()]) as server:
        report = probed(server, "images", "roles")
    assert [row.verdict for row in report.rows] == [Verdict.BROKEN, Verdict.BROKEN, Verdict.OK]
    asked = [step_of(request) for request in server.requests]
    assert asked.count("bare") == 3  # once for itself, and once after each failure


def test_a_server_that_answers_nothing_is_not_asked_on_and_on():
    no = dict.fromkeys(("bare", "completion", "plain"), NOT_HERE)
    with serving(**no) as server:
        report = probed(server)
    assert [step_of(request) for request in server.requests] == [
        *("models", "bare", "elsewhere", "completion", "plain")
    ]
    rows = {row.id: row for row in report.rows}
    assert rows["models.list"].verdict is Verdict.OK
    assert rows["stream.content_type"].verdict is Verdict.UNCLEAR
    assert rows["images.input"].finding == "Not asked: the simplest request is not answered."


def test_a_status_is_more_than_none():
    def begun(_):
        return [Send(HEAD), Gone()] if first and first.pop() else HANGS

    first = [True]
    with serving(system=begun) as server:
        row = found(server, "roles.system", each=0.3)
    assert row.finding.startswith("Nothing of an answer came within ")


@pytest.mark.parametrize("path", ["/slots", "/metrics"])
def test_a_count_of_requests_shows_whether_it_stops(path):
    count = Behave.slots if path == "/slots" else lambda behave: metrics(len(behave.active))
    with serving(**{path: count}) as server:
        stops = found(server, "leaving.stops")
    assert stops.verdict is Verdict.OK
    assert f"{path}: none at work before, 1 meanwhile" in stops.shown


def metrics(count: int) -> bytes:
    """What vLLM says at /metrics."""
    said = f'# HELP x\nvllm:num_requests_running{{model="m"}} {float(count)}\n'
    return f"HTTP/1.1 200 OK\r\ncontent-length: {len(said)}\r\nconnection: close\r\n\r\n{said}".encode()


def test_a_server_at_work_for_others_is_not_judged_by_its_count():
    with serving(__slots=reply_json([{"is_processing": True}])) as server:
        row = found(server, "leaving.stops")
    assert row.verdict is Verdict.UNCLEAR
    assert row.finding == "Something else was at work as well, it seems: no telling."
    assert "nothing else to do" in row.advice


@pytest.mark.parametrize(("stops", "verdict"), [(True, Verdict.OK), (False, Verdict.DIFFERENT)])
def test_an_answer_that_has_a_name_is_told_from_those_of_others(stops, verdict):
    with Loopback(
        repeat=[Behave({"/slots": Behave.slots, "long": lambda b: b.long(stops=stops)}, others={7})]
    ) as one:
        row = found(one, "leaving.stops")
    assert row.verdict is verdict
    assert row.shown.startswith("/slots: 1 at work before, 2 meanwhile, this one ")


@pytest.mark.parametrize(
    ("counts", "verdict", "said"),
    [
        # before, meanwhile, and then a look at a time
        ([0, 1, *[1] * 9, *[0] * 9], Verdict.DIFFERENT, "Goes on for 3.6 s or more"),
        ([0, 1, *[1] * 9, 0, 0, 1, *[0] * 9], Verdict.UNCLEAR, "Something else was at work"),
        ([0, 1, *[1] * 30], Verdict.UNCLEAR, "Something else was at work"),
        ([0, 2, 2, 0], Verdict.UNCLEAR, "Something else was at work"),
        ([0, 1, 1, 0], Verdict.OK, "Stops within"),
    ],
)
def test_a_count_that_stays_is_held_against_a_server_only_when_nobody_else_asks(counts, verdict, said):
    left = list(counts)
    with serving(**{"/metrics": lambda _: metrics(left.pop(0))}) as server:
        row = found(server, "leaving.stops", seconds=60.0)
    assert said in row.finding
    assert row.verdict is verdict


def test_a_long_answer_that_comes_too_slowly_to_be_left_did_not_end():
    slow = [Send(HEAD + role() + chunk({"content": "on "})), Gone()]
    with serving(long=slow) as server:
        row = found(server, "leaving.stops", each=0.5)
    assert row.verdict is Verdict.UNCLEAR
    assert row.finding == "Only 1 piece of a long answer came in time (busy, or slow?)."


@pytest.mark.parametrize(("stops", "verdict"), [(True, Verdict.OK), (False, Verdict.DIFFERENT)])
def test_a_server_that_does_one_thing_after_the_other_is_judged_by_the_wait(stops, verdict):
    with Loopback(repeat=[OneByOne(stops=stops)]) as server:
        row = found(server, "leaving.stops")
    assert row.verdict is verdict
    assert "behind the answer that was left" in row.shown


@pytest.mark.parametrize("busy", [{8: 1.8}, {6: 0.6}, {9: 0.6}], ids=["behind", "before", "afterwards"])
def test_one_that_is_asked_by_others_at_the_same_time_is_not_said_to_go_on(busy):
    # The requests: models, bare, completion, two counters, one token alone, the long answer, the waiting one
    # and one token again.
    with Loopback(repeat=[OneByOne(stops=True, busy=busy)]) as server:
        row = found(server, "leaving.stops")
    assert row.verdict is Verdict.UNCLEAR
    assert row.finding == "Something else was at work as well, it seems: no telling."


class OneByOne(Behave):
    """Makes one answer after the other; a long one goes on for a while when its client has left, or stops.

    Before the answers whose numbers are in ``busy`` it works for others, for so many seconds.
    """

    def __init__(self, *, stops: bool, busy: dict[int, float] | None = None) -> None:
        super().__init__({})
        self.stops = stops
        self.busy = busy or {}
        self.count = 0
        self.free = threading.Lock()

    def perform(self, peer):
        with self.free:
            self.count += 1
            time.sleep(self.busy.get(self.count, 0.0))
            super().perform(peer)
            if not self.stops and step_of(peer.server.requests[-1]) == "long":
                time.sleep(1.8)


def test_the_length_of_a_context_is_read_off_the_listing():
    for entry, letters in (
        ({"max_model_len": 1000}, 1250),
        ({"meta": {"n_ctx": 2000}}, 2500),
        ({"context_length": "much"}, 8192),
        ({"context_length": 0, "n_ctx": -5}, 8192),
        ({}, 8192),
    ):
        with serving(models=reply_json({"data": [{"id": "m", **entry}]})) as server:
            probed(server, "errors")
        (sent,) = [request for request in server.requests if step_of(request) == "overflow"]
        (message,) = json.loads(sent.body)["messages"]
        assert len(message["content"].split()) == letters


def test_tools_are_asked_for_behind_earlier_calls_only_where_those_are_taken():
    for result, turns in ((text("17"), 9), (refused(), 1)):
        with serving(result=result) as server:
            probed(server, "tools")
        (auto,) = [request for request in server.requests if step_of(request) == "auto"]
        assert len(json.loads(auto.body)["messages"]) == turns


def test_the_server_names_itself():
    said = ONE.replace(b"connection: close", b"server: llama.cpp\x07\r\nconnection: close")
    with serving(bare=said) as server:
        assert probed(server, "models").server == r"llama.cpp\x07"
