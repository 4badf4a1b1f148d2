"""A conformance case written from a recording holds in the repository's own runner, and in the shared one."""

from __future__ import annotations

import json

import pytest

import svir
from svir.cli._refused import RefusedError
from svir.cli.decode import Reading, Task, decode
from svir.cli.decode._case import write_case
from tests.cli.decode.wrapped import HEAD
from tests.conformance.test_decoder import run_case
from tests.support.streams import CASES, DONE, STOP, chunk, own_streams, recorded_streams, whole

STREAMS = own_streams()
RECORDED = recorded_streams()
SHORT = sorted(RECORDED, key=lambda name: len(RECORDED[name]))[:12]
TEXT = chunk({"content": "Herons "})
HALF = TEXT + chunk({"content": "fish", "audio": 1}) + STOP + DONE


def written(body, folder, **options):
    """A case written from a body, and its input as the runner reads it from the file."""
    path = folder / "case.json"
    path.write_text(write_case("case", body, Reading(**options)), "ascii")
    return json.loads(path.read_text("ascii")), whole(path)


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_case_written_from_a_case_expects_what_that_one_does(name, tmp_path):
    judged = json.loads((CASES / f"{name}.json").read_text("ascii"))
    given = judged.get("options", {})
    limits = svir.Limits(**given.get("limits", {}))
    case, stream = written(STREAMS[name], tmp_path, limits=limits, think=given.get("think", "split"))
    assert stream == STREAMS[name]
    assert case.get("options", {}) == given
    for mode in ("strict", "lenient"):
        want = judged["expect"][mode]
        got = case["expect"][mode]
        if want == "same" or got == "same":
            assert (want == "same") == (got == "same")
        elif "completion" in want:
            empty = {"text": "", "reasoning": [], "calls": [], "usage": None}
            assert empty | got["completion"] == empty | want["completion"]
        else:  # what a case does not name is not compared
            assert {key: got.get(key) for key in want} == want


@pytest.mark.parametrize("name", [*sorted(STREAMS)[::6], *SHORT])
def test_a_written_case_holds_in_our_runner(name, tmp_path):
    case, stream = written((STREAMS | RECORDED)[name], tmp_path)
    assert stream == (STREAMS | RECORDED)[name]
    run_case(name, case, stream)


def test_a_case_is_ascii_and_says_that_it_is_to_be_judged(tmp_path):
    text = write_case(
        "text-caf", chunk({"content": "caf\xe9 \u65e5"}) + b": caf\xc3\xa9\n\ndata: \xff\n\n", Reading()
    )
    assert text.isascii()
    case = json.loads(text)
    assert case["description"] == f"text caf (as svir {svir.__version__} decodes it: to be judged)"
    assert case["chunks"][1:] == [": caf\xe9\n\n", {"hex": b"data: \xff\n\n".hex()}]


def test_line_endings_are_left_out_where_they_make_a_difference(tmp_path):
    case, _ = written(HALF, tmp_path)
    assert case["line_endings"] == ["lf", "crlf"]
    case, _ = written(HALF, tmp_path, limits=svir.Limits(wire_bytes=len(HALF)))
    assert "line_endings" not in case  # with CRLF it is over the limit
    case, _ = written(HALF.replace(b"\n", b"\r\n"), tmp_path)
    assert "line_endings" not in case


def test_a_case_goes_to_standard_output_into_a_file_or_into_a_folder(tmp_path, capfdbinary):
    recording = tmp_path / "a.http"
    recording.write_bytes(HEAD + b"\r\n" + HALF)
    task = {"file": str(recording), "case": "delta-key-audio"}
    assert decode(Task(**task)) == 0
    text, said = capfdbinary.readouterr()
    assert json.loads(text)["expect"]["lenient"]["completion"]["text"] == "Herons fish"
    assert said == b""
    for output, path in (
        (tmp_path / "b.json", tmp_path / "b.json"),
        (tmp_path, tmp_path / "delta-key-audio.json"),
    ):
        assert decode(Task(**task, output=output)) == 0
        assert path.read_bytes() == text
        assert b"judge it before you keep it" in capfdbinary.readouterr().err
    with pytest.raises(RefusedError, match="cannot be written: No such file"):
        decode(Task(**task, output=tmp_path / "no" / "b.json"))


def test_a_stream_that_was_cut_is_a_case_of_what_came(tmp_path, capfdbinary):
    recording = tmp_path / "a.http"
    recording.write_bytes(HEAD + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(TEXT), TEXT))
    assert decode(Task(file=str(recording), case="cut")) == 0
    expected = json.loads(capfdbinary.readouterr().out)["expect"]
    error = {"error": "truncated_stream", "partial": {"text": "Herons ", "reasoning": ""}}
    assert expected == {"strict": error, "lenient": "same"}


def test_what_is_no_stream_makes_no_case(tmp_path):
    recording = tmp_path / "a.http"
    recording.write_bytes(b"HTTP/1.1 404 Not Found\r\n\r\n{}")
    with pytest.raises(svir.UnsupportedError, match="HTTP 404"):
        decode(Task(file=str(recording), case="cut"))
