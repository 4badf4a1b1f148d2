"""The reading side of a call: events before failures, deadlines, draining."""

from __future__ import annotations

import math
import time

import pytest

import svir
from svir.client._sync_streams import Driver, Stream
from svir.errors import Partial
from svir.exchange import Deadlines
from svir.types import Completed, TextDelta
from tests.support.world import STALL, Response, World, exchange_of

ASKED = svir.Request(messages="hi")


def stream_of(world, deadlines=None, **options):
    exchange = exchange_of(world, **options)
    return Stream(Driver(world), lambda: exchange.open(ASKED, deadlines or exchange.deadlines())).open()


def texts(events):
    return [event.text for event in events if isinstance(event, TextDelta)]


def read_until_error(stream):
    """What was handed out before the error, and the error."""
    events = []
    with pytest.raises(svir.Error) as caught:
        events.extend(stream)  # keeps what came before it raised
    return events, caught.value


def test_an_answer_is_read_to_its_completion():
    world = World(Response(b"+a\n+b", b"c\n", b".\n"))
    *deltas, done = stream_of(world)
    assert texts(deltas) == ["a", "bc"]
    assert isinstance(done, Completed)
    assert done.completion.text == "abc"


def test_a_failure_comes_after_every_event_decoded_before_it_and_again():
    world = World(Response(b"+a\n+b\n!no\n+c\n", x_request_id="r-1"))
    stream = stream_of(world)
    events, error = read_until_error(stream)
    assert texts(events) == ["a", "b"]
    assert (error.kind, error.server_message, error.partial) == ("server", "no", Partial("ab"))
    assert error.request_id == "r-1"
    assert world.responses[0].closed
    for again in (stream.__next__, stream.complete):
        with pytest.raises(svir.ServerError) as caught:
            again()
        assert caught.value is error
    assert world.names.count("read") == 1


@pytest.mark.parametrize(
    ("end", "kind", "retryable"),
    [
        (svir.TransportError("it was reset"), "transport", True),
        (svir.TruncatedStreamError("cut"), "truncated_stream", True),
        (svir.ProtocolError("no HTTP"), "protocol", False),
        (b"", "truncated_stream", True),
        (STALL, "timeout", True),
    ],
)
def test_what_breaks_a_stream_keeps_what_came(end, kind, retryable):
    stream = stream_of(World(Response(b"+a\n", end, x_request_id="r-1")), idle_timeout=5)
    events, error = read_until_error(stream)
    assert texts(events) == ["a"]
    assert (error.kind, error.retryable, error.status) == (kind, retryable, None)
    assert (error.partial, error.request_id) == (Partial("a"), "r-1")
    assert error.__context__ is None


def test_what_an_error_says_already_is_not_overwritten():
    told = svir.TransportError("it was reset", request_id="of the error", partial=Partial("of the error"))
    _, error = read_until_error(stream_of(World(Response(b"+a\n", told, x_request_id="r-1"))))
    assert error is told
    assert (error.partial, error.request_id) == (Partial("of the error"), "of the error")


def test_after_completed_there_is_nothing_more_however_often_one_asks():
    world = World(Response(b".\n+late\n", b"more"))
    stream = stream_of(world)
    assert isinstance(next(stream), Completed)
    for _ in range(3):
        assert next(stream, None) is None
    assert stream.complete() is stream.complete()
    assert world.names.count("close") == 1


# Deadlines while reading


def test_comments_are_bytes_but_nothing_of_the_answer():
    world = World(Response(*[1.0, b":\n"] * 20))
    deadlines = Deadlines(idle=2).with_first(world.now + 5, 5)
    _, error = read_until_error(stream_of(world, deadlines))
    assert str(error) == "the request timed out: nothing of the answer came within 5 s"
    assert world.now == 1005.0


def test_the_first_token_deadline_ends_with_the_first_event():
    world = World(Response(b"+a\n", 6.0, b".\n"))
    stream = stream_of(world, Deadlines().with_first(world.now + 5, 5))
    assert texts(stream) == ["a"]
    assert world.log[1:3] == [("read", 5.0), ("read", None)]


def test_a_total_holds_though_bytes_keep_coming():
    world = World(Response(*[1.0, b"+a\n"] * 20))
    events, error = read_until_error(stream_of(world, timeout=3.5, idle_timeout=2))
    assert str(error) == "the request timed out: the answer was not complete within 3.5 s (timeout)"
    assert texts(events) == ["a"] * 3
    assert error.partial == Partial("aaa")
    assert world.now == 1003.5


def test_a_slow_consumer_still_gets_what_was_decoded_before_the_deadline():
    world = World(Response(b"+a\n+b\n", b".\n"))
    stream = stream_of(world, timeout=4)
    assert texts([next(stream)]) == ["a"]
    world.now += 9
    events, error = read_until_error(stream)
    assert texts(events) == ["b"]
    assert error.kind == "timeout"


def test_a_time_out_a_hair_before_its_deadline_is_the_deadlines():
    class Early(Response):
        def read(self, timeout):
            self.world.now += timeout - 0.0005
            raise svir.RequestTimeoutError("the server was silent")

    _, error = read_until_error(stream_of(World(Early()), timeout=4))
    assert "not complete within 4 s" in str(error)


def test_layers_make_deadlines_tighter_and_never_looser():
    world = World(Response(STALL))
    stream = stream_of(world, timeout=10, idle_timeout=8)
    stream.complete_by(world.now + 20)
    stream.idle_timeout(30)
    stream.first_token_by(world.now + 9)
    assert read_until_error(stream)[1].kind == "timeout"
    assert world.log[1] == ("read", 8)

    world = World(Response(STALL))
    stream = stream_of(world, timeout=10, idle_timeout=8)
    stream.idle_timeout(6)
    stream.complete_by(world.now + 5)
    stream.first_token_by(world.now + 3.5)
    assert "nothing of the answer came within 3.5 s" in str(read_until_error(stream)[1])
    assert world.log[1] == ("read", 3.5)

    world = World(Response(b"+a\n", STALL))
    stream = stream_of(world)
    stream.complete_by(world.now + 5)
    assert "not complete within 5 s" in str(read_until_error(stream)[1])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_moment_that_never_comes_is_no_deadline(bad):
    stream = stream_of(World(Response(b".\n")))
    for ask in (stream.first_token_by, stream.complete_by, stream.idle_timeout):
        with pytest.raises(svir.ConfigError):
            ask(bad)
        with pytest.raises(TypeError):
            ask("soon")
    for ask in (stream.first_token_by, stream.complete_by):
        with pytest.raises(svir.ConfigError, match="monotonic"):
            ask(time.time() + 60)
    for bad_silence in (0, -1):
        with pytest.raises(svir.ConfigError):
            stream.idle_timeout(bad_silence)


# Draining


def drained(*pieces):
    """The world after an answer was read to its end; handing out its completion took no wait."""
    world = World(Response(b".\n", *pieces))
    stream = stream_of(world)
    assert isinstance(next(stream), Completed)
    assert world.names == ["send", "read"]
    assert next(stream, None) is None
    return world


def test_the_end_of_the_body_is_read_so_that_the_connection_can_be_used_again():
    world = drained(b": bye\n", 0.1)
    reads = [round(limit, 3) for name, limit in world.log[2:-1]]
    assert reads == [0.25, 0.25]
    assert world.log[-1] == ("close",)


@pytest.mark.parametrize("late", [STALL, svir.TransportError("it was reset"), svir.ProtocolError("no HTTP")])
def test_a_drain_takes_250_ms_at_most_and_never_fails(late):
    world = drained(0.1, b"x", late)
    assert world.log[-1] == ("close",)
    assert world.now <= 1000.25


def test_a_drain_that_trickles_takes_250_ms_in_all():
    world = drained(*[0.1, b"x"] * 100)
    assert round(world.now, 3) == 1000.25


def test_a_drain_reads_64_kib_at_most():
    world = drained(*[b"x" * 4096] * 100)
    assert len(world.responses[0].pieces) == 100 - 16


def test_leaving_the_block_drains_only_when_the_answer_is_complete_and_nothing_went_wrong():
    def left(read, error=None):
        world = World(Response(b"+a\n.\n", b"x"))
        stream = stream_of(world)
        try:
            with stream:
                for _ in range(read):
                    next(stream)
                if error:
                    raise error
        except KeyError:
            pass
        return world.names[2:]

    assert left(1) == ["close"]
    assert left(2) == ["read", "read", "close"]
    assert left(2, KeyError()) == ["close"]


# Watching


def test_watchers_see_every_event_in_order_and_the_error_once():
    seen = []
    stream = stream_of(World(Response(b"+a\n+b\n!no\n")))
    next(stream)
    stream.inspect(seen.append)
    stream.inspect(lambda item: seen.append(type(item).__name__))
    _, error = read_until_error(stream)
    with pytest.raises(svir.ServerError):
        next(stream)
    assert seen == [TextDelta("b"), "TextDelta", error, "ServerError"]


def test_watchers_see_the_completion():
    seen = []
    stream = stream_of(World(Response(b".\n")))
    stream.inspect(seen.append)
    completion = stream.complete()
    assert seen == [Completed(completion)]


def test_what_a_watcher_raises_comes_out_and_closes_the_stream():
    world = World(Response(b"+a\n.\n"))
    stream = stream_of(world)

    def watch(item):
        raise LookupError("mine")

    stream.inspect(watch)
    with pytest.raises(LookupError, match="mine"):
        next(stream)
    assert world.responses[0].closed


# Closing


def test_a_closed_stream_hands_out_what_it_has_and_then_says_who_closed_it():
    world = World(Response(b"+a\n+b\n", b".\n"))
    stream = stream_of(world)
    next(stream)
    stream.close()
    events, error = read_until_error(stream)
    assert texts(events) == ["b"]
    assert (error.kind, error.retryable) == ("transport", False)
    assert "closed by this program" in str(error)
    assert error.partial == Partial("ab")
    assert world.names.count("read") == 1


def test_a_stream_closed_before_it_is_opened_sends_nothing():
    world = World()
    exchange = exchange_of(world)
    stream = Stream(Driver(world), lambda: exchange.open(ASKED, Deadlines()))
    stream.close()
    for act in (stream.open, stream.__next__, stream.complete, lambda: stream.headers):
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            act()
        assert (caught.value.unsent, caught.value.retryable) == (True, False)
    assert world.log == []


def test_the_first_failure_is_the_one_that_counts():
    world = World(Response(b"+a\n"))
    exchange = exchange_of(world)
    reply = Driver(world).run(exchange.open(ASKED, Deadlines()))
    first = svir.TransportError("first")
    reply.fail(first)
    reply.fail(svir.TransportError("second"))
    with pytest.raises(svir.TransportError) as caught:
        reply.take()
    assert caught.value is first
