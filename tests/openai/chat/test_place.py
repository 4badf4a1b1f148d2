"""Where an error says it is: judged by bytes alone, without the decoder's own framing."""

from __future__ import annotations

import json
import re

import pytest

import svir
from svir.openai.chat import Decoder
from tests.support.streams import CASES, own_streams, recorded_streams, strides

STREAMS = own_streams() | recorded_streams()


def options(name):
    path = CASES / f"{name}.json"
    given = json.loads(path.read_text()).get("options", {}) if path.exists() else {}
    return {"limits": svir.Limits(**given.get("limits", {})), "think": given.get("think", "split")}


def error_of(chunks, mode, given):
    decoder = Decoder(mode, **given)
    try:
        for data in chunks:
            for _ in decoder.push(data):
                pass
        decoder.finish()
    except svir.Error as error:
        return error
    return None


def whole_events(data):
    """How many events end in these bytes: blocks of lines with a field that is not a comment's."""
    lines = re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf"))
    count, counts = 0, False
    for line in lines[:-1]:
        if line:
            counts = counts or line.startswith((b"data", b"event"))
        else:
            count, counts = count + counts, False
    return count


@pytest.mark.parametrize("mode", ["strict", "lenient"])
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_an_error_of_a_stream_says_where_it_is(name, mode):
    given = options(name)
    for ending in (b"\n", b"\r\n"):
        data = STREAMS[name].replace(b"\n", ending)
        error = error_of([data], mode, given)
        if error is None:
            return
        place = error.place
        assert f"({place})" in error.detail
        # What comes before that byte is sound, and every cut gives the same.
        before = error_of(strides(data[: place.byte], 7), mode, given)
        assert before is None or before.detail.startswith("the stream ended")
        assert error_of(strides(data, 7), mode, given).place == place
        ended = error.detail.startswith("the stream ended")
        assert place.event == whole_events(data[: place.byte]) + (not ended)
        # It begins there: only a limit's is in the middle of a line.
        if error.kind != "response_limit":
            assert data[: place.byte].endswith((b"\n", b"\r", b"\xef\xbb\xbf")) or place.byte == 0


def test_the_place_is_a_value_of_its_own():
    assert str(svir.Place(3, 120)) == "event 3, byte 120"
    assert svir.Error("x").place is None
