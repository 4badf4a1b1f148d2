"""One raw exchange: whatever a server does, it is described, and it ends in bounded time and memory."""

from __future__ import annotations

import threading
import time

import pytest

import svir
from svir.cli.probe._ask import ANSWER_BYTES, Asked, Asker
from svir.exchange import settings_from
from svir.http import Http11Backend, Secret
from tests.cli.probe.servers import ONE, refused
from tests.support.loopback import Cut, Flood, Gone, Loopback, Request, Reset, Send, Signal, Stall, Trickle

POST = Asked(body=b"{}")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.fixture
def backend():
    made = Http11Backend()
    yield made
    made.close()


def asker(server: Loopback, backend: object, seconds: float = 20.0, key: str | None = None) -> Asker:
    secret = Secret(key) if key else None
    return Asker(settings_from(server.url, {}, secret), secret, seconds=seconds, backend=backend)


def answer_of(backend, *acts, seconds: float = 10.0):
    with Loopback([Request(), *acts]) as server:
        return asker(server, backend).ask(POST, seconds)


def test_a_whole_answer_has_its_status_its_bytes_and_when_they_came(backend):
    answer = answer_of(backend, Send(ONE), Cut())
    assert answer.status == 200
    assert answer.content_type == "text/event-stream"
    assert ONE.endswith(answer.body)
    assert answer.arrivals[-1][0] == len(answer.body)
    assert 0 <= answer.arrived(1) <= answer.arrived(len(answer.body)) <= answer.seconds
    assert answer.error is None
    assert not answer.stopped


def test_an_error_status_is_no_error_here(backend):
    answer = answer_of(backend, Send(refused("500 Oh", "boom")), Cut())
    assert (answer.status, answer.error) == (500, None)
    assert b"boom" in answer.body


@pytest.mark.parametrize(
    ("acts", "kind"),
    [
        ([Send(b"SSH-2.0-OpenSSH_9\r\n\r\n"), Cut()], svir.ProtocolError),
        ([Cut()], svir.TransportError),
        ([Reset()], svir.TransportError),
    ],
)
def test_what_is_no_answer_is_described_by_its_error(backend, acts, kind):
    answer = answer_of(backend, *acts)
    assert answer.status is None
    assert type(answer.error) is kind
    assert not answer.error.unsent


def test_an_answer_that_breaks_keeps_what_came(backend):
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n"
    answer = answer_of(backend, Send(head + b"half"), Cut())
    assert (answer.status, answer.body) == (200, b"half")
    assert isinstance(answer.error, svir.TruncatedStreamError)


@pytest.mark.parametrize("acts", [[Stall()], [Send(HEAD), Stall()], [Send(HEAD), Trickle(b":" * 10_000)]])
def test_an_answer_that_does_not_end_ends_at_its_deadline(backend, acts):
    begun = time.monotonic()
    answer = answer_of(backend, *acts, seconds=0.3)
    assert answer.late
    assert 0.3 <= time.monotonic() - begun < 1.5
    assert "within 0.3 s" in answer.error.detail


def test_an_endless_answer_is_read_up_to_a_limit(backend):
    answer = answer_of(backend, Send(HEAD), Flood(b"x" * 65536))
    assert len(answer.body) == ANSWER_BYTES
    assert answer.stopped == "size"
    assert answer.error is None


def test_nothing_takes_longer_than_what_is_left_of_the_whole(backend):
    with Loopback([Request(), Stall()]) as server:
        begun = time.monotonic()
        assert asker(server, backend, seconds=0.3).ask(POST, 30.0).late
        assert time.monotonic() - begun < 1.5


def test_a_backend_that_does_not_come_back_is_not_waited_for():
    hang = threading.Event()

    class Hangs:
        def send(self, request, **limits):
            hang.wait(10)  # as a lookup of a name may, which nothing interrupts
            raise svir.TransportError("too late")

    with Loopback() as server:
        answer = asker(server, Hangs()).ask(POST, 0.1)
    hang.set()
    assert answer.late


def test_a_fault_of_our_own_is_no_finding():
    class Faulty:
        def send(self, request, **limits):
            raise ZeroDivisionError

    with Loopback() as server, pytest.raises(ZeroDivisionError):
        asker(server, Faulty()).ask(POST, 1.0)


def test_an_answer_is_left_while_it_comes(backend):
    gone = Gone()
    with Loopback([Request(), Send(HEAD + b"data: 1\n\n"), gone]) as server:
        one = asker(server, backend)
        pending = one.begin(POST, 10.0)
        assert one.until(lambda: pending.body == b"data: 1\n\n", 5.0)
        answer = pending.leave()
        assert gone.event.wait(5.0)
    assert answer.stopped == "left"
    assert answer.body == b"data: 1\n\n"
    assert answer.error is None


def test_an_answer_that_had_ended_was_not_left(backend):
    with Loopback([Request(), Send(ONE), Cut()]) as server:
        one = asker(server, backend)
        pending = one.begin(POST, 10.0)
        assert one.until(lambda: pending.done, 5.0)
        assert not pending.leave().stopped


def test_two_answers_are_waited_for_at_once(backend):
    first = Signal()
    with Loopback([Request(), Send(HEAD), first, Stall()], [Request(), Send(ONE), Cut()]) as server:
        one = asker(server, backend)
        slow = one.begin(POST, 10.0)
        assert first.event.wait(5.0)
        quick = one.begin(POST, 10.0)
        assert one.until(lambda: slow.done or quick.done, 5.0)
        assert quick.done
        assert not slow.done
        slow.leave()
    assert one.sent == 2


def test_a_made_up_key_stands_in_for_the_right_one(backend):
    with Loopback([Request(), Send(ONE), Cut()], [Request(), Send(ONE), Cut()]) as server:
        one = asker(server, backend, key="sk-right")
        answer = one.ask(POST, 5.0)
        one.ask(Asked(body=b"{}", wrong_key=True), 5.0)
    keys = [request.headers["authorization"] for request in server.requests]
    assert keys[0] == "Bearer sk-right"
    assert "right" not in keys[1]
    assert "sk-right" not in repr(answer)
