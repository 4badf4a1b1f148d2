"""Answers of real servers, recorded byte for byte and served again over a loopback socket, on both faces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import svir
from tests.support.conformance_decoder import Collected, completion_data
from tests.support.conformance_transport import error_data, models_data
from tests.support.faces import FACES, closing
from tests.support.loopback import Cut, Loopback, Request, Send

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "recordings"
INDEX = FOLDER / "index.json"
ENTRIES = json.loads(INDEX.read_text("ascii")) if INDEX.exists() else []

pytestmark = [
    pytest.mark.skipif(not ENTRIES, reason="the recordings are not beside this repository"),
    pytest.mark.uncounted,
]


@pytest.fixture(scope="module", params=FACES, ids=repr)
def face(request):
    return request.param


def test_there_are_as_many_as_the_index_says():
    assert len(ENTRIES) == len(list(FOLDER.glob("*/*.http"))) == 122


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["recording"])
def test_a_recorded_answer_gives_what_it_must(entry, face):
    path = FOLDER / entry["recording"]
    raw = path.with_name(path.name + ".http").read_bytes()
    expected = json.loads(path.with_name(path.name + ".expect.json").read_text("ascii"))
    listing = entry["request"] == "GET /v1/models"
    for mode in ("strict", "lenient"):
        want = expected.get(mode, expected)
        if "open" in want:
            continue
        # The end of a recording is the end of its connection, as it was when it was recorded.
        with Loopback([Request(), Send(raw), Cut()]) as server:
            got = face.run(outcome, face, server.url, mode, listing)
        assert differences(want, got) == {}, (mode, got)


async def outcome(face, url, mode, listing):
    # Usage is not asked for: else a rejection would be answered by another try, which was not recorded.
    async with closing(face.client(url, model="m", mode=mode, include_usage=False)) as client:
        seen = Collected()
        try:
            if listing:
                return models_data(await client.models())
            async with client.stream("hi") as stream:
                async for event in stream:
                    seen.take(event)
        except svir.Error as error:
            data = error_data(error)
            assert data["partial"] == {"text": seen.text, "reasoning": seen.reasoning}
            return data
        assert seen.completion.text == seen.text
        return {"completion": completion_data(seen.completion)}


DEFAULTS = {"text": "", "reasoning": [], "calls": [], "usage": None}


def differences(want, got):
    """What of the expectation does not hold: name -> (wanted, got). What it does not name is not compared."""
    if "completion" in want:
        want = {"completion": DEFAULTS | want["completion"]}
    wanted = {
        name: value for name, value in want.items() if name not in {"content_type", "strict", "lenient"}
    }
    if "status" in wanted and (wanted["status"] == 200 or "models" in want):
        wanted["status"] = None if "error" in want else got.get("status")
    return {name: (value, got.get(name)) for name, value in wanted.items() if got.get(name) != value}
