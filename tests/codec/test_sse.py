from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir.codec._fault import Fault
from svir.codec._sse import Framing
from svir.errors import ResponseLimitError
from tests.support.streams import cut, strides

LINES = st.sampled_from(
    [b"data: a", b"data:b", b"data", b"event: x", b"event:", b": note", b"id: 1", b"", b"", b"\xc3\xa9: 1"]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]))).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


def frames(chunks, limit=1 << 20, mode="lenient"):
    """The events of a stream, and the fault that ended it, or None."""
    framing, found = Framing(mode, limit), []
    try:
        for data in chunks:
            if framing.keep(data):
                continue
            whole, pos = framing.take(data), 0
            while pos < len(whole):
                frame, pos = framing.next(whole, pos)
                if frame is not None:
                    found.append((frame.type, frame.data, frame.at))
    except Fault as fault:
        return found, (fault.kind, fault.at)
    return found, None


def by_the_standard(data):
    """The events of a whole stream, in the plainest way: without places."""
    found, kind, lines = [], b"", None
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines():
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if lines is not None or kind:
                found.append((kind, lines))
            kind, lines = b"", None
        elif name == b"event":
            kind = value
        elif name == b"data":
            lines = value if lines is None else lines + b"\n" + value
    return found


@given(st.sampled_from([b"", b"\xef\xbb\xbf"]), STREAMS, st.data(), st.sampled_from([1 << 20, 20, 7]))
def test_events_do_not_depend_on_how_the_bytes_are_cut(mark, stream, data, limit):
    stream = mark + stream
    places = data.draw(st.lists(st.integers(0, len(stream))))
    whole = frames([stream], limit)
    assert frames(cut(stream, places), limit) == whole == frames(strides(stream, 1), limit)
    if limit > len(stream):
        assert [(kind, lines) for kind, lines, _ in whole[0]] == by_the_standard(stream)


def test_the_place_of_an_event_is_where_its_first_line_begins():
    assert frames([b"\xef\xbb\xbf: x\n\ndata: a\r\n\r\nid: 1\rdata: b\r\r"])[0] == [
        (b"", b"a", 8),
        (b"", b"b", 19),
    ]


def test_a_half_byte_order_mark_is_the_start_of_a_line():
    assert frames([b"\xef", b"\xbb", b"data: a\n\ndata: b\n\n"])[0] == [(b"", b"b", 11)]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_event_limit_strikes_at_the_first_byte_too_many(size):
    assert frames(strides(b"data: " + b"x" * 500, size), 100) == ([], (ResponseLimitError, 100))


@pytest.mark.uncounted
@pytest.mark.parametrize("part", [b"x", b": note\n", b"data: y\n", b"\r"])
def test_the_work_is_linear_in_the_number_of_pieces(part):
    def taken(count):
        started = time.process_time()
        frames([part] * count, 1 << 30)
        return time.process_time() - started

    taken(1000)
    # Ten times the pieces; a quadratic reader would take a hundred times as long.
    assert taken(100_000) < 40 * taken(10_000) + 0.1
