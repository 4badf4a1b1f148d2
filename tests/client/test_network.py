"""Clients over real loopback sockets: reuse, deadlines, cancellation, closing, threads, fork."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import warnings

import pytest
import trio

import svir
from tests.support.chat import answer, chunk, pieces
from tests.support.faces import ASYNC_FACES, closing
from tests.support.loopback import (
    Await,
    Call,
    Flood,
    Gone,
    Loopback,
    Request,
    Send,
    Signal,
    Stall,
    Take,
    Trickle,
    chunked,
)

LATE = 3.0
"""Seconds a deadline may be late in real time; the promise is less, the machine may be busy."""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WHOLE = chunked(answer("a"))


def piece(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def run(face, server, scenario, **options):
    async def whole():
        async with closing(face.client(server.url, **{"model": "m", **options})) as client:
            return await scenario(client)

    return face.run(whole)


def test_twenty_requests_go_over_one_connection(face):
    async def scenario(client):
        for _ in range(10):
            assert (await client.complete("hi")).text == "a"
        for _ in range(5):
            async with client.stream("hi") as stream:
                assert [text async for text in stream.text()] == ["a"]
        for _ in range(4):
            async with client.stream("hi") as stream:
                async for event in stream:
                    if isinstance(event, svir.Completed):
                        break
        await client.models()

    listing = b'{"data": []}'
    models = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(listing), listing)
    acts = [act for _ in range(19) for act in (Request(), Send(WHOLE))] + [Request(), Send(models), Gone()]
    with Loopback(acts) as server:
        run(face, server, scenario)
    assert (server.opened, len(server.requests)) == (1, 20)


def test_a_connection_is_not_used_again_after_an_error(face):
    # Many servers close it then, some without a word, and the lean retry must not go out on such a one.
    async def scenario(client):
        with pytest.raises(svir.RateLimitError):
            await client.complete("hi")
        return await client.complete("hi")

    busy = b"HTTP/1.1 429 Busy\r\ncontent-length: 2\r\n\r\n{}"
    with Loopback([Request(), Send(busy), Gone()], [Request(), Send(WHOLE), Gone()]) as server:
        assert run(face, server, scenario).text == "a"


def test_a_stream_left_early_shuts_its_connection(face):
    async def scenario(client):
        async with client.stream("hi") as stream:
            assert (await anext(stream)).text == "a"
        gone.wait(5)
        return (await client.complete("hi")).text

    gone = threading.Event()
    with Loopback(
        [Request(), Send(HEAD + piece(pieces("a", "b"))), Gone(gone)], [Request(), Send(WHOLE), Gone()]
    ) as server:
        assert run(face, server, scenario) == "a"
    assert gone.is_set()
    assert server.opened == 2


def test_a_server_that_never_ends_its_body_costs_the_drain_and_the_connection(face):
    async def scenario(client):
        started = time.monotonic()
        done = await client.complete("hi")
        assert 0.2 < time.monotonic() - started < 0.25 + LATE
        return done.text

    with Loopback([Request(), Send(HEAD + piece(answer("a"))), Gone()]) as server:
        assert run(face, server, scenario) == "a"


# Deadlines in real time

TRICKLED_HEAD = Trickle(b"HTTP/1.1 200 OK\r\nx-slow: " + b"y" * 500)
COMMENTS = Trickle(piece(b":\n\n") * 100)
MORE_TEXT = Trickle(piece(pieces("b")) * 20, every=0.001)


@pytest.mark.parametrize(
    ("acts", "options", "says"),
    [
        ([Request(), Stall()], {"timeout": 0.2}, "not complete within 0.2 s"),
        ([Request(), Stall()], {"idle_timeout": 0.2}, "silent for 0.2 s"),
        ([Request(), TRICKLED_HEAD], {"timeout": 0.2}, "not complete within 0.2 s"),
        ([Request(), Send(HEAD), Stall()], {"idle_timeout": 0.2}, "silent for 0.2 s"),
        ([Request(), Send(HEAD), COMMENTS], {"timeout": 0.2, "idle_timeout": 5}, "not complete within 0.2 s"),
        (
            [Request(), Send(HEAD), MORE_TEXT],
            {"timeout": 0.2, "idle_timeout": 5},
            "not complete within 0.2 s",
        ),
    ],
    ids=[
        "head stalls",
        "head is silent",
        "head trickles",
        "body is silent",
        "comments only",
        "text trickles",
    ],
)
def test_a_deadline_holds_in_every_phase(face, acts, options, says):
    async def scenario(client):
        started = time.monotonic()
        with pytest.raises(svir.RequestTimeoutError) as caught:
            await client.complete("hi")
        took = time.monotonic() - started
        assert 0.19 < took < 0.2 + LATE
        return caught.value

    with Loopback(acts) as server:
        error = run(face, server, scenario, **options)
    assert says in str(error)
    assert error.retryable
    assert not error.unsent
    assert error.status is None


def test_a_first_token_deadline_of_a_layer_is_not_moved_by_comments(face):
    async def layer(request, following):
        stream = await following(request)
        stream.first_token_by(time.monotonic() + 0.2)
        return stream

    async def scenario(client):
        started = time.monotonic()
        with pytest.raises(svir.RequestTimeoutError, match="nothing of the answer came"):
            await client.complete("hi")
        assert 0.19 < time.monotonic() - started < 0.2 + LATE

    with Loopback([Request(), Send(HEAD), COMMENTS]) as server:
        run(face, server, scenario, layers=[face.layer(layer)])


@pytest.mark.parametrize("status", [401, 429, 500])
def test_an_errors_body_that_never_comes_costs_300_ms(face, status):
    async def scenario(client):
        started = time.monotonic()
        with pytest.raises(svir.Error) as caught:
            await client.complete("hi")
        assert 0.25 < time.monotonic() - started < 0.3 + LATE
        assert caught.value.status == status

    head = b"HTTP/1.1 %d No\r\ncontent-length: 100\r\n\r\n{" % status
    with Loopback([Request(), Send(head), Gone()]) as server:
        run(face, server, scenario)


def test_a_server_that_stops_reading_is_met_by_the_idle_time_and_the_total(face, tmp_path):
    big = tmp_path / "big.png"
    big.write_bytes(b"\x89PNG" + bytes(24 * 1024 * 1024))

    async def scenario(client):
        for options in ({"idle_timeout": 0.3}, {"timeout": 0.3}):
            started = time.monotonic()
            with pytest.raises(svir.RequestTimeoutError) as caught:
                await client.with_options(**options).complete(svir.user("look", svir.Image(big)))
            assert 0.29 < time.monotonic() - started < 0.3 + LATE
            assert not caught.value.unsent

    with Loopback(*([Take(100), Stall()] for _ in range(2))) as server:
        run(face, server, scenario)


def test_an_answer_that_comes_while_the_body_is_sent_is_read(face, tmp_path):
    big = tmp_path / "big.png"
    big.write_bytes(bytes(24 * 1024 * 1024))

    async def scenario(client):
        with pytest.raises(svir.UnsupportedError) as caught:
            await client.complete(svir.user("look", svir.Image(big, media_type="image/png")))
        return caught.value

    told = b'{"error": {"message": "Too big"}}'
    early = b"HTTP/1.1 413 Too Large\r\ncontent-length: %d\r\n\r\n%s" % (len(told), told)
    with Loopback([Take(100), Send(early), Gone()]) as server:
        error = run(face, server, scenario)
    assert (error.status, error.server_message) == (413, "Too big")


# Closing from elsewhere

# What the server has sent while the reader waits: nothing, or the head.
BEGUN = {"head": [], "body": [Send(HEAD)]}


@pytest.mark.parametrize(
    ("phase", "whole"),
    [("head", True), ("head", False), ("body", True), ("body", False)],
    ids=["client-head", "stream-head", "client-body", "stream-body"],
)
def test_a_blocking_reader_is_woken_from_another_thread(phase, whole):
    reading = threading.Event()
    acts = [Request(), *BEGUN[phase], Signal(reading), Gone()]
    with Loopback(acts) as server, svir.Client.openai(server.url, model="m") as client:
        stream = client.stream("hi")
        if phase == "body":
            stream.open()

        def close():
            reading.wait(5)
            time.sleep(0.05)  # so that the reader waits; if it does not yet, the outcome is the same
            (client if whole else stream).close()

        thread = threading.Thread(target=close)
        thread.start()
        started = time.monotonic()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            next(stream)
        thread.join()
        assert time.monotonic() - started < 2
        assert not caught.value.retryable


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
@pytest.mark.parametrize(
    ("phase", "whole"),
    [("head", True), ("head", False), ("body", True), ("body", False)],
    ids=["client-head", "stream-head", "client-body", "stream-body"],
)
def test_an_async_reader_is_woken_by_another_task(face, phase, whole):
    reading = threading.Event()
    errors = []

    async def read(stream):
        try:
            await anext(stream)
        except svir.Error as error:
            errors.append(error)

    async def scenario(client):
        stream = client.stream("hi")
        if phase == "body":
            await stream.open()

        async def close():
            while not reading.is_set():
                await face.sleep(0.005)
            await face.sleep(0.02)
            await (client if whole else stream).aclose()

        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(read, stream)
                nursery.start_soon(close)
        else:
            await asyncio.gather(read(stream), close())
        if whole:
            with pytest.raises(svir.TransportError, match="closed by this program"):
                await client.complete("again")

    with Loopback([Request(), *BEGUN[phase], Signal(reading), Gone()]) as server:
        run(face, server, scenario)
    (error,) = errors
    assert "closed by this program" in str(error)
    assert not error.retryable


def test_closing_ends_the_wait_for_an_errors_body():
    acts = [Request(), Send(b"HTTP/1.1 400 Bad\r\ncontent-length: 9\r\n\r\n{"), Gone()]
    with Loopback(acts) as server, svir.Client.openai(server.url, model="m") as client:
        stream = client.stream("hi")
        timer = threading.Timer(0.1, stream.close)
        timer.start()
        started = time.monotonic()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            stream.open()
        timer.join()
        assert time.monotonic() - started < 2
        assert not caught.value.unsent
        assert len(server.requests) == 1


# Cancellation


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
@pytest.mark.parametrize("phase", ["head", "body", "error body", "drain"])
def test_cancelling_shuts_the_connection(face, phase):
    gone = threading.Event()
    sent = {
        "head": b"",
        "body": HEAD + piece(pieces("a")),
        "error body": b"HTTP/1.1 400 No\r\ncontent-length: 9\r\n\r\n{",
        "drain": HEAD + piece(answer("a")),
    }[phase]
    reached = threading.Event()

    async def scenario(client):
        async def work():
            async with client.stream("hi") as stream:
                async for _ in stream:
                    pass

        async def until_reached():
            while not reached.is_set():
                await face.sleep(0.005)
            await face.sleep(0.02)

        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(work)
                await until_reached()
                nursery.cancel_scope.cancel()
        else:
            task = asyncio.ensure_future(work())
            await until_reached()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await in_thread(face, gone.wait, 2), "the server was not told"

    with Loopback([Request(), Send(sent), Signal(reached), Gone(gone)]) as server:
        run(face, server, scenario)


async def in_thread(face, function, *args):
    if face.name == "trio":
        return await trio.to_thread.run_sync(function, *args)
    return await asyncio.to_thread(function, *args)


def test_a_stream_dropped_unfinished_shuts_its_socket_and_warns(face):
    gone = threading.Event()

    async def scenario(client):
        stream = await client.stream("hi").open()
        await anext(stream)
        with pytest.warns(ResourceWarning, match="dropped unfinished"):
            del stream
        if face.blocking:
            assert gone.wait(2)
        else:
            assert await in_thread(face, gone.wait, 2)

    with Loopback([Request(), Send(HEAD + piece(pieces("a"))), Gone(gone)]) as server:
        run(face, server, scenario)


def test_a_stream_read_to_its_end_or_closed_gives_no_warning(face):
    async def scenario(client):
        stream = client.stream("hi")
        await stream.complete()
        del stream
        other = await client.stream("hi").open()
        await other.aclose()
        del other

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Loopback([Request(), Send(WHOLE), Request(), Send(HEAD), Gone()]) as server:
            run(face, server, scenario)


# Sharing


def test_threads_share_one_client():
    texts, lock = [], threading.Lock()

    def echo(peer):
        while True:
            try:
                Request().perform(peer)
            except AssertionError:
                return
            mine = [r for r in peer.server.requests if r.connection == peer.number][-1]
            said = mine.body.rpartition(b'"content":"')[2].partition(b'"')[0].decode()
            peer.sock.sendall(chunked(answer(*said)))

    with Loopback(repeat=[Call(echo)]) as server, svir.Client.openai(server.url, model="m") as client:

        def ask(name):
            for index in range(10):
                said = f"{name}{index}"
                got = client.complete(said).text
                with lock:
                    texts.append((said, got))

        threads = [threading.Thread(target=ask, args=(name,)) for name in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(texts) == 80
        assert all(said == got for said, got in texts)
        assert server.opened <= 8
        client.close()


def test_a_child_process_does_not_use_its_parents_connection():
    with (
        Loopback(
            [Request(), Send(WHOLE), Request(), Send(chunked(answer("parent"))), Gone()],
            [Request(), Send(chunked(answer("child"))), Gone()],
        ) as server,
        svir.Client.openai(server.url, model="m") as client,
    ):
        assert client.complete("hi").text == "a"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads run here, on purpose
            child = os.fork()
        if child == 0:
            try:
                os._exit(0 if client.complete("hi").text == "child" else 1)
            except BaseException:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert client.complete("hi").text == "parent"
    assert server.opened == 2


def test_an_async_client_works_in_one_loop_after_another():
    with Loopback(repeat=[Request(), Send(WHOLE), Gone()]) as server:
        client = svir.AsyncClient.openai(server.url, model="m")
        texts = [asyncio.run(client.complete("hi")).text for _ in range(2)]
        texts.append(trio.run(client.complete, "hi").text)

        async def last():
            await client.complete("hi")
            await client.aclose()

        asyncio.run(last())
    assert texts == ["a", "a", "a"]


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_many_streams_of_one_client_at_once(face):
    go = threading.Event()

    async def scenario(client):
        async def one():
            texts.append((await client.complete("hi")).text)

        async def release():
            while len(server.requests) < 50:
                await face.sleep(0.005)
            go.set()

        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                for _ in range(50):
                    nursery.start_soon(one)
                nursery.start_soon(release)
        else:
            await asyncio.gather(release(), *(one() for _ in range(50)))

    texts = []
    with Loopback(repeat=[Request(), Await(go), Send(WHOLE), Gone()]) as server:
        run(face, server, scenario)
    assert texts == ["a"] * 50


def test_a_flood_of_events_is_read_until_a_limit(face):
    async def scenario(client):
        with pytest.raises(svir.ResponseLimitError) as caught:
            await client.complete("hi")
        return caught.value

    with Loopback([Request(), Send(HEAD), Flood(piece(pieces("x" * 1000)) * 20)]) as server:
        error = run(face, server, scenario, limits=svir.Limits(wire_bytes=1_000_000))
    assert len(error.partial.text) > 500_000


def test_nothing_listens(face):
    async def scenario(client):
        with pytest.raises(svir.TransportError) as caught:
            await client.complete("hi")
        return caught.value

    with Loopback() as server:
        url = server.url

    async def whole():
        async with closing(face.client(url, model="m")) as client:
            return await scenario(client)

    error = face.run(whole)
    assert error.unsent
    assert error.retryable
    assert url not in f"{error} {error!r}"


def test_usage_that_comes_with_the_finish_is_in_the_completion(face):
    async def scenario(client):
        return await client.complete("hi")

    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    body = pieces("a") + chunk(finish="stop", usage=usage) + b"data: [DONE]\n\n"
    with Loopback([Request(), Send(chunked(body, head=b"x-request-id: r-1\r\n")), Gone()]) as server:
        completion = run(face, server, scenario)
    assert completion.usage == svir.Usage(3, 1)
    assert completion.request_id == "r-1"
    assert completion.dropped == ()
