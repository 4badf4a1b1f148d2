"""Cassettes: what is recorded from a real server comes out again, without one; and what is never written."""

from __future__ import annotations

import json

import pytest

import svir
from svir import ToolCall, Usage
from svir.http import AsyncHttp11Backend
from svir.testing import AsyncCassette, Cassette, MockServer, Reply
from tests.support.faces import FACES, closing

KEY = "sk-very-secret-key/1"
NOWHERE = "http://127.0.0.1:9"
"""Nothing listens there: whoever asks it has a network."""


@pytest.fixture(params=FACES, ids=repr)
def face(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cassettes" / "answers.json"


def tape(face, path, **options):
    return (Cassette if face.blocking else AsyncCassette)(path, **options)


def play(face, url, cassette, scenario, **options):
    """Runs a scenario with a client on a cassette."""

    async def main():
        async with closing(face.client(url, model="m", backend=cassette, **options)) as client:
            return await scenario(client)

    return face.run(main)


def record(face, path, scenario, *replies, options=None, **more):
    """Runs a scenario against a server, and what is recorded from it."""
    with MockServer(replies) as server:
        cassette = tape(face, path, **more)
        assert cassette.recording
        return play(face, server.url, cassette, scenario, **(options or {}))


def replay(face, path, scenario, *, mode="once", **options):
    """Runs a scenario with what was recorded, and no server."""
    cassette = tape(face, path, mode=mode)
    assert not cassette.recording
    return play(face, NOWHERE, cassette, scenario, **options)


def without_time(completion):
    return [getattr(completion, name) for name in completion.__struct_fields__ if name != "timing"]


async def everything(client):
    answers = [await client.complete("one", system="Be brief."), await client.complete("two", max_tokens=5)]
    errors = []
    for text in ("three", "four", "five"):
        with pytest.raises(svir.Error) as caught:
            await client.complete(text)
        error = caught.value
        errors.append((error.kind, error.status, error.retry_after, error.server_message, error.partial))
    models = await client.models()
    async with client.send("six") as raw:
        data = b"".join([chunk async for chunk in raw])
    return [without_time(answer) for answer in answers], errors, models, data


REPLIES = (
    Reply(text="Hello th\u00e9re", usage=Usage(1, 2), headers={"x-request-id": "r-1"}),
    Reply(reasoning="hm", calls=[ToolCall("c-1", "weather", "{}")]),
    Reply(status=429, headers={"retry-after": "2"}, body={"error": {"message": "slow down"}}),
    Reply(text="half an answer").cut(after=2),
    Reply(text="half an answer").cut(after=1, reset=True),
    Reply(models=["small", "large"]),
    Reply(text="raw"),
)


def test_what_is_recorded_is_replayed(face, path):
    recorded = record(face, path, everything, *REPLIES)
    assert recorded[0][0][1] == "Hello th\u00e9re"
    assert [error[0] for error in recorded[1]] == ["rate_limited", "truncated_stream", "transport"]
    assert replay(face, path, everything) == recorded
    assert replay(face, path, everything, mode="replay") == recorded


def test_a_face_replays_what_another_recorded(path):
    recorded = record(FACES[0], path, everything, *REPLIES)
    for face in FACES[1:]:
        assert replay(face, path, everything) == recorded


def test_the_file_is_readable_ascii_json(path):
    record(FACES[0], path, everything, *REPLIES)
    data = path.read_bytes()
    assert data.isascii()
    value = json.loads(data)
    assert value["svir_cassette"] == 1
    first = value["exchanges"][0]
    assert first["request"] == {
        "method": "POST",
        "path": "/v1/chat/completions",
        "body": {
            "messages": [{"content": "Be brief.", "role": "system"}, {"content": "one", "role": "user"}],
            "model": "m",
            "stream": True,
            "stream_options": {"include_usage": True},
        },
    }
    assert first["response"]["status"] == 200
    assert first["response"]["end"] == "whole"
    assert first["response"]["text"][-2:] == ["data: [DONE]\n", "\n"]
    assert [one["response"]["end"] for one in value["exchanges"]] == [
        *("whole", "whole", "whole", "cut", "reset", "whole", "whole"),
    ]
    assert list(path.parent.iterdir()) == [path]


def test_secrets_are_never_written(face, path):
    async def scenario(client):
        with pytest.raises(svir.AuthenticationError) as caught:
            await client.complete("hi")
        assert KEY in caught.value.server_message  # while recording, nothing is changed
        await client.complete(f"my key is {KEY}")
        return await client.complete("hi again")

    echo = KEY.replace("/", "\\/")
    replies = (
        Reply(status=401, body=f'{{"error": {{"message": "wrong key {KEY}, {echo} \u00e9"}}}}'),
        Reply(
            text="ok",
            headers={"set-cookie": "session=abcdefgh", "x-echo": f"a {KEY} b", "X-Trace": "t-12345"},
        ),
        Reply(text=f"the header was team-secret and {KEY}"),
    )
    options = {
        "api_key": KEY,
        "headers": {"x-team": "team-secret"},
        "query": {"code": "query secret", "sig": "abc%20defghi"},
    }
    record(face, path, scenario, *replies, options=options, hide_headers=["x-trace"])
    written = path.read_text("ascii")
    for secret in (
        KEY,
        echo,
        "team-secret",
        "query",
        "abc%20defghi",
        "session",
        "x-trace",
        "t-12345",
        "Bearer",
    ):
        assert secret not in written
        assert secret.replace("/", "\\/").replace("\\", "\\\\") not in written
    entries = json.loads(written)["exchanges"]
    assert set(entries[1]["request"]) == {"method", "path", "sha256"}  # its body holds the key
    assert ["x-echo", f"a {'*' * len(KEY)} b"] in entries[1]["response"]["headers"]

    async def again(client):
        with pytest.raises(svir.AuthenticationError) as caught:
            await client.complete("hi")
        assert "wrong key *" in caught.value.server_message
        await client.complete(f"my key is {KEY}")
        return (await client.complete("hi again")).text

    # Another key, and no query: these are no part of the question.
    assert replay(face, path, again, api_key="sk-other") == f"the header was {'*' * 11} and {'*' * len(KEY)}"


def test_equal_questions_get_their_answers_in_order_and_others_in_any(face, path):
    async def ask(client, *texts):
        return [(await client.complete(text)).text for text in texts]

    record(face, path, lambda client: ask(client, "a", "b", "a"), "first a", "b!", "second a")
    assert replay(face, path, lambda client: ask(client, "b", "a", "a")) == ["b!", "first a", "second a"]


@pytest.mark.parametrize(
    ("texts", "options", "problem"),
    [
        (["other"], {}, "the next one recorded differs at $.messages[0].content"),
        (["a"], {"temperature": 0.5}, "the next one recorded differs at $.temperature"),
        (["a", "a"], {}, "its 1 answers have all been given"),
    ],
)
def test_a_question_that_was_not_recorded_is_an_error_that_says_how_it_differs(
    face, path, texts, options, problem
):
    async def ask(client):
        for text in texts:
            await client.complete(text, **options)

    record(face, path, lambda client: client.complete("a"), "one")
    with pytest.raises(svir.ConfigError) as caught:
        replay(face, path, ask)
    assert problem in caught.value.detail
    assert (
        "the cassette answers.json: nothing is recorded for POST /v1/chat/completions" in caught.value.detail
    )
    assert caught.value.unsent
    assert not caught.value.retryable


def test_another_path_is_another_question(path):
    record(FACES[0], path, lambda client: client.complete("a"), "one")
    with pytest.raises(svir.ConfigError, match="the next one recorded is POST /v1/chat/completions"):
        replay(FACES[0], path, lambda client: client.models())


def test_a_long_body_is_kept_as_a_digest(path):
    text = "long " * 20_000
    record(FACES[0], path, lambda client: client.complete(text), "one")
    assert len(path.read_bytes()) < 5_000
    assert replay(FACES[0], path, lambda client: client.complete(text)).text == "one"
    with pytest.raises(svir.ConfigError, match="differs in its body"):
        replay(FACES[0], path, lambda client: client.complete(text + "."))


def test_files_in_a_request_are_part_of_the_question(face, path, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("a note")

    def ask(client):
        return client.complete(svir.user("Read.", svir.TextFile(notes)))

    record(face, path, ask, "one")
    assert replay(face, path, ask).text == "one"
    notes.write_text("another")
    with pytest.raises(svir.ConfigError, match="messages"):
        replay(face, path, ask)


def test_an_answer_that_is_left_early_ends_there_in_the_replay(face, path):
    async def leave(client):
        async with client.stream("hi") as stream:
            return [await anext(stream), await anext(stream)]

    async def stay(client):
        with pytest.raises(svir.TruncatedStreamError) as caught:
            await client.complete("hi")
        return caught.value

    two = record(face, path, leave, Reply(text="one two three").stall(after=2))
    assert json.loads(path.read_bytes())["exchanges"][0]["response"]["end"] == "left"
    assert replay(face, path, leave) == two
    error = replay(face, path, stay)
    assert error.partial.text == "one two"
    assert "left here by its reader" in error.detail


def test_bytes_that_are_no_http_are_replayed_as_such(face, path):
    async def ask(client):
        with pytest.raises(svir.ProtocolError) as caught:
            await client.complete("hi")
        return caught.value.partial

    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"\xff"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    partial = record(face, path, ask, Reply(raw=head + b"nonsense\r\n"))
    assert json.loads(path.read_bytes())["exchanges"][0]["response"]["end"] == "broken"
    assert replay(face, path, ask) == partial
    path.unlink()
    record(face, path, ask, Reply(raw=head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(chunk), chunk)))
    assert "base64" in json.loads(path.read_bytes())["exchanges"][0]["response"]
    replay(face, path, ask)


def test_a_time_out_ends_nothing_and_the_rest_is_left(path):
    async def ask(client):
        with pytest.raises(svir.RequestTimeoutError):
            await client.complete("hi")

    record(FACES[0], path, ask, Reply(text="one two").stall(after=1), options={"idle_timeout": 0.25})
    assert json.loads(path.read_bytes())["exchanges"][0]["response"]["end"] == "left"


def test_a_request_that_fails_before_its_answer_is_not_recorded(face, path):
    async def ask(client):
        with pytest.raises(svir.TransportError):
            await client.complete("hi")
        return await client.complete("hi")

    record(face, path, ask, Reply(raw=b"").cut(), "one")
    assert len(json.loads(path.read_bytes())["exchanges"]) == 1


def test_nothing_is_written_when_nothing_was_asked(path):
    cassette = Cassette(path)
    assert repr(cassette) == "Cassette('answers.json', recording 0 answers)"
    cassette.close()
    assert not path.exists()


def test_the_modes(path):
    def ask(client):
        return client.complete("hi")

    assert record(FACES[0], path, ask, "old").text == "old"
    assert repr(Cassette(path)) == "Cassette('answers.json', replaying 1 answers)"
    assert record(FACES[0], path, ask, "new", mode="record").text == "new"
    assert replay(FACES[0], path, ask).text == "new"
    with pytest.raises(svir.ConfigError, match="mode must be once, replay or record"):
        Cassette(path, mode="twice")
    with pytest.raises(TypeError):
        Cassette(path, hide_headers="x-trace")
    with pytest.raises(TypeError):
        Cassette(path, hide_headers=[1])


def test_a_missing_file_is_told(path):
    for kind in (Cassette, AsyncCassette):
        with pytest.raises(
            svir.ConfigError, match=r"the cassette answers.json: it cannot be read: No such file"
        ):
            kind(path, mode="replay")


def test_a_file_that_cannot_be_written_is_told(face, tmp_path):
    (tmp_path / "folder").write_text("no folder")
    with pytest.raises(svir.ConfigError, match=r"the cassette answers.json: it cannot be written"):
        record(face, tmp_path / "folder" / "answers.json", lambda client: client.complete("hi"), "one")

    async def twice(client):
        assert (await client.complete("hi")).text == "one"
        with pytest.raises(svir.ConfigError, match="it cannot be written"):
            await client.complete("hi")

    with pytest.raises(svir.ConfigError):
        record(face, tmp_path / "folder" / "answers.json", twice, "one")


def test_a_closed_response_is_not_read_on(face, path):
    async def close(client):
        stream = client.stream("hi")
        await stream.open()
        response = (stream.inner if face.blocking else stream)._reply.response
        response.close()
        with pytest.raises(svir.TransportError, match="closed by this program"):
            await stream.complete()

    record(face, path, lambda client: client.complete("hi"), "one")
    replay(face, path, close)


def test_a_backend_that_closes_by_an_awaitable_is_awaited(path):
    class Slow(AsyncHttp11Backend):
        ended = False

        def close(self):
            super().close()
            return self.end()

        async def end(self):
            self.ended = True

    slow = Slow()
    with MockServer(["one"]) as server:
        play(FACES[1], server.url, AsyncCassette(path, slow), lambda client: client.complete("hi"))
    assert slow.ended


def test_other_calls_of_the_seam_are_the_backends(face, path):
    async def scenario():
        backend = tape(face, path)
        if face.blocking:
            backend.sleep(0)
            return backend.call(lambda: 3)
        await backend.sleep(0)
        return await backend.call(lambda: 3)

    assert face.run(scenario) == 3
