"""What a person and a program are shown."""

from __future__ import annotations

import io

import pytest

import svir
from svir.cli.decode._recording import Recording
from svir.cli.decode._text import plain, quoted
from tests.cli.decode.wrapped import HEAD
from tests.support.streams import DONE, STOP, chunk

USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}


def call(index, call_id=None, name=None, arguments=None):
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


STREAM = [
    chunk({"reasoning_content": "let "}),
    chunk({"reasoning_content": "me"}),
    chunk({"content": "so\n"}),
    chunk({"content": "\x1b[2J\u202e\u0085"}),
    chunk({"tool_calls": [call(0, "c1", "wea", "{")]}),
    chunk({"tool_calls": [call(0, None, "ther", "}"), call(1, "c2", "time", "")]}),
    chunk({}, "tool_calls", usage=USAGE),
    DONE,
]


def test_each_event_is_a_line_that_drives_no_terminal(show):
    lines = show(b"".join(STREAM), as_json=False).out.decode().splitlines()
    at = [sum(map(len, STREAM[:number])) for number in range(len(STREAM))]
    summary = (
        "finish tool_calls; 9 characters of text; 6 of reasoning (reasoning_content); 5 tokens in; 7 out; "
        'model "m"; id "c"'
    )
    assert lines == [
        f'{at[0]:>8}  reasoning  "let "',
        f'{at[1]:>8}  reasoning  "me"',
        f'{at[2]:>8}  text       "so\\n"',
        f'{at[3]:>8}  text       "\\u001b[2J\\u202e\\u0085"',
        f'{at[4]:>8}  call 0     id "c1", name "wea", arguments "{{"',
        f'{at[5]:>8}  call 0     name "ther", arguments "}}"',
        f'{at[5]:>8}  call 1     id "c2", name "time"',
        f"{at[7]:>8}  completed  {summary}",
        '            call     "c1" "weather" "{}"',
        '            call     "c2" "time" ""',
    ]


def test_neighbours_are_merged_when_asked(show):
    shown = show(b"".join(STREAM), merge=True)
    at = [sum(map(len, STREAM[:number])) for number in range(len(STREAM))]
    *merged, last = shown.lines
    assert merged == [
        {"offset": at[0], "reasoning": {"source": "reasoning_content", "text": "let me"}},
        {"offset": at[2], "text": "so\n\x1b[2J\u202e\u0085"},
        {"offset": at[4], "tool_call_delta": {"index": 0, "id": "c1", "name": "weather", "arguments": "{}"}},
        {"offset": at[5], "tool_call_delta": {"index": 1, "id": "c2", "name": "time"}},
    ]
    assert last["completed"] == show(b"".join(STREAM)).lines[-1]["completed"]


def test_what_was_merged_comes_before_the_error(show):
    shown = show(STREAM[0] + STREAM[1] + b"data: {\n\n", merge=True)
    assert [line.get("reasoning", {}).get("text") for line in shown.lines] == ["let me", None]
    assert shown.failure["kind"] == "protocol"


def test_the_json_is_the_serialized_form_beside_the_offset(show):
    for line in show(b"".join(STREAM)).lines:
        offset = line.pop("offset")
        event = svir.from_dict(svir.Event, line)
        assert svir.to_dict(event) == line
        assert isinstance(offset, int)


def test_the_calls_of_an_answer_that_was_cut_are_shown_as_such(show):
    stream = STREAM[4] + chunk({}, "length") + DONE
    assert b'  cut      "c1" "wea" "{"\n' in show(stream, as_json=False).out


def test_an_error_shows_the_piece_where_it_is_and_says_the_rest_on_standard_error(show):
    data = HEAD + b"\r\n" + STREAM[2] + chunk({"audio": 1}) + STOP + DONE
    shown = show(data, as_json=False)
    at = len(HEAD) + 2 + len(STREAM[2])
    *_, last = shown.out.decode().splitlines()
    assert last.startswith(f'{at:>8}  error      data: {{"id":"c","model":"m","cho')
    assert shown.err == (
        f"svir: not supported: an unknown key in a delta (event 2, byte {at} of the file); "
        "--lenient skips it\n"
        "The piece shown is what the server sent.\n"
    )
    assert shown.code == 19


def test_an_option_that_was_given_is_not_advised(show):
    shown = show(chunk({"content": []}), lenient=True)
    assert "--lenient" not in shown.err
    assert shown.code == 19


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", 14, "it wants a key"),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", 19, "no such path or model"),
        (b"HTTP/1.1 302 Found\r\nlocation: /x\r\n\r\n", 19, "redirects to another address"),
        (b'HTTP/1.1 429 Oh\r\nretry-after: 7\r\n\r\n{"error":{"message":"slow"}}', 12, '"slow"'),
        (b"HTTP/1.1 503 Oh\r\n\r\n", 10, "HTTP 503"),
        (b"HTTP/1.1 504 Oh\r\n\r\n", 11, "gave up"),
        (b"HTTP/2 400 \r\n\r\n" + b'{"error":{"code":"context_length_exceeded"}}', 15, "too long"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>\x1b[2J", 19, "This is HTML"),
        (b"HTTP/1.1 200 OK\r\n\r\n", 19, "is no event stream"),
        (HEAD + b"content-encoding: gzip\r\n\r\n\x1f\x8b\x08", 19, "encoded"),
        (b"<!DOCTYPE html>\n<html>\n", 19, "svir: this is HTML or XML and no event stream\nMostly"),
        (b'{"error": {"message": "no"}}', 13, "svir: this is JSON and no event stream\nAn answer"),
        (HEAD + b'\r\n{"choices": []}', 13, "svir: this is JSON and no event stream\nAn answer"),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", 19, "\nThis is JSON: an answer"),
        (b"\x1f\x8b\x08\x00\xff\n", 17, "compressed"),
        (b"", 13, "svir: the recording is empty\n"),
        (HEAD + b"\r\n", 13, "the stream ended before a finish reason"),
        (b": ping\n\n", 13, "the stream ended before a finish reason"),
        (b"\xef\xbb\xbfid: 1\n\n", 13, "the stream ended before a finish reason"),
        (b"mood: calm\ndata: {}\n\n", 19, "an unknown event stream field (event 1, byte 0"),
        (b"\n\n", 13, "svir: this looks like no recording of an event stream\n"),
        (b"import re\n\ndata = 1\n", 19, "svir: this looks like no recording of an event stream\n"),
        (bytes(range(256)) * 20, 19, "svir: this looks like no recording of an event stream\n"),
        (b"data: {}\n\n", 17, "a chunk without choices"),
    ],
)
def test_whatever_the_file_holds_is_said_in_two_plain_lines(show, data, code, said):
    for as_json in (True, False):
        shown = show(data, as_json=as_json)
        assert shown.code == code
        assert said in shown.err
        assert len(shown.err.splitlines()) == 2
        assert not [c for c in shown.err + shown.out.decode() if ord(c) < 32 and c != "\n"]


@pytest.mark.parametrize("data", [b"", b"import re\n", b"{}", b"<html>"])
def test_what_is_no_recording_is_said_in_lenient_mode_too(show, data):
    shown = show(data, lenient=True)
    assert "cut off" not in shown.err
    assert "lenient" not in shown.err


@pytest.mark.parametrize("size", range(1, 12))
def test_a_field_is_seen_wherever_the_reads_end(size):
    file = io.BytesIO(b"mood: calm\nretry: 5\n")
    recording = Recording(lambda _: file.read(size))
    recording.open()
    while recording.piece():
        pass
    assert recording.fields


def test_lenient_mode_names_html_too(show):
    shown = show(b"<!DOCTYPE html>\n<html>\n", lenient=True)
    assert shown.code == 13
    assert "this is HTML" in shown.err


def test_limits_and_think_are_those_of_the_decoder(show):
    stream = chunk({"content": "<think>a</think>b"}) + STOP + DONE
    assert [[*line][1] for line in show(stream).lines] == ["reasoning", "text", "completed"]
    assert [[*line][1] for line in show(stream, think="keep").lines] == ["text", "completed"]
    shown = show(stream, limits=svir.Limits(wire_bytes=30))
    assert (shown.code, shown.lines[-1]["offset"]) == (20, 30)
    assert "--limit NAME=N allows more" in shown.err


def test_texts_are_shown_as_json_and_bytes_as_text():
    assert quoted('a "b" \\') == '"a \\"b\\" \\\\"'
    assert quoted("\u65e5\u2028") == '"\u65e5\\u2028"'
    assert quoted("\u202e\u200b\U000e0041") == '"\\u202e\\u200b\\udb40\\udc41"'
    assert plain(b"caf\xc3\xa9 \xc3 \x00") == "caf\xe9 \\xc3 \\x00"
    assert plain(b"x" * 400) == "x" * 240 + " ... " + "x" * 80
