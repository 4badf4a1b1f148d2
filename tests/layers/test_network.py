"""The layers over real loopback sockets, with the real clock."""

from __future__ import annotations

import socket
import time

import pytest

import svir
from svir.layers import Fallback, Retry, Timeout
from tests.support.chat import answer
from tests.support.faces import closing
from tests.support.loopback import Call, Cut, Gone, Loopback, Request, Reset, Send, Stall, chunked

WHOLE = chunked(answer("a", "b"))
LATE = 3.0
BUSY = b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n%s\r\n"


def complete(face, url, *layers, **options):
    """The text of the answer to a call."""

    async def scenario():
        async with closing(face.client(url, model="m", layers=layers, **options)) as client:
            return (await client.complete("hi")).text

    return face.run(scenario)


def nobody():
    """A URL where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_a_server_that_is_not_there_is_tried_again_and_given_up(face):
    told = []
    retry = Retry.connect(3, on_retry=told.append).backoff(0.01)
    with pytest.raises(svir.TransportError) as caught:
        complete(face, nobody(), retry)
    assert caught.value.unsent
    assert [details.wait for details in told] == [0.01, 0.02, 0.04]


def test_what_passes_is_tried_again_until_it_is_answered(face):
    scripts = [
        [Request(), Reset()],
        [Request(), Send(BUSY % b""), Cut()],
        [Request(), Send(BUSY % b"retry-after-ms: 50\r\n"), Cut()],
        [Request(), Send(WHOLE), Gone()],
    ]
    with Loopback(*scripts) as server:
        assert complete(face, server.url, Retry.transient(5).backoff(0.01)) == "ab"
    assert len(server.requests) == 4


def after_a_try(face, *layers):
    """The error of a call whose request was taken by a server that then is gone for good."""
    gone = []
    with Loopback([Request(), Call(lambda _: gone[0].refuse()), Reset()]) as server:
        gone.append(server)
        with pytest.raises(svir.TransportError) as caught:
            complete(face, server.url, *layers)
    assert len(server.requests) == 1
    return caught.value


def test_what_a_server_has_had_is_unsent_in_no_later_try(face):
    """Neither of a try, nor of a layer around it: it would send again what was received (S123)."""
    told = []
    again = Retry.transient(1).backoff(0.01)
    outer = Retry.connect(1, on_retry=told.append).backoff(0.01)
    error = after_a_try(face, outer, again)
    assert "nothing accepts connections" in str(error)
    assert not error.unsent
    assert told == []


def test_what_one_server_has_had_is_unsent_at_no_other(face):
    other = face.client(nobody(), model="spare")
    error = after_a_try(face, Fallback(other.inner if face.blocking else other))
    assert "nothing accepts connections" in str(error)
    assert not error.unsent


def test_what_a_server_has_had_is_unsent_in_no_layer_of_ones_own(face):
    def twice(request, ask):
        try:
            return ask(request)
        except svir.TransportError:
            return ask(request)

    async def twice_awaited(request, ask):
        try:
            return await ask(request)
        except svir.TransportError:
            return await ask(request)

    error = after_a_try(face, twice if face.blocking else twice_awaited)
    assert "nothing accepts connections" in str(error)
    assert not error.unsent


def test_a_stalled_try_is_given_up_in_time_and_the_next_one_is_answered(face):
    started = time.monotonic()
    with Loopback([Request(), Stall()], [Request(), Send(WHOLE), Gone()]) as server:
        layers = [Retry.transient(1).backoff(0.01), Timeout.first_token(0.15)]
        assert complete(face, server.url, *layers) == "ab"
    assert 0.15 < time.monotonic() - started < 0.15 + LATE


@pytest.mark.parametrize("make", [Timeout.first_token, Timeout.idle, Timeout.total])
def test_a_limit_holds_though_there_are_retries_inside(face, make):
    started = time.monotonic()
    with Loopback(repeat=[Request(), Stall()]) as server, pytest.raises(svir.RequestTimeoutError) as caught:
        complete(face, server.url, make(0.2))
    assert 0.15 < time.monotonic() - started < 0.2 + LATE
    assert "0.2 s" in str(caught.value)


def test_another_client_is_asked_with_its_own_backend_and_pool(face):
    async def scenario():
        other = face.client(answering.url, model="spare")
        spare = other.inner if face.blocking else other
        async with (
            closing(other),
            closing(face.client(busy.url, layers=[Fallback(spare)])) as client,
        ):
            return [(await client.complete("hi", model="m")).text for _ in range(2)]

    with (
        Loopback([Request(), Send(BUSY % b""), Cut()], [Request(), Send(BUSY % b""), Cut()]) as busy,
        Loopback([Request(), Send(WHOLE), Request(), Send(WHOLE), Gone()]) as answering,
    ):
        assert face.run(scenario) == ["ab", "ab"]
    assert len(answering.requests) == 2
