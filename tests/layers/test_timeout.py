"""Giving up in time: what each limit covers, and what its error says."""

from __future__ import annotations

import pickle

import pytest

import svir
from svir.layers import Retry, Timeout
from tests.support.layers import WHOLE, call, failing, refused, stream_of
from tests.support.world import STALL, Response, World

COMMENTS = [1.0, b":\n"] * 40
TRICKLE = [1.0, b"+a\n"] * 40


# (layer, what the server does, what the error says, when it comes)
CASES = {
    "first token: no headers": (Timeout.first_token(5), (STALL, Response()), "(Timeout.first_token)", 5),
    "first token: silence": (Timeout.first_token(5), Response(STALL), "(Timeout.first_token)", 5),
    "first token: comments": (Timeout.first_token(5), Response(*COMMENTS), "(Timeout.first_token)", 5),
    "first token: late headers": (Timeout.first_token(5), (4.0, Response(STALL)), "within 5 s", 5),
    "idle: no headers": (Timeout.idle(5), (STALL, Response()), "silent for 5 s (Timeout.idle)", 5),
    "idle: silence": (Timeout.idle(5), (4.0, Response(b"+a\n", STALL)), "silent for 5 s (Timeout.idle)", 9),
    "idle: after comments": (
        Timeout.idle(5),
        Response(3.0, b":\n", 4.0, b":\n", STALL),
        "silent for 5 s",
        12,
    ),
    "total: no headers": (Timeout.total(5), (STALL, Response()), "(Timeout.total)", 5),
    "total: silence": (Timeout.total(5), Response(b"+a\n", STALL), "(Timeout.total)", 5),
    "total: trickle": (Timeout.total(5), Response(*TRICKLE), "not complete within 5 s (Timeout.total)", 5),
    "total: late headers": (Timeout.total(5), (4.0, Response(*TRICKLE)), "(Timeout.total)", 5),
}


def fresh(reply):
    """A response of a table, to be played once more."""
    if isinstance(reply, tuple):
        return (reply[0], fresh(reply[1]))
    return Response(*reply.pieces)


@pytest.mark.parametrize("given", [{}, {"limit": "total"}, {"seconds": 3}])
def test_the_class_itself_makes_no_limit_without_its_name_and_its_length(given):
    with pytest.raises(TypeError, match=r"make it with Timeout\.total\(60\)"):
        Timeout(**given)


@pytest.mark.parametrize("name", CASES)
def test_a_limit_ends_the_call_and_names_itself(face, name):
    layer, reply, says, when = CASES[name]
    world = World(fresh(reply))
    error = failing(face, world, layer)
    assert isinstance(error, svir.RequestTimeoutError)
    assert isinstance(error, TimeoutError)
    assert says in str(error)
    assert world.now == 1000 + when


def test_what_came_before_is_kept(face):
    error = failing(face, World(Response(*TRICKLE)), Timeout.total(2.5))
    assert error.partial.text == "aa"


def test_a_first_token_limit_leaves_the_rest_of_the_answer_alone(face):
    world = World((4.0, Response(0.5, b"+a\n", 600.0, b".\n")))
    assert call(face, world, Timeout.first_token(5), idle_timeout=None) == "a"


def test_an_idle_limit_leaves_a_long_answer_alone(face):
    assert call(face, World(Response(*TRICKLE, b".\n")), Timeout.idle(2)) == "a" * 40


def test_an_answer_in_time_is_an_answer(face):
    layers = [Timeout.total(5), Timeout.first_token(3), Timeout.idle(2)]
    assert call(face, World((1.5, Response(1.0, WHOLE))), *layers) == "a"


@pytest.mark.parametrize("order", [(2, 9), (9, 2)])
@pytest.mark.parametrize("make", [Timeout.first_token, Timeout.idle, Timeout.total])
def test_the_tighter_of_two_holds_in_either_order(face, make, order):
    world = World((STALL, Response()))
    assert " 2 s" in str(failing(face, world, *map(make, order)))
    assert world.now == 1002


def test_a_tighter_limit_of_the_client_itself_holds_and_is_not_blamed_on_the_layer(face):
    error = failing(face, World((STALL, Response())), Timeout.total(9), timeout=2)
    assert str(error) == "the request timed out: the answer was not complete within 2 s (timeout)"


def test_the_nearest_of_several_kinds_is_named(face):
    layers = [Timeout.total(9), Timeout.first_token(4), Timeout.idle(6)]
    assert "Timeout.first_token" in str(failing(face, World((STALL, Response())), *layers))
    assert "silent for 6 s" in str(failing(face, World(Response(b"+a\n", 2.0, b":\n", STALL)), *layers))
    assert "Timeout.total" in str(failing(face, World(Response(b"+a\n", *COMMENTS)), *layers))


def test_time_spent_in_layers_outside_is_not_counted_and_pauses_inside_are(face):
    inside = World(refused(), Response(4.0, WHOLE))
    assert call(face, inside, Retry.connect(1).backoff(3), Timeout.total(5)) == "a"
    outside = World(refused(), Response(4.0, WHOLE))
    assert "within 5 s" in str(failing(face, outside, Timeout.total(5), Retry.connect(1).backoff(3)))
    assert outside.now == 1005


def test_a_slow_reader_still_gets_what_had_come(face):
    world = World(Response(b"+a\n+b\n", b".\n"))

    async def scenario():
        stream = stream_of(face, world, Timeout.total(5))
        first = await anext(stream)
        world.now += 60
        second = await anext(stream)
        with pytest.raises(svir.RequestTimeoutError):
            await anext(stream)
        return first.text + second.text

    assert face.run(scenario) == "ab"


@pytest.mark.parametrize("make", [Timeout.first_token, Timeout.idle, Timeout.total])
@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        (0, svir.ConfigError),
        (-1, svir.ConfigError),
        (float("nan"), svir.ConfigError),
        (float("inf"), svir.ConfigError),
        (8 * 86400, svir.ConfigError),
        ("5", TypeError),
        (None, TypeError),
        (True, TypeError),
    ],
)
def test_what_is_no_time_to_wait_is_refused_when_it_is_made(make, seconds, kind):
    with pytest.raises(kind, match="Timeout"):
        make(seconds)


def test_a_timeout_is_a_value_and_may_be_shared(face):
    limit = Timeout.total(5)
    assert limit == Timeout.total(5) != Timeout.idle(5)
    assert hash(limit) == hash(Timeout.total(5))
    assert pickle.loads(pickle.dumps(limit)) == limit
    with pytest.raises(AttributeError):
        limit.seconds = 9
    for _ in range(2):
        assert call(face, World(Response(4.0, WHOLE)), limit) == "a"
