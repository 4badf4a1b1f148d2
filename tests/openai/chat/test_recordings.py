"""Recorded answers of real servers: each decodes to what is known about it, however it is cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svir.openai.chat._failures import read_failure
from svir.openai.chat._models import read_models
from tests.support.conformance_decoder import DecoderPart

ROOT = Path(__file__).resolve().parents[4] / "shared" / "recordings"
RECORDINGS = sorted(ROOT.glob("*/*.http"))

pytestmark = pytest.mark.skipif(not RECORDINGS, reason="the recordings are not beside the repository")


def response(path):
    """Status, media type and body of a recorded response, without the chunks of HTTP."""
    head, _, body = path.read_bytes().partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = dechunk(body)
    return int(first.split()[1]), headers.get("content-type", ""), body


def dechunk(body):
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        whole += body[:length]
        body = body[length + 2 :] if length else b""
    return whole


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
    _, _, body = response(path)
    for data in (body, body.replace(b"\n", b"\r\n"), body.replace(b"\n", b"\r")):
        for size in (1, 100, 257, len(data) or 1):
            chunks = [data[start : start + size] for start in range(0, len(data), size)]
            compare(DecoderPart().decode(chunks, mode, {}), want)


@pytest.mark.parametrize("path", of("error"))
def test_a_recorded_error_body_is_read_as_expected(path):
    want = expectation(path)
    status, _, body = response(path)
    if status == 200:
        pytest.skip("a success that is no event stream: its body is not read")
    failure = read_failure(status, body)
    if "message" in want:
        assert failure.message[: len(want["message"])] == want["message"]
    refined = want["error"] if want["error"] in {"context_overflow", "content_filter"} else None
    assert failure.meaning == refined


@pytest.mark.parametrize("path", of("models"))
def test_a_recorded_listing_is_read_as_expected(path):
    _, _, body = response(path)
    assert [{"id": model.id, "name": model.name} for model in read_models(body)] == expectation(path)[
        "models"
    ]
