"""From options, files and standard input to a request."""

from __future__ import annotations

import io
import json

import pytest

import svir
from svir.cli._question import Question, build_request
from svir.cli._refused import RefusedError


@pytest.fixture
def stdin(monkeypatch):
    def give(data: bytes, *, tty: bool = False) -> None:
        stream = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr(stream, "isatty", lambda: tty, raising=False)
        monkeypatch.setattr("sys.stdin", stream)

    return give


def parts(request: svir.Request):
    (message,) = request.messages
    assert message.role is svir.Role.USER
    return message.parts


def test_only_what_was_given_is_set():
    assert build_request(Question(prompt="hi")) == svir.Request(messages=["hi"])


def test_every_option_reaches_its_field(tmp_path):
    schema = tmp_path / "my schema.json"
    schema.write_text('{"type": "object"}')
    request = build_request(
        Question(prompt="hi", system="be brief", max_tokens=9, effort=svir.Effort.LOW, json_schema=schema)
    )
    assert request == svir.Request(
        messages=["hi"],
        system="be brief",
        max_tokens=9,
        effort="low",
        response_format=svir.Schema("my_schema", {"type": "object"}),
    )


def test_files_and_images_follow_the_prompt_in_their_order():
    got = parts(build_request(Question(prompt="hi", files=("b.txt", "a.txt"), images=("c.png",))))
    assert got == (svir.Text("hi"), svir.TextFile("b.txt"), svir.TextFile("a.txt"), svir.Image("c.png"))


@pytest.mark.parametrize("prompt", [None, "-"])
def test_the_prompt_comes_from_standard_input(stdin, prompt):
    stdin("wh\xfd?\n".encode())
    assert parts(build_request(Question(prompt=prompt))) == (svir.Text("wh\xfd?\n"),)


def test_standard_input_can_be_a_file(stdin):
    stdin(b"+1\n-1\n")
    got = parts(build_request(Question(prompt="what changed?", files=("-",))))
    assert got == (svir.Text("what changed?"), svir.TextFile.from_text("stdin", "+1\n-1\n"))


def test_a_file_from_standard_input_needs_no_prompt(stdin):
    stdin(b"+1\n")
    assert parts(build_request(Question(files=("-",)))) == (svir.TextFile.from_text("stdin", "+1\n"),)


def test_standard_input_is_left_alone_when_there_is_a_prompt(stdin):
    stdin(b"not for us")
    assert parts(build_request(Question(prompt="hi"))) == (svir.Text("hi"),)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question(), "Type the prompt, and end it with Ctrl-D"),
        (Question(files=("-",)), "Type the text of the file, and end it with Ctrl-D"),
        (Question(prompt="hi", files=("-",)), "Type the text of the file, and end it with Ctrl-D"),
    ],
    ids=["prompt", "file", "both"],
)
def test_typing_at_a_terminal_is_explained(stdin, capsys, question, said):
    stdin(b"hi\n", tty=True)
    build_request(question)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(said)


@pytest.mark.parametrize("text", [b"", b" \n"])
def test_no_prompt_is_an_error(stdin, text):
    stdin(text)
    with pytest.raises(RefusedError, match="no prompt"):
        build_request(Question())


def test_standard_input_that_is_no_text_is_an_error(stdin):
    stdin(b"\xff\xfe")
    with pytest.raises(RefusedError, match="not UTF-8") as caught:
        build_request(Question())
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "\x00", "[" * 100_000], ids=["empty", "array", "cut", "nul", "deep"]
)
def test_a_schema_file_that_is_no_object_is_an_error(tmp_path, text):
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(RefusedError, match=r"'s\.json' is no JSON object"):
        build_request(Question(prompt="hi", json_schema=path))


def test_a_schema_file_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(RefusedError, match=r"'s\.json' cannot be read: No such file"):
        build_request(Question(prompt="hi", json_schema=tmp_path / "s.json"))


@pytest.mark.parametrize(
    ("stem", "name"), [("plain", "plain"), ("a b.c", "a_b_c"), ("\u65e5", "_"), ("x" * 99, "x" * 64)]
)
def test_a_schema_is_named_after_its_file(tmp_path, stem, name):
    path = tmp_path / f"{stem}.json"
    path.write_text(json.dumps({"type": "array"}))
    assert build_request(Question(prompt="hi", json_schema=path)).response_format.name == name
