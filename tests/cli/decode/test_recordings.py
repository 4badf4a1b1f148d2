"""Recorded answers of real servers, through the command: each is what is known about it."""

from __future__ import annotations

import json

import pytest

import svir
from svir.cli._exits import CODES
from svir.cli.decode._playback import Playback
from svir.cli.decode._reading import Reading
from svir.cli.decode._recording import Recording
from tests.cli.decode.wrapped import places
from tests.support.conformance_decoder import completion_data
from tests.support.conformance_transport import models_data
from tests.support.streams import RECORDINGS as ROOT

RECORDINGS = {f"{path.parent.name}/{path.stem}": path for path in sorted(ROOT.glob("*/*.http"))}
EXPECTED = {
    name: json.loads(path.with_suffix(".expect.json").read_text("ascii")) for name, path in RECORDINGS.items()
}
LISTINGS = {name for name, expected in EXPECTED.items() if "models" in expected}
STREAMS = sorted(name for name, expected in EXPECTED.items() if "strict" in expected)

pytestmark = pytest.mark.skipif(not RECORDINGS, reason="the recordings are not beside the repository")


def outcome(shown):
    """What the lines of the command say, in the notation of the expectations."""
    if shown.failure is not None:
        said = shown.failure
        got = {"error": said["kind"], "message": said.get("server_message"), "status": said.get("status")}
        text = "".join(line.get("text", "") for line in shown.events)
        reasoning = "".join(line["reasoning"]["text"] for line in shown.events if "reasoning" in line)
        return got | {"retryable": said["retryable"], "partial": {"text": text, "reasoning": reasoning}}
    *_, last = shown.events
    completion = svir.from_dict(svir.Completion, last["completed"])
    assert completion.timing is None
    return {"completion": completion_data(completion), "status": 200}


def check(shown, want):
    got = outcome(shown)
    want = {key: value for key, value in want.items() if key not in {"content_type", "retry_after_ms"}}
    if "completion" in want:
        want["completion"] = {"text": "", "reasoning": [], "calls": [], "usage": None} | want["completion"]
        assert shown.code == 0
    else:
        assert shown.code == CODES[want["error"]]
        if want.get("status") == 200:  # which is no error by itself
            want["status"] = None
    assert {key: got.get(key) for key in want} == want


def test_there_are_recordings_of_every_sort():
    assert len(RECORDINGS) == 122
    assert len(STREAMS) > 70
    assert len(LISTINGS) == 5


@pytest.mark.parametrize("name", sorted(set(RECORDINGS) - LISTINGS))
@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_a_recorded_answer_is_what_is_known_about_it(show, name, mode):
    want = EXPECTED[name].get(mode, EXPECTED[name])
    if "open" in want:
        pytest.skip("nobody has decided what this one is")
    data = RECORDINGS[name].read_bytes()
    check(show(data, lenient=mode == "lenient"), want)


@pytest.mark.parametrize("name", STREAMS)
def test_it_is_the_same_however_many_bytes_are_given_at_a_time(show, name):
    data = RECORDINGS[name].read_bytes()
    whole = show(data)
    for size in (1, 5, 777, len(data)):
        again = show(data, chunk=size)
        assert (again.out, again.err, again.code) == (whole.out, whole.err, whole.code)


@pytest.mark.parametrize("name", STREAMS)
def test_the_offset_of_each_event_leads_to_the_bytes_that_say_it(show, name):
    raw = RECORDINGS[name].read_bytes()
    body = {at: number for number, at in enumerate(places(raw))}
    stream = bytes(raw[at] for at in body)
    for line in show(raw, think="keep").events:  # so that a text is that of one event
        # From there on the file holds one event of the stream, perhaps in several chunks.
        start = body[line["offset"]]
        assert stream.startswith(b"data:", start)
        data = stream[start:].split(b"\n", 1)[0].removeprefix(b"data:").strip()
        if "completed" in line:
            assert data == b"[DONE]"
            continue
        (choice,) = json.loads(data)["choices"][:1]
        delta = choice["delta"]
        if "text" in line:
            assert delta["content"] == line["text"]
        elif "reasoning" in line:
            assert delta[line["reasoning"]["source"]] == line["reasoning"]["text"]
        else:
            assert delta["tool_calls"]


@pytest.mark.parametrize("name", sorted(LISTINGS))
def test_a_recorded_listing_is_no_answer_but_plays_as_a_listing(show, name):
    data = RECORDINGS[name].read_bytes()
    shown = show(data)
    assert shown.code == CODES["unsupported"]
    assert "This is JSON" in shown.err
    path = RECORDINGS[name]
    with path.open("rb") as file:
        client = Playback(Recording(file.read), Reading()).client()
        assert models_data(client.models())["models"] == EXPECTED[name]["models"]
