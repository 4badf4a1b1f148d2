"""Where in the file an event or an error is: compared with what the bytes alone say."""

from __future__ import annotations

import json
import re

import pytest

import svir
from svir.openai.chat import Decoder
from tests.cli.decode.wrapped import HEAD, WAYS, places, wrap
from tests.support.streams import CASES, DONE, STOP, chunk, own_streams

STREAMS = own_streams()
TEXT = chunk({"content": "Herons "})
NOTHING = b": ping\n\n"


def options(name):
    """How a case is read."""
    given = json.loads((CASES / f"{name}.json").read_text("ascii")).get("options", {})
    return {"limits": svir.Limits(**given.get("limits", {})), "think": given.get("think", "split")}


def error_of(body, lenient, given):
    decoder = Decoder("lenient" if lenient else "strict", **given)
    try:
        for _ in decoder.push(body):
            pass
        decoder.finish()
    except svir.Error as error:
        return error
    return None


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("lenient", [False, True], ids=["strict", "lenient"])
def test_an_error_of_any_case_is_found_where_the_decoder_says_however_it_was_recorded(show, turn, lenient):
    for number, (name, body) in enumerate(STREAMS.items()):
        way = list(WAYS)[(5 * number + turn) % len(WAYS)]
        given = options(name)
        error = error_of(body, lenient, given)
        data = wrap(way, body, number)
        where = [*places(data), len(data)]
        shown = show(data, lenient=lenient, **given)
        assert (shown.failure is None) == (error is None), name
        if error is None:
            continue
        assert shown.failure["kind"] == error.kind
        assert shown.failure.get("event") == error.place.event
        if error.place.byte < len(body):
            offset = where[error.place.byte]
            assert shown.lines[-1]["offset"] == offset
        else:  # behind the last byte: the end of the last piece
            assert where[len(body) - 1] < shown.lines[-1]["offset"] <= len(data) if body else True
        assert f"byte {shown.lines[-1]['offset']} of the file" in shown.err or not data


@pytest.mark.parametrize("way", WAYS)
def test_the_piece_of_an_error_is_the_event_that_begins_there(show, way):
    body = TEXT + NOTHING + chunk({"content": "fish", "audio": {"id": "\x1b[2J"}}) + STOP + DONE
    data = wrap(way, body, 7)
    shown = show(data)
    at = len(TEXT) + len(NOTHING)
    assert shown.lines[-1]["offset"] == places(data)[at]
    assert shown.failure["piece"] == body[at:].split(b"\n")[0].decode()
    assert (shown.failure["kind"], shown.failure["event"]) == ("unsupported", 2)
    assert show(data, lenient=True).code == 0


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 50, None])
def test_events_are_found_between_comments_empty_lines_and_other_fields(show, ending, size):
    body = (
        b": hello\n\n\nid: 1\n"
        + TEXT
        + b"\n\n: a\n: b\nevent: message\n"
        + TEXT
        + b"id: only\n\n"
        + b"data: "
        + STOP.removeprefix(b"data: ").replace(b",", b",\ndata: ", 1)
        + b"\n"
        + DONE
    ).replace(b"\n", ending)
    shown = show(body, chunk=size)
    assert shown.code == 0
    starts = [body.index(b"id: 1"), body.index(b"event: message"), body.index(b"data: [DONE]")]
    assert [line["offset"] for line in shown.lines] == starts


def test_a_text_that_was_held_back_has_the_place_of_what_brought_it_out(show):
    body = chunk({"content": "a <thi"}) + chunk({"content": "s> b"}) + chunk({"content": " <th"})
    shown = show(body)
    first = len(chunk({"content": "a <thi"}))
    told = [(line["offset"], line["text"]) for line in shown.events]
    assert told == [
        (0, "a "),
        (first, "<this> b"),
        (first + len(chunk({"content": "s> b"})), " "),
        (0, "<th"),
    ]
    assert shown.failure["kind"] == "truncated_stream"


def test_the_byte_order_mark_belongs_to_no_event(show):
    shown = show(b"\xef\xbb\xbf" + TEXT + b"hm: 1\n")
    assert shown.lines[0]["offset"] in {0, 3}
    assert shown.lines[1]["offset"] == 3 + len(TEXT)


def test_what_is_kept_does_not_grow_with_the_recording():
    from svir.cli.decode._guide import Guide

    guide, at = Guide(Decoder(clock=lambda: 0.0)), 0
    data = (TEXT + NOTHING) * 3
    for _ in range(2000):
        for size in (1, 7, 100):
            guide.feed(at, data[:size])
            data, at = data[size:] + data[:size], at + size
        while guide._found:
            guide.place(guide._found[0][1])
    assert len(guide._pieces) <= len(data)
    assert len(guide.excerpt) <= len(data)


# The framing of HTTP itself


@pytest.mark.parametrize(
    ("data", "kind", "at"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-", "truncated_stream", None),
        (b"HTTP/1.1 200 OK\r\nno field\r\n\r\n" + TEXT, "protocol", 0),
        (b"HTTP/1.1 2xx\r\n\r\n" + TEXT, "protocol", 0),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "protocol", 0),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000, "protocol", 192 * 1024),
        (HEAD + b"content-length: 1000\r\n\r\n" + TEXT, "truncated_stream", None),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\ndata:\r\nzz\r\n", "protocol", -6),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\ndata:", "truncated_stream", None),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\ndata:XX3\r\n", "protocol", -5),
    ],
)
def test_broken_framing_is_told_with_its_place(show, data, kind, at):
    shown = show(data)
    end = len(data)
    offset = end if at is None else end + at if at < 0 else at
    assert (shown.failure["kind"], shown.lines[-1]["offset"]) == (kind, offset)
    assert f"(byte {offset} of the file)" in shown.err
    assert re.fullmatch(r"svir: [^\n]+\n[^\n]+\n", shown.err)
