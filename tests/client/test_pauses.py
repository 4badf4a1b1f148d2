"""Closing a client while its calls pause between two tries, on every face and backend."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import warnings

import pytest
import trio

import svir
from svir.http import Abort, Http11Backend
from svir.layers import Fallback, Retry
from svir.testing import ScriptedBackend
from tests.http.faces import FACES, Face
from tests.support.loopback import Cut, Loopback, Request, Send

BUSY = [Request(), Send(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"), Cut()]
LONG = 25.0
"""Seconds of a pause that nobody waits for."""
SOON = 5.0


@pytest.fixture(params=FACES)
def face(request):
    return Face(request.param)


def retry(on_retry=None):
    return Retry.transient(3, on_retry=on_retry).backoff(LONG)


def check(error, server=None):
    assert (error.kind, error.detail) == ("transport", "the client was closed by this program")
    # A try was sent: the call is not unsent, though this one is (S123).
    assert (error.retryable, error.unsent) == (False, False)
    assert server is None or len(server.requests) == 1


def failure_of(client, close):
    """The error of a call that pauses, when this is done in another thread."""
    pausing = threading.Event()

    def closer():
        assert pausing.wait(SOON)
        while not client._driver._pauses._under_way:  # or what begins later would be what is tested
            time.sleep(0.001)
        close()

    asked = client.with_options(layers=[retry(lambda _: pausing.set())])
    thread = threading.Thread(target=closer)
    thread.start()
    started = time.monotonic()
    with pytest.raises(svir.TransportError) as caught:
        asked.complete("hi")
    assert time.monotonic() - started < SOON
    thread.join()
    return caught.value


async def async_failure_of(face, client, close):
    """The same, done by another task."""
    pausing = asyncio.Event() if face.name == "asyncio" else trio.Event()
    asked = client.with_options(layers=[retry(lambda _: pausing.set())])
    errors = []

    async def ask():
        with pytest.raises(svir.TransportError) as caught:
            await asked.complete("hi")
        errors.append(caught.value)

    async def closer():
        await pausing.wait()  # set by the task that pauses: it does by the time this one goes on
        await close()

    started = time.monotonic()
    if face.name == "asyncio":
        await asyncio.gather(ask(), closer())
    else:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(closer)
    assert time.monotonic() - started < SOON
    return errors[0]


def test_closing_a_client_ends_its_pauses(face):
    async def scenario():
        if face.is_async:
            client = svir.AsyncClient.openai(server.url, model="m", backend=face.backend())
            check(await async_failure_of(face, client, client.aclose), server)
        else:
            client = svir.Client.openai(server.url, model="m", backend=face.backend())
            check(failure_of(client, client.close), server)

    with Loopback(BUSY) as server:
        face.run(scenario)


@pytest.mark.parametrize("face", [Face("asyncio"), Face("trio")], ids=lambda face: face.name)
def test_a_client_under_a_loop_is_closed_from_another_thread(face):
    async def scenario():
        client = svir.AsyncClient.openai(server.url, model="m")

        async def close():
            threading.Thread(target=asyncio.run, args=(client.aclose(),)).start()

        check(await async_failure_of(face, client, close), server)

    with Loopback(BUSY) as server:
        face.run(scenario)


class Own:
    """A backend through the seam alone, whose close does nothing for who pauses."""

    def __init__(self):
        self.inner = Http11Backend()
        self.send, self.call, self.close = self.inner.send, self.inner.call, self.inner.close

    def sleep(self, seconds, abort=None):
        over = threading.Event()
        if abort is not None:
            abort.attach(over.set)
        over.wait(seconds)


def test_a_backend_of_ones_own_need_know_nothing_of_it():
    with Loopback(BUSY) as server:
        client = svir.Client.openai(server.url, model="m", backend=Own())
        check(failure_of(client, client.close), server)


def test_a_scripted_backend_is_closed_like_others():
    backend = ScriptedBackend()
    backend.reply(status=503)
    client = svir.Client.openai("http://127.0.0.1", model="m", backend=backend)
    check(failure_of(client, client.close))


def test_closing_the_client_that_another_is_derived_from_ends_the_pauses_of_both():
    with Loopback(BUSY) as server:
        client = svir.Client.openai(server.url, model="m")
        check(failure_of(client.with_options(model="other"), client.close), server)


def test_no_pause_begins_when_the_client_was_closed(face):
    """And no try after it, which a fallback to another client would be, too."""

    async def scenario():
        backend = face.backend()
        make = svir.AsyncClient if face.is_async else svir.Client
        spare = make.openai("http://127.0.0.1:9", model="m")

        def close(_):
            # As far as closing goes that needs no other task: all of it but waiting for what is foreign.
            client._driver._pauses.close()
            backend.close()

        layers = [Fallback(spare), retry(close)]
        client = make.openai(server.url, model="m", backend=backend, layers=layers)
        started = time.monotonic()
        with pytest.raises(svir.TransportError) as caught:
            await client.complete("hi") if face.is_async else client.complete("hi")
        assert time.monotonic() - started < SOON
        check(caught.value, server)

    with Loopback(BUSY) as server:
        face.run(scenario)


def test_closing_a_stream_ends_its_own_pause_alone():
    """Its client goes on."""
    pausing = threading.Event()
    with Loopback(BUSY) as server:
        client = svir.Client.openai(server.url, model="m", layers=[retry(lambda _: pausing.set())])
        stream = client.stream("hi")

        def close():
            assert pausing.wait(SOON)
            stream.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(svir.TransportError, match="the stream was closed by this program"):
            stream.open()
        thread.join()
        client._driver._pauses._require_open()
        assert not client._driver._pauses._under_way


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals for a thread here")
def test_a_signal_handler_of_the_thread_that_pauses_may_close():
    with Loopback(BUSY) as server:
        client = svir.Client.openai(server.url, model="m")
        before = signal.signal(signal.SIGUSR1, lambda *_: client.close())
        try:
            main = threading.get_ident()

            def interrupt():
                # Python misses a signal that comes just before it begins to wait, until it has waited.
                while not client._driver._pauses._closed:
                    signal.pthread_kill(main, signal.SIGUSR1)
                    time.sleep(0.01)

            check(failure_of(client, interrupt), server)
        finally:
            signal.signal(signal.SIGUSR1, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_process_closes_without_waiting_for_the_pauses_of_its_parents_threads():
    """A lock of an `Abort` that a thread of the parent held stays held in the child for ever."""
    children = []

    def fork_and_close():
        (_, abort), *_ = client._driver._pauses._under_way
        with abort._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads run here, on purpose
            child = os.fork()
            if child == 0:
                closing = threading.Thread(target=client.close, daemon=True)
                closing.start()
                closing.join(SOON)
                os._exit(closing.is_alive())
        children.append(os.waitpid(child, 0)[1])
        client.close()

    with Loopback(BUSY) as server:
        client = svir.Client.openai(server.url, model="m")
        check(failure_of(client, fork_and_close), server)
    assert children == [0]


def test_an_abort_that_is_asked_already_ends_a_pause_at_once():
    abort = Abort()
    abort()
    started = time.monotonic()
    Http11Backend().sleep(LONG, abort)
    assert time.monotonic() - started < SOON
