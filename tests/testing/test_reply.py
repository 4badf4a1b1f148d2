"""The words replies are written in: how they show themselves, and what is refused when it is written."""

from __future__ import annotations

import pytest

import svir
from svir import TextDelta, ToolCall
from svir.testing import MockServer, Reply, ScriptedBackend
from svir.testing._acts import Cut, Pause, Send, Stall


def sent(reply):
    return b"".join(act.data for act in reply.acts() if isinstance(act, Send))


def test_a_reply_shows_itself_as_it_was_written():
    assert repr(Reply(text="Hi", finish="length")) == "Reply(text='Hi', finish='length')"
    assert repr(Reply()) == "Reply()"
    assert repr(Reply(raw=b"")) == "Reply(raw=b'')"
    reply = Reply(text="a b").pace(0.5).delay(1).cut(after=1, reset=True)
    assert repr(reply) == "Reply(text='a b').pace(0.5).delay(1).cut(reset=True, after=1)"
    assert repr(Reply(text="a").cut().stall(after=0)) == "Reply(text='a').cut().stall(after=0)"
    assert len(repr(Reply(text="long " * 1000))) < 120


def test_acts_stand_where_they_were_put():
    reply = Reply(text="a b").delay(1).delay(2, after=0).pace(0.5).stall(after=1).cut(after=2)
    kinds = [type(act) if isinstance(act, Send) else act for act in reply.acts()]
    pace = Pause(0.5)
    assert kinds == [
        *(Pause(1), Send, Pause(2)),
        *(pace, Send, Stall(), pace, Send, Cut(), pace, Send, pace, Send),
        Send,  # the end of the chunks
    ]


def test_a_reply_may_be_played_again():
    reply = Reply(text="again", calls=iter([ToolCall("c-1", "f")]))
    assert list(reply.acts()) == list(reply.acts())
    with ScriptedBackend([reply, reply]) as backend:
        client = svir.Client.openai("http://127.0.0.1", model="m", backend=backend)
        assert client.complete("one").calls == client.complete("two").calls != ()


def test_a_stream_is_chunked_and_anything_else_has_a_length():
    head, _, body = sent(Reply(text="Hi")).partition(b"\r\n\r\n")
    assert head == b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked"
    assert body.endswith(b"\r\n0\r\n\r\n")
    assert sent(Reply(body="\u00e9")) == (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 2\r\n\r\n\xc3\xa9"
    )
    assert sent(Reply(status=204)).startswith(b"HTTP/1.1 204 No Content\r\n")
    assert sent(Reply(status=299, body=[])).startswith(b"HTTP/1.1 299 Scripted\r\n")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"text": "x", "events": []}, "events= and text= exclude each other"),
        ({"models": ["a"], "raw": b"x"}, "models= and raw= exclude each other"),
        ({"body": "x", "calls": [ToolCall("c", "f")]}, "body= and calls= exclude each other"),
        ({"text": "x", "status": 500}, "an answer has the status 200"),
        ({"models": ["a"], "status": 500}, "an answer has the status 200"),
        ({"raw": b"x", "status": 500}, "a status and headers of their own"),
        ({"raw": b"x", "headers": {"a": "b"}}, "a status and headers of their own"),
        ({"file": "x.http", "headers": {"a": "b"}}, "a status and headers of their own"),
        ({"file": "x.txt"}, "must end in .sse"),
        ({"file": "absent/x.sse"}, "the recording x.sse cannot be read: No such file or directory"),
        ({"status": 100}, "from 200 to 599"),
        ({"status": 600}, "from 200 to 599"),
        ({"headers": {"a b": "c"}}, "characters that HTTP does not allow"),
        ({"headers": {"a": "b\r\nc: d"}}, "characters that HTTP does not allow"),
        ({"headers": {"a": "\u20ac"}}, "characters that HTTP does not allow"),
        ({"headers": {"Content-Length": "3"}}, "frames the body"),
        ({"body": "\ud800"}, "not valid Unicode"),
        ({"body": object()}, "nothing that JSON can say"),
        ({"body": {"a": {1: {object()}}}}, "nothing that JSON can say"),
        ({"text": "\ud800"}, "not valid Unicode"),
        ({"finish": "bored"}, "finish must be one of"),
        ({"events": [svir.ToolCallDelta(3, "a", "f")]}, "no correct server sends such an answer"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_written(fields, problem):
    with pytest.raises(svir.ConfigError) as caught:
        Reply(**fields)
    assert problem in caught.value.detail
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "fields",
    [
        {"text": 1},
        {"text": b"x"},
        {"reasoning": 1},
        {"raw": "x"},
        {"raw": ["x"]},
        {"events": ["x"]},
        {"calls": [{"id": "1"}]},
    ],
)
def test_a_wrong_type_is_a_type_error(fields):
    with pytest.raises(TypeError):
        Reply(**fields)


@pytest.mark.parametrize(
    "modify",
    [
        lambda reply: reply.cut(after=5),
        lambda reply: reply.stall(after=-1),
        lambda reply: reply.delay(1, after=99),
    ],
)
def test_what_would_never_happen_is_refused(modify):
    with pytest.raises(svir.ConfigError, match="has 4 events to send, so nothing can happen after"):
        modify(Reply(text="one two"))


def test_a_delay_has_a_measure():
    for seconds in (-1, 3601, float("nan")):
        with pytest.raises(svir.ConfigError):
            Reply().delay(seconds)
    with pytest.raises(TypeError):
        Reply().pace("1")


def test_only_replies_and_texts_are_played():
    with pytest.raises(TypeError, match="a reply must be Reply or str"):
        MockServer([TextDelta("x")])
    with pytest.raises(TypeError):
        ScriptedBackend().play(None)


def test_the_body_of_a_request_is_read_as_far_as_it_can_be():
    from svir.testing import Received

    def body(content):
        return Received("POST", "/", "", {}, content).body

    assert body(b"") is None
    assert body(b'{"a": [1]}') == {"a": [1]}
    assert body(b"\xff") == b"\xff"
    assert body(b"[" * 100_000) == b"[" * 100_000
