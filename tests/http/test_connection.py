"""The HTTP/1.1 of one exchange, without a network."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import svir
from svir.http import Headers, HttpRequest, Origin
from svir.http._connection import HEAD_BYTES, Connection
from tests.http.faces import Bytes, assert_clean
from tests.support.loopback import chunked, ok


def request(**changes) -> HttpRequest:
    fields = {
        "method": "POST",
        "origin": Origin("http", "example.org", 80),
        "target": "/v1",
        "headers": Headers(),
        "body": Bytes(b"{}"),
    }
    return HttpRequest(**(fields | changes))


def begun(**changes) -> Connection:
    """A connection whose request has been sent."""
    connection = Connection(request(**changes))
    body = changes.get("body", Bytes(b"{}"))
    for block in body or ():
        connection.block(block)
    connection.end()
    return connection


def answered(*segments: bytes, eof: bool = False):
    """What becomes of an answer: status, body, the error's kind, and whether the connection can be reused."""
    connection = begun()
    for segment in segments:
        connection.receive(segment)
    if eof:
        connection.receive_eof()
    body, kind = b"", None
    try:
        while piece := connection.piece():
            body += piece
    except svir.Error as error:
        kind = error.kind
    return connection.status, body, kind, connection.reusable


class TestRequest:
    def test_the_head_has_host_first_and_the_exact_length(self):
        head = bytes(Connection(request(headers=Headers([("a", "b")]), body=Bytes(b"12", b"345"))).head())
        assert head == b"POST /v1 HTTP/1.1\r\nhost: example.org\r\na: b\r\ncontent-length: 5\r\n\r\n"

    def test_a_get_without_body_has_no_length_and_an_empty_post_has_zero(self):
        assert b"content-length" not in bytes(Connection(request(method="GET", body=None)).head())
        assert b"content-length: 0\r\n" in bytes(Connection(request(body=None)).head())

    @pytest.mark.parametrize(
        ("origin", "host"),
        [
            (Origin("http", "::1", 8080), b"host: [::1]:8080\r\n"),
            (Origin("https", "example.org", 443), b"host: example.org\r\n"),
            (Origin("https", "example.org", 80), b"host: example.org:80\r\n"),
        ],
    )
    def test_the_host_has_brackets_and_port_where_they_belong(self, origin, host):
        assert host in bytes(Connection(request(origin=origin)).head())

    @pytest.mark.parametrize(
        "changes",
        [
            {"method": "PO ST"},
            {"target": "v1"},
            {"target": "/v1 x"},
            {"target": "/v1\r\nx: evil"},
            {"target": "/v\u00e9"},
            {"origin": Origin("http", "exa mple", 80)},
            {"origin": Origin("http", "", 80)},
            {"origin": Origin("http", "a", 0)},
            {"origin": Origin("http", "a", 65536)},
            {"origin": Origin("ftp", "a", 80)},
            {"origin": Origin("http", "evil\r\nx", 80)},
            {"headers": Headers([("x y", "evil")])},
            {"headers": Headers([("", "evil")])},
            {"headers": Headers([("x", "evil\r\ny: z")])},
            {"headers": Headers([("x", "evil\x00")])},
            {"headers": Headers([("x", "evil\x7f")])},
            {"headers": Headers([("x", "evil\u20ac")])},
            {"headers": Headers([("host", "evil")])},
            {"headers": Headers([("content-length", "3")])},
            {"headers": Headers([("transfer-encoding", "chunked")])},
            {"headers": Headers([("upgrade", "evil")])},
            {"headers": Headers([("expect", "100-continue")])},
        ],
    )
    def test_what_http_cannot_carry_is_refused_without_being_quoted(self, changes):
        with pytest.raises(svir.ConfigError) as caught:
            Connection(request(**changes))
        assert caught.value.unsent
        assert_clean(caught.value)

    def test_values_are_stripped_and_sent_as_latin_1(self):
        head = bytes(Connection(request(headers=Headers([("x", " caf\u00e9\t")]))).head())
        assert b"x: caf\xe9\r\n" in head

    @pytest.mark.parametrize("blocks", [[b"1234"], [b"1", b"234"]])
    def test_a_body_longer_than_announced_is_an_attachment_error(self, blocks):
        connection = Connection(request(body=Bytes(b"123")))
        with pytest.raises(svir.AttachmentError):
            for block in blocks:
                connection.block(block)

    def test_a_body_shorter_than_announced_is_an_attachment_error(self):
        connection = Connection(request(body=Bytes(b"123")))
        connection.block(b"12")
        with pytest.raises(svir.AttachmentError):
            connection.end()

    def test_the_head_is_not_shown_by_its_repr(self):
        assert "secret" not in repr(Connection(request(headers=Headers([("x", "secret")]))).head())


class TestAnswer:
    def test_status_headers_and_body(self):
        connection = begun()
        connection.receive(ok(b"hello", head=b"X-Y: caf\xe9\r\n"))
        assert connection.status == 200
        assert connection.headers.get("x-y") == "caf\u00e9"
        assert connection.piece() == b"hello"
        assert connection.piece() == b""
        assert connection.piece() == b""
        assert connection.reusable

    def test_pieces_of_one_read_are_joined(self):
        connection = begun()
        connection.receive(chunked(b"a", b"b", b"c"))
        assert connection.piece() == b"abc"

    @pytest.mark.parametrize(
        ("data", "body"),
        [
            (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
            (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", b""),
            (b"HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx", b"x"),
            (b"HTTP/1.1 200 OK\ncontent-length: 1\n\nx", b"x"),
            (b"HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n1\r\nx\r\n0\r\n\r\n", b"x"),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\ncontent-length: 9\r\n\r\n%s"
                % b"1\r\nx\r\n0\r\n\r\n",
                b"x",
            ),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%s"
                % b"01;a=b\r\nx\r\nA\r\n0123456789\r\n0\r\nt: v\r\n\r\n",
                b"x0123456789",
            ),
        ],
    )
    def test_shapes_of_whole_answers(self, data, body):
        assert answered(data) == (int(data[9:12]), body, None, True)

    @pytest.mark.parametrize(
        "data",
        [
            ok(head=b"connection: close\r\n"),
            b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
            ok() + b"\r\n",
            ok() + b"\n",
            ok() + ok(b"evil"),
            chunked(b"ok") + b"x",
            ok(head=b"connection: close\r\n") + b"x",
        ],
    )
    def test_a_connection_that_must_end_or_has_bytes_left_over_is_not_reused(self, data):
        assert answered(data) == (200, b"ok", None, False)

    def test_a_connection_is_not_reused_before_the_request_is_sent(self):
        connection = Connection(request(body=Bytes(b"12")))
        connection.block(b"1")
        connection.receive(ok())
        assert connection.piece() == b"ok"
        assert not connection.reusable

    def test_a_body_without_length_ends_with_the_connection(self):
        assert answered(b"HTTP/1.1 200 OK\r\n\r\nab", b"c") == (200, b"abc", None, False)
        assert answered(b"HTTP/1.1 200 OK\r\n\r\nab", b"c", eof=True) == (200, b"abc", None, False)

    @pytest.mark.parametrize(
        "data",
        [
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
            chunked(b"abc", end=False),
            chunked(b"abc", end=False) + b"5",
            chunked(b"abc", end=False) + b"5\r",
            chunked(b"abc", end=False) + b"0\r\n",
            chunked(b"ab", end=False) + b"5\r\nc",
        ],
    )
    def test_a_cut_body_is_a_truncated_stream_after_all_its_bytes(self, data):
        assert answered(data, eof=True) == (200, b"abc", "truncated_stream", False)

    @pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
    def test_an_end_before_the_head_is_a_transport_error(self, data):
        assert answered(data, eof=True) == (None, b"", "transport", False)

    @pytest.mark.parametrize(
        "data",
        [
            b"evil nonsense\r\n\r\n",
            b"\x16\x03\x01evil",
            b"HTTP/1.1 20 OK\r\n\r\n",
            b"HTTP/1.1 099 OK\r\n\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: evil\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nevil : x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nx: evil\x00\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: " + b"9" * 30 + b"\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        ],
    )
    def test_a_bad_head_is_a_protocol_error_that_quotes_nothing(self, data):
        connection = begun()
        connection.receive(data)
        assert connection.status is None
        with pytest.raises(svir.ProtocolError) as caught:
            connection.piece()
        assert_clean(caught.value)

    @pytest.mark.parametrize(
        "tail",
        [
            b"evil\r\n",
            b"-1\r\nx\r\n",
            b"5\r\nabcdefg\r\n",
            b"1\r\nxevil",
            b"G\r\n",
            b"\r\n",
            b"1 evil\r\nx\r\n",
        ],
    )
    def test_bad_chunks_are_a_protocol_error_after_the_good_ones(self, tail):
        status, body, kind, reusable = answered(chunked(b"abc", end=False) + tail)
        assert (status, kind, reusable) == (200, "protocol", False)
        assert body.startswith(b"abc")

    def test_interim_answers_are_skipped(self):
        assert answered(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * 200 + ok()) == (
            200,
            b"ok",
            None,
            True,
        )

    @pytest.mark.uncounted
    def test_endless_interim_answers_are_refused(self):
        assert answered(*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 9000)[2] == "protocol"

    @pytest.mark.parametrize("size", [1000, 65536])
    def test_a_head_of_64_kib_passes(self, size):
        head = ok(head=b"x: " + b"a" * (64 * 1024 - 60) + b"\r\n")
        assert answered(*[head[i : i + size] for i in range(0, len(head), size)]) == (200, b"ok", None, True)

    @pytest.mark.parametrize(
        "field", [b"x: " + b"a" * 256 * 1024 + b"\r\n", b"x: aaaaaaaaaaaa\r\n" * 16 * 1024]
    )
    @pytest.mark.parametrize("size", [1000, 65536, 10**9])
    def test_a_head_over_256_kib_never_passes(self, field, size):
        head = ok(head=field)
        assert answered(*[head[i : i + size] for i in range(0, len(head), size)])[2] == "protocol"

    def test_an_endless_line_is_refused_in_bounded_memory(self):
        connection = begun()
        for _ in range(1000):
            connection.receive(b"a" * 65536)
        with pytest.raises(svir.ProtocolError):
            connection.piece()
        assert len(connection._h11.trailing_data[0]) <= HEAD_BYTES

    def test_an_endless_chunk_extension_is_refused(self):
        assert answered(chunked(b"abc", end=False), b"5;", *[b"a" * 65536] * 5)[1:3] == (b"abc", "protocol")

    def test_the_error_is_told_again(self):
        connection = begun()
        connection.receive(b"nonsense\r\n\r\n")
        for _ in range(2):
            with pytest.raises(svir.ProtocolError):
                connection.piece()


def by_h11_alone(segments: list[bytes], eof: bool):
    """The body as h11 reads it, and how it ends: the referee of the fast path."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    body, end = b"", "open"
    for segment in [*segments, *([b""] if eof else [])]:
        if end != "open":
            break
        connection.receive_data(segment)
        while end == "open":
            try:
                event = connection.next_event()
            except h11.RemoteProtocolError:
                end = "failed"
                break
            if isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                end = "whole"
            elif event is h11.NEED_DATA or event is h11.PAUSED:
                break
    return body, end


def by_us(segments: list[bytes], eof: bool):
    connection = begun(method="GET", body=None)
    for segment in segments:
        connection.receive(segment)
    if eof:
        connection.receive_eof()
    body = b""
    try:
        while piece := connection.piece():
            body += piece
    except svir.Error:
        return body, "failed"
    return body, "whole" if piece == b"" else "open"


def cut_up(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(places)]


framing = st.lists(
    st.one_of(
        st.binary(min_size=1, max_size=20).map(lambda piece: b"%x\r\n%s\r\n" % (len(piece), piece)),
        st.binary(min_size=1, max_size=20).map(lambda piece: b"%06X\r\n%s\r\n" % (len(piece), piece)),
        st.binary(min_size=1, max_size=20).map(lambda piece: b"%x;e=1\r\n%s\r\n" % (len(piece), piece)),
        st.sampled_from([b"1\r\n", b"\r\n", b"5\r\n5\r\n5", b"0\r\n\r\n", b"\n", b"2 \r\nab\r\n"]),
    ),
    max_size=8,
).map(b"".join)


class TestFastPath:
    """Whole chunks are cut out beside h11, which must never be noticed."""

    @pytest.mark.uncounted
    @settings(max_examples=600, deadline=None)
    @given(
        framing,
        st.sampled_from([b"0\r\n\r\n", b"0\r\nt: v\r\n\r\n", b"", b"zz"]),
        st.lists(st.integers(0, 10**6), max_size=12),
        st.sampled_from([b"\r\n", b"\n"]),
        st.booleans(),
    )
    @example(b"1\r\n000003\r\n\0\0\0\r\n", b"0\r\n\r\n", [44, 50], b"\r\n", False)  # in the blank line
    def test_any_chunked_body_cut_anywhere_reads_as_with_h11_alone(self, body, end, cuts, newline, eof):
        head = newline.join([b"HTTP/1.1 200 OK", b"transfer-encoding: chunked", b"", b""])
        segments = cut_up(head + body + end, cuts)
        assert by_us(segments, eof) == by_h11_alone(segments, eof)

    @pytest.mark.uncounted
    @settings(max_examples=300, deadline=None)
    @given(
        st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=5),
        st.integers(0, 200),
        st.binary(max_size=3),
        st.lists(st.integers(0, 10**6), max_size=6),
    )
    def test_any_damage_reads_as_with_h11_alone(self, pieces, place, damage, cuts):
        data = chunked(*pieces)
        place %= len(data)
        segments = cut_up(data[:place] + damage + data[place + 1 :], cuts)
        assert by_us(segments, True) == by_h11_alone(segments, True)

    def test_a_body_one_byte_a_read(self):
        data = chunked(*[b"x" * size for size in range(1, 40)])
        assert by_us([data[i : i + 1] for i in range(len(data))], False)[1] == "whole"

    def test_whole_chunks_do_not_pass_through_h11(self):
        connection = begun()
        connection.receive(chunked(b"a", end=False))
        seen = []
        connection._h11.receive_data = seen.append
        connection.receive(b"3\r\nabc\r\n" * 100)
        assert connection.piece() == b"a" + b"abc" * 100
        assert seen == []


@pytest.mark.uncounted
@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.binary(max_size=300), st.binary(max_size=60).map(lambda tail: ok()[:-4] + tail)),
    st.lists(st.integers(0, 10**6), max_size=4),
)
def test_any_bytes_end_in_an_answer_or_an_error_of_svir(data, cuts):
    assert answered(*cut_up(data, cuts), eof=True)[2] in {None, "transport", "protocol", "truncated_stream"}
