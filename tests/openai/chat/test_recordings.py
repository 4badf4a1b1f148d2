"""Recorded answers of real servers: each decodes to what is known about it, however it is cut."""

from __future__ import annotations

import json

import pytest

from svir.openai.chat._failures import read_failure
from svir.openai.chat._models import read_models
from tests.support.conformance_decoder import DecoderPart
from tests.support.streams import RECORDINGS as ROOT
from tests.support.streams import recorded_response

RECORDINGS = sorted(ROOT.glob("*/*.http"))

pytestmark = [
    pytest.mark.skipif(not RECORDINGS, reason="the recordings are not beside the repository"),
    pytest.mark.uncounted,
]


def expectation(path):
    return json.loads(path.with_name(path.name.removesuffix(".http") + ".expect.json").read_text("ascii"))


def of(kind):
    """The recordings whose expectation has this key, as parameters with readable names."""
    chosen = [path for path in RECORDINGS if kind in expectation(path)]
    return [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in chosen]


def compare(got, want):
    if "completion" in want:
        defaults = {"text": "", "reasoning": [], "calls": [], "usage": None}
        assert got.get("completion") == defaults | want["completion"]
    else:
        assert {key: got.get(key) for key in want} == want


@pytest.mark.parametrize("path", of("strict"))
@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_a_recorded_stream_decodes_as_expected(path, mode):
    want = expectation(path)[mode]
    if "open" in want:
        pytest.skip("nobody has decided what this one is")
    _, _, body = recorded_response(path)
    for data in (body, body.replace(b"\n", b"\r\n"), body.replace(b"\n", b"\r")):
        for size in (1, 100, 257, len(data) or 1):
            chunks = [data[start : start + size] for start in range(0, len(data), size)]
            compare(DecoderPart().decode(chunks, mode, {}), want)


@pytest.mark.parametrize("path", of("error"))
def test_a_recorded_error_body_is_read_as_expected(path):
    want = expectation(path)
    status, _, body = recorded_response(path)
    if status == 200:
        pytest.skip("a success that is no event stream: its body is not read")
    failure = read_failure(status, body)
    if "message" in want:
        assert failure.message[: len(want["message"])] == want["message"]
    refined = want["error"] if want["error"] in {"context_overflow", "content_filter"} else None
    assert failure.meaning == refined


@pytest.mark.parametrize("path", of("models"))
def test_a_recorded_listing_is_read_as_expected(path):
    _, _, body = recorded_response(path)
    assert [{"id": model.id, "name": model.name} for model in read_models(body)] == expectation(path)[
        "models"
    ]
