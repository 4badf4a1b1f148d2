"""Trying again: what is retried, how long the pauses are, and when it is given up."""

from __future__ import annotations

import pickle

import pytest

import svir
from svir.exchange import Deadlines, Tries
from svir.layers import Retry, RetryDetails, Timeout
from tests.support.layers import WHOLE, call, failing, pauses, refused, stream_of
from tests.support.world import STALL, Response, World


@pytest.mark.parametrize("given", [(), (3,)])
def test_the_class_itself_makes_no_retry(given):
    with pytest.raises(TypeError, match=r"make it with Retry\.connect\(3\), .* or Retry\.transient\(3\)"):
        Retry(*given)


def test_connect_tries_again_while_nothing_was_sent(face):
    world = World(refused(), refused(), Response(WHOLE))
    assert call(face, world, Retry.connect(2)) == "a"
    assert pauses(world) == [0.5, 1.0]


def test_n_retries_are_n_plus_one_tries_and_the_last_error_comes_out(face):
    errors = [refused() for _ in range(4)]
    world = World(*errors)
    assert failing(face, world, Retry.connect(3)) is errors[3]
    assert len(world.requests) == 4
    world = World(refused())
    failing(face, world, Retry.connect(0))
    assert pauses(world) == []


@pytest.mark.parametrize(
    "reply",
    [
        lambda: svir.TransportError("reset", unsent=False),
        lambda: Response(status=503),
        lambda: Response(status=429),
        lambda: svir.TransportError("closed by this program", unsent=True, retryable=False),
        lambda: svir.ConfigError("no loop", unsent=True),
    ],
    ids=["sent", "503", "429", "closed here", "config"],
)
def test_connect_leaves_alone_what_may_have_been_sent_or_cannot_pass(face, reply):
    world = World(reply())
    failing(face, world, Retry.connect(5))
    assert len(world.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        refused,
        lambda: svir.TransportError("reset"),
        lambda: svir.RequestTimeoutError("silent"),
        lambda: svir.TruncatedStreamError("cut"),
        lambda: Response(status=503),
        lambda: Response(status=500),
        lambda: Response(status=529),
        lambda: Response(status=429),
        lambda: Response(status=408),
        lambda: Response(status=504),
    ],
    ids=["refused", "reset", "silent", "cut", "503", "500", "529", "429", "408", "504"],
)
def test_transient_tries_again_whatever_may_pass(face, reply):
    world = World(reply(), Response(WHOLE))
    assert call(face, world, Retry.transient(1)) == "a"
    assert pauses(world) == [0.5]


@pytest.mark.parametrize(
    "reply",
    [
        lambda: Response(b'{"meaning": "quota"}', status=429),
        lambda: Response(status=401),
        lambda: Response(status=404),
        lambda: Response(status=400),
        lambda: Response(status=501),
        lambda: svir.ProtocolError("no HTTP"),
        lambda: Response(WHOLE, content_type="text/html"),
    ],
    ids=["quota", "401", "404", "400", "501", "protocol", "not a stream"],
)
def test_transient_leaves_alone_what_cannot_pass(face, reply):
    world = World(reply())
    assert not failing(face, world, Retry.transient(5)).retryable
    assert pauses(world) == []


@pytest.mark.parametrize("piece", [b"", b"+a\n", None, b"!overloaded\n"])
def test_nothing_is_retried_once_the_stream_has_begun(face, piece):
    world = World(Response(svir.TransportError("reset") if piece is None else piece), Response(WHOLE))
    failing(face, world, Retry.transient(5))
    assert len(world.requests) == 1


# Pauses


def test_pauses_double_from_the_start_given_and_stop_at_30_seconds(face):
    world = World(*[refused() for _ in range(9)])
    failing(face, world, Retry.connect(8).backoff(1.5))
    assert pauses(world) == [1.5, 3, 6, 12, 24, 30, 30, 30]


def test_a_pause_never_overflows_however_many_tries_there_were():
    assert Retry.connect(5000)._pause(5000) == 30


def test_jitter_waits_a_random_part_of_the_pause(face):
    numbers = iter([0.5, 0.0, 0.25])
    world = World(*[refused() for _ in range(4)])
    failing(face, world, Retry.connect(3).backoff(2, jitter=True, random=lambda: next(numbers)))
    assert pauses(world) == [1, 0, 2]


def test_jitter_has_a_random_source_of_its_own():
    retry = Retry.connect(1).backoff(8, jitter=True)
    drawn = {retry._pause(1) for _ in range(50)}
    assert len(drawn) > 25
    assert all(0 <= pause < 8 for pause in drawn)


@pytest.mark.parametrize(
    ("asked", "waited"), [("7", 7), ("0", 0), ("30", 30), ("0.25", 0.25), ("soon", 0.5), ("-1", 0.5)]
)
def test_what_the_server_asks_for_is_waited_exactly(face, asked, waited):
    world = World(Response(status=429, retry_after=asked), Response(WHOLE))
    retry = Retry.transient(3).backoff(0.5, jitter=True, random=lambda: 1.0)
    assert call(face, world, retry) == "a"
    assert pauses(world) == [waited]


@pytest.mark.parametrize("asked", ["30.5", "31", "86400"])
def test_a_server_that_asks_for_over_30_seconds_is_given_up_at_once(face, asked):
    world = World(Response(status=429, retry_after=asked))
    error = failing(face, world, Retry.transient(3))
    assert (error.retry_after, error.retry_after_sent) == (30, float(asked))
    assert pauses(world) == []


def test_an_error_of_a_callers_layer_may_carry_only_the_capped_wait(face):
    world = World(svir.RateLimitError("slow down", retry_after=3.0), Response(WHOLE))
    assert call(face, world, Retry.transient(1)) == "a"
    assert pauses(world) == [3]


# Deadlines


def test_a_pause_that_would_outlast_the_total_is_not_begun(face):
    world = World(*[refused() for _ in range(9)])
    error = failing(face, world, Retry.connect(8).backoff(1), timeout=10)
    assert error.kind == "transport"
    assert pauses(world) == [1, 2, 4]
    assert world.now == 1007


@pytest.mark.parametrize("asked", ["8", "9"])
def test_a_server_that_asks_for_all_the_deadline_leaves_is_given_up_at_once(face, asked):
    world = World((2.0, Response(status=429, retry_after=asked)))
    error = failing(face, world, Timeout.total(10), Retry.transient(3))
    assert (error.kind, world.now, pauses(world)) == ("rate_limited", 1002, [])
    world = World((2.0, Response(status=429, retry_after="7")), Response(WHOLE))
    assert call(face, world, Timeout.total(10), Retry.transient(3)) == "a"
    assert world.now == 1009


def test_the_first_token_deadline_counts_like_the_total(face):
    world = World(*[refused() for _ in range(9)])
    failing(face, world, Timeout.first_token(2), Retry.connect(8).backoff(1))
    assert pauses(world) == [1]


def test_after_a_deadline_has_passed_there_is_no_further_try(face):
    world = World((STALL, Response(WHOLE)))
    error = failing(face, world, Timeout.total(3), Retry.transient(8))
    assert "Timeout.total" in str(error)
    assert len(world.requests) == 1


# The order of Retry and Timeout


def test_a_timeout_outside_covers_all_tries_and_one_inside_each(face):
    slow = [(4.0, Response(status=503)) for _ in range(3)]
    outside = World(*slow, Response(WHOLE))
    assert "within 10 s (Timeout.total)" in str(
        failing(face, outside, Timeout.total(10), Retry.transient(3))
    ), "4 + 0.5 + 4 + 1, then half a second is left"
    assert outside.now == 1010
    inside = World(*[(4.0, Response(status=503)) for _ in range(3)], Response(WHOLE))
    assert call(face, inside, Retry.transient(3), Timeout.total(10)) == "a"
    assert inside.now == 1000 + 3 * 4 + 0.5 + 1 + 2


def test_a_timeout_inside_lets_a_stalled_try_be_retried(face):
    world = World((STALL, Response(WHOLE)), Response(WHOLE))
    assert call(face, world, Retry.transient(1), Timeout.first_token(5)) == "a"
    assert world.now == 1005.5


# The hook


def test_the_hook_is_told_before_each_pause(face):
    told = []

    def hook(details):
        told.append((details, world.now))

    errors = [refused(), (2.0, Response(status=429, retry_after="3"))]
    world = World(*errors, Response(WHOLE))
    assert call(face, world, Retry.transient(5, on_retry=hook)) == "a"
    (first, at_first), (second, at_second) = told
    assert first.error is errors[0]
    assert (first.attempt, first.retries, first.wait, first.elapsed, at_first) == (1, 5, 0.5, 0, 1000)
    assert second.error.status == 429
    assert (second.attempt, second.retries, second.wait, second.elapsed) == (2, 4, 3, 2.5)
    assert at_second == 1002.5
    assert (first.model, first.host, first.port) == ("m", "127.0.0.1", 1234)


def test_the_hook_is_not_told_of_the_error_that_comes_out(face):
    told = []
    failing(face, World(refused(), refused()), Retry.connect(1, on_retry=told.append))
    assert [details.attempt for details in told] == [1]


def test_what_the_hook_raises_ends_the_call(face):
    def hook(details):
        raise LookupError("mine")

    world = World(refused())
    with pytest.raises(LookupError, match="mine"):
        call(face, world, Retry.connect(5, on_retry=hook))
    assert len(world.requests) == 1


def test_a_model_named_by_the_request_is_told(face):
    told = []
    asked = svir.Request("other", messages="hi")
    failing(face, World(refused(), refused()), Retry.connect(1, on_retry=told.append), request=asked)
    assert told[0].model == "other"


# The value


def test_a_retry_is_a_value_and_may_be_shared(face):
    retry = Retry.transient(2)
    assert retry == Retry.transient(2)
    assert pickle.loads(pickle.dumps(retry.backoff(2))) == retry.backoff(2)
    with pytest.raises(AttributeError):
        retry.retries = 5
    for _ in range(2):
        assert call(face, World(refused(), Response(WHOLE)), retry) == "a"
    details = RetryDetails(
        attempt=1, retries=1, wait=1, elapsed=0, error=refused(), model="m", host="h", port=1
    )
    with pytest.raises(AttributeError):
        details.wait = 2


async def coloured(details):
    """No hook: nobody would await it."""


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: Retry.connect(-1), svir.ConfigError),
        (lambda: Retry.connect(1.5), TypeError),
        (lambda: Retry.connect(True), TypeError),
        (lambda: Retry.transient(None), TypeError),
        (lambda: Retry.connect(1).backoff(0), svir.ConfigError),
        (lambda: Retry.connect(1).backoff(float("nan")), svir.ConfigError),
        (lambda: Retry.connect(1).backoff("1"), TypeError),
        (lambda: Retry.connect(1).backoff(1, jitter=1), TypeError),
        (lambda: Retry.connect(1).backoff(1, random=7), svir.ConfigError),
        (lambda: Retry.connect(1, on_retry="print"), svir.ConfigError),
        (lambda: Retry.connect(1, on_retry=coloured), svir.ConfigError),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(make, kind):
    with pytest.raises(kind):
        make()


def test_retries_nest_and_each_counts_for_itself(face):
    world = World(*[refused() for _ in range(3)], Response(WHOLE))
    assert call(face, world, Retry.transient(1), Retry.connect(1)) == "a"
    assert pauses(world) == [0.5, 0.5, 0.5]


def test_a_retry_that_is_interrupted_in_its_pause_ends_there(face):
    world = World(refused())

    def interrupted(seconds, abort=None):
        raise KeyboardInterrupt

    world.sleep = interrupted
    with pytest.raises(KeyboardInterrupt):
        call(face, world, Retry.connect(3))
    assert len(world.requests) == 1


def test_a_failed_try_leaves_no_response_open(face):
    world = World(Response(b"no", status=503), Response(WHOLE))

    async def scenario():
        async with stream_of(face, world, Retry.transient(1)) as stream:
            assert world.responses[0].closed
            return (await stream.complete()).text

    assert face.run(scenario) == "a"


def test_steps_below_are_given_the_deadlines_unchanged(face):
    seen = []

    class Look:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            seen.append(deadlines)
            return (yield from next(request, deadlines))

    call(face, World(refused(), Response(WHOLE)), Retry.connect(1), Look(), idle_timeout=4)
    assert seen == [Deadlines(idle=4, tries=Tries(sent=True))] * 2
    assert seen[0] is seen[1]
