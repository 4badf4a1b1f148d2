"""What goes wrong around a call: opening that is interrupted, two at once, functions that raise."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import time
import traceback
import warnings

import pytest
import trio

import svir
from svir.exchange import _reply
from svir.layers import Fallback, Retry
from tests.support.chat import answer
from tests.support.faces import ASYNC_FACES, closing
from tests.support.loopback import Await, Gone, Loopback, Request, Send, Signal, chunked

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WHOLE = chunked(answer("a"))


def piece(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_a_request_whose_opening_was_cancelled_is_not_sent_again(face):
    came = threading.Event()

    async def scenario(client):
        stream = client.stream("hi")
        if face.name == "trio":
            async with trio.open_nursery() as nursery:

                async def cancel():
                    assert await trio.to_thread.run_sync(came.wait, 5)
                    nursery.cancel_scope.cancel()

                nursery.start_soon(cancel)
                await anext(stream)
        else:
            opening = asyncio.ensure_future(anext(stream))
            assert await asyncio.to_thread(came.wait, 5)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
        for _ in range(2):
            with pytest.raises(svir.TransportError, match="interrupted") as caught:
                await anext(stream)
            assert not caught.value.retryable
            assert not caught.value.unsent

    async def whole():
        async with closing(face.client(server.url, model="m")) as client:
            await scenario(client)

    with Loopback([Request(), Signal(came), Gone()]) as server:
        face.run(whole)
        assert len(server.requests) == 1


def test_a_request_whose_opening_was_interrupted_is_not_sent_again():
    def interrupted(request, following):
        following(request)
        raise KeyboardInterrupt

    with (
        Loopback([Request(), Send(HEAD), Gone()]) as server,
        svir.Client.openai(server.url, model="m", layers=[interrupted]) as client,
    ):
        stream = client.stream("hi")
        with pytest.raises(KeyboardInterrupt):
            stream.open()
        with pytest.raises(svir.TransportError, match="interrupted"):
            stream.complete()
        assert len(server.requests) == 1


def test_a_stream_is_opened_from_one_place():
    reading, end = threading.Event(), Await()
    with (
        Loopback([Request(), Signal(reading), end, Send(WHOLE), Gone()]) as server,
        svir.Client.openai(server.url, model="m") as client,
    ):
        stream = client.stream("hi")
        opener = threading.Thread(target=stream.open)
        opener.start()
        assert reading.wait(5)
        with pytest.raises(svir.ConfigError, match="two places"):
            stream.open()
        end.event.set()
        opener.join()
        assert stream.complete().text == "a"
        client.close()
        assert len(server.requests) == 1


def test_closed_before_anything_went_out_is_unsent(face):
    async def scenario():
        async with closing(face.client("http://127.0.0.1:9", model="m")) as client:
            stream = client.stream("hi")
            await stream.aclose()
            with pytest.raises(svir.TransportError, match="closed by this program") as caught:
                await stream.open()
            assert caught.value.unsent

    face.run(scenario)


def test_a_closed_client_says_that_it_is_closed(face):
    async def scenario():
        client = face.client("http://127.0.0.1:9", model="m")
        await client.aclose()
        with pytest.raises(svir.TransportError) as caught:
            await client.complete("hi")
        assert caught.value.detail == "the client was closed by this program"
        assert (caught.value.unsent, caught.value.retryable) == (True, False)

    face.run(scenario)


def test_a_key_function_without_a_further_key_is_a_config_error(face):
    async def scenario():
        async with closing(face.client("http://127.0.0.1:9", model="m", api_key=iter(()).__next__)) as client:
            with pytest.raises(svir.ConfigError, match="api_key"):
                await client.complete("hi")

    face.run(scenario)


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_an_async_key_function_runs_on_the_loop_and_is_cancelled_there(face):
    threads, ended = [], []

    async def key():
        threads.append(threading.current_thread())
        try:
            await face.sleep(10)
        finally:
            ended.append(True)

    async def scenario():
        async with closing(face.client("http://127.0.0.1:9", model="m", api_key=key, timeout=0.1)) as client:
            with pytest.raises(svir.RequestTimeoutError):
                await client.complete("hi")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        face.run(scenario)
        gc.collect()
    assert threads == [threading.current_thread()]
    assert ended == [True]


def test_a_stream_of_a_layer_that_is_dropped_shuts_its_socket_at_once():
    def layer(request, following):
        return following(request)

    with Loopback([Request(), Send(HEAD + piece(b": hi\n")), Gone()]) as server:
        client = svir.Client.openai(server.url, model="m", layers=[layer])
        gc.disable()
        try:
            stream = client.stream("hi").open()
            with pytest.warns(ResourceWarning):
                del stream
        finally:
            gc.enable()
        client.close()


def test_closing_ends_every_call_a_layer_makes_at_once():
    reading = [threading.Event(), threading.Event()]
    outcomes = []

    def hedge(request, following):
        def ask():
            try:
                following(request)
            except svir.Error as error:
                outcomes.append(error)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        raise outcomes[0]

    with (
        Loopback(*[[Request(), Signal(event), Gone()] for event in reading]) as server,
        svir.Client.openai(server.url, model="m", layers=[hedge]) as client,
    ):
        stream = client.stream("hi")

        def close():
            for event in reading:
                event.wait(5)
            stream.close()

        closer = threading.Thread(target=close)
        closer.start()
        started = time.monotonic()
        with pytest.raises(svir.TransportError, match="closed by this program"):
            stream.open()
        closer.join()
        assert time.monotonic() - started < 3
        assert len(outcomes) == 2


def test_what_a_layer_passes_on_is_a_request(face):
    async def layer(request, following):
        return await following("hi")

    async def scenario():
        async with closing(
            face.client("http://127.0.0.1:9", model="m", layers=[face.layer(layer)])
        ) as client:
            with pytest.raises(TypeError, match="Request"):
                await client.complete("hi")

    face.run(scenario)


def test_the_drain_ends_with_the_total_deadline(face, monkeypatch):
    monkeypatch.setattr(_reply, "DRAIN_SECONDS", 60)

    async def scenario():
        async with closing(face.client(server.url, model="m", timeout=1)) as client:
            started = time.monotonic()
            assert (await client.complete("hi")).text == "a"
            return time.monotonic() - started

    with Loopback([Request(), Send(HEAD + piece(answer("a"))), Gone()]) as server:
        assert face.run(scenario) < 5


@pytest.mark.parametrize("build", [svir.Client.openai, svir.AsyncClient.openai])
def test_a_traceback_with_locals_can_be_shown_of_a_client_that_was_refused(build):
    with pytest.raises(svir.ConfigError) as caught:
        build("ftp://x", api_key="hidden key")
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "".join(shown.format())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"backend": 5}, TypeError),
        ({"context_tokens": 0}, svir.ConfigError),
        ({"max_tokens_field": ""}, svir.ConfigError),
    ],
    ids=repr,
)
def test_options_are_judged_when_the_client_is_built(options, error):
    for build in (svir.Client.openai, svir.AsyncClient.openai):
        with pytest.raises(error):
            build("http://127.0.0.1:9", model="m", **options)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_closing_ends_a_pause_of_a_layer(face, elsewhere):
    busy = b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"

    async def scenario():
        async with closing(
            face.client(server.url, model="m", layers=[Retry.transient(1).backoff(20)])
        ) as client:
            if not elsewhere:
                await ended(client)
                return
            other = client.inner if face.blocking else client
            async with closing(face.client(silent(), model="m", layers=[Fallback(other)])) as first:
                await ended(first)

    async def ended(client):
        stream = client.stream("hi")
        started = time.monotonic()
        if face.blocking:
            closer = threading.Timer(0.2, stream.close)
            closer.start()
            await opening(stream)
            closer.join()
        else:
            await both(face, stream)
        assert time.monotonic() - started < 5

    def silent():
        with socket.create_server(("127.0.0.1", 0)) as taken:
            return f"http://127.0.0.1:{taken.getsockname()[1]}"

    async def opening(stream):
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            await stream.open()
        assert not caught.value.unsent  # the server has answered a first try

    async def both(face, stream):
        async def close():
            await face.sleep(0.2)
            await stream.aclose()

        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(opening, stream)
                nursery.start_soon(close)
        else:
            await asyncio.gather(opening(stream), close())

    with Loopback([Request(), Send(busy), Gone()]) as server:
        face.run(scenario)
