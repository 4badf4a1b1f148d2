"""Every cut of a recording's bytes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import svir
from svir.cli._refused import RefusedError
from svir.cli.decode._cuts import differing_cut, outcome
from svir.cli.decode._playback import Playback
from svir.cli.decode._reading import Reading
from svir.cli.decode._recording import Recording
from svir.openai.chat import Decoder
from tests.cli.decode.wrapped import HEAD, wrap
from tests.support.streams import DONE, STOP, chunk, own_streams

WHOLE = chunk({"content": "caf\xe9"}) + chunk({"reasoning": "hm"}) + STOP + DONE
STREAMS = own_streams()


class Ticking(Reading, frozen=True):
    """A decoder whose clock ticks at every look, so that a completion tells how often it was looked at."""

    def decoder(self):
        return Decoder(self.mode, clock=itertools.count().__next__)


@pytest.mark.parametrize("name", sorted(STREAMS)[::9])
@pytest.mark.parametrize("lenient", [False, True])
def test_no_cut_makes_a_difference(name, lenient):
    body = STREAMS[name]
    assert differing_cut(body, Reading(lenient=lenient)) == (None, max(1, len(body) + (len(body) > 1)))


def test_a_difference_is_found_and_named():
    words, tried = differing_cut(WHOLE, Ticking())
    assert (words, tried) == ("byte by byte", 2)


def test_an_outcome_is_every_event_and_the_error():
    events, error = outcome([WHOLE], Reading())
    assert (len(events), error) == (3, None)
    events, error = outcome([chunk({"content": "a <thi"})], Reading())
    assert [event.text for event in events] == ["a ", "<thi"]
    assert error.kind == "truncated_stream"


def test_the_command_says_how_many_it_tried_and_the_one_outcome(show):
    data = wrap("chunked", WHOLE, 3)
    shown = show(data, every_cut=True)
    assert shown.code == 0
    assert [*shown.lines[0]] == ["cuts"]
    assert shown.lines[0]["cuts"] == len(WHOLE) + 1
    assert shown.lines[1]["completed"]["text"] == "caf\xe9"
    assert len(shown.lines) == 2


def test_a_stream_that_is_too_long_for_every_cut_is_refused_at_once(show):
    with pytest.raises(RefusedError, match="at most 64 KiB, "):
        show(chunk({"content": "word "}) * 1000 + STOP + DONE, every_cut=True)


def test_an_error_that_every_cut_has_is_told_with_its_place(show):
    data = HEAD + b"\r\n" + WHOLE[:-20]
    shown = show(data, every_cut=True)
    assert shown.lines[0]["cuts"] == len(WHOLE) - 20 + 1
    assert shown.failure["kind"] == "truncated_stream"
    assert shown.code == 13


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"HTTP/1.1 500 Oh\r\n\r\n", 10), (b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>", 19)],
)
def test_what_is_no_stream_has_no_cuts(show, data, code):
    shown = show(data, every_cut=True)
    assert (shown.code, len(shown.lines)) == (code, 1)
    assert json.loads(shown.out)["error"]["piece"] in {"", "<html>"}


@pytest.mark.parametrize("data", [b"", b"x"])
def test_a_stream_too_short_to_be_cut_is_decoded_all_the_same(show, data):
    shown = show(data, every_cut=True)
    assert shown.lines[0] == {"cuts": 1}
    assert shown.code == 13


def test_an_endless_stream_is_tried_as_far_as_its_limit():
    with Path("/dev/zero").open("rb") as file:
        limits = svir.Limits(wire_bytes=40_000, event_bytes=30)
        body = Playback(Recording(file.read), Reading(limits=limits)).body()
    assert 40_000 < len(body) < 60_000
