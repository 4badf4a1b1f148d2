"""Asking elsewhere: for which failures, of whom, and within which limits."""

from __future__ import annotations

import pytest

import svir
from svir.exchange._steps import Sleep
from svir.layers import Fallback, Retry, Timeout
from tests.client.test_streams import URL, client_of
from tests.support.chat import answer, pieces
from tests.support.layers import WHOLE, call, failing
from tests.support.world import STALL, Response, World


def bare(face, client):
    """The client itself, without the wrapping that makes a blocking one awaitable."""
    return client.inner if face.blocking else client


def ask(face, world, elsewhere, *layers, other=(), on=None, request="hi", options=(), other_options=()):
    """The text of an answer of a client that falls back to another one."""

    async def scenario():
        second = client_of(face, elsewhere, **{"model": "spare", "layers": other, **dict(other_options)})
        second = bare(face, second)
        fallback = Fallback(second) if on is None else Fallback(second, on=on)
        client = client_of(face, world, layers=[*layers, fallback], **dict(options))
        return (await client.complete(request)).text

    return face.run(scenario)


# Another client


def test_another_client_is_asked_when_the_call_fails(face):
    elsewhere = World(Response(answer("from elsewhere")))
    assert ask(face, World(Response(status=503)), elsewhere) == "from elsewhere"
    assert elsewhere.bodies[0]["model"] == "spare"


def test_another_client_is_not_asked_when_there_is_an_answer(face):
    elsewhere = World()
    assert ask(face, World(Response(answer("a"))), elsewhere) == "a"
    assert elsewhere.requests == []


def test_a_request_that_names_a_model_names_it_there_too(face):
    elsewhere = World(Response(answer("a")))
    ask(face, World(Response(status=503)), elsewhere, request=svir.Request("both", messages="hi"))
    assert elsewhere.bodies[0]["model"] == "both"


def test_the_layers_of_the_other_client_are_its_own(face):
    elsewhere = World(Response(status=503), Response(answer("a")))
    assert ask(face, World(Response(status=503)), elsewhere, other=[Retry.transient(1)]) == "a"
    assert ("sleep", 0.5) in elsewhere.log


def test_nothing_is_replaced_once_the_stream_has_begun(face):
    elsewhere = World()
    with pytest.raises(svir.TruncatedStreamError):
        ask(face, World(Response(pieces("a"))), elsewhere)
    assert elsewhere.requests == []


def test_the_error_is_that_of_the_last_one_asked(face):
    with pytest.raises(svir.AuthenticationError) as caught:
        ask(face, World(Response(status=503)), World(Response(status=401)))
    assert caught.value.__context__ is None


def test_outer_limits_hold_for_the_other_client_and_its_own_as_well(face):
    elsewhere = World(Response(answer("a")))
    ask(face, World(Response(status=503)), elsewhere, Timeout.idle(7), other_options={"idle_timeout": 9})
    assert elsewhere.log[0][2] == 7
    elsewhere = World(Response(answer("a")))
    ask(face, World(Response(status=503)), elsewhere, Timeout.total(60), other_options={"timeout": 20})
    _, _, _, total = elsewhere.log[0]
    assert 19 < total <= 20
    elsewhere = World(Response(answer("a")))
    ask(face, World(Response(status=503)), elsewhere, Timeout.total(20), other_options={"timeout": 60})
    _, _, _, total = elsewhere.log[0]
    assert 19 < total <= 20


def test_headers_for_one_server_do_not_reach_the_other(face):
    class Headed:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            return (yield from next(request, deadlines.with_headers({"traceparent": "t"})))

    world, elsewhere = World(Response(status=503)), World(Response(answer("a")))
    ask(face, world, elsewhere, Headed())
    assert world.requests[0].headers.get("traceparent") == "t"
    assert elsewhere.requests[0].headers.get("traceparent") is None


def test_fallbacks_stand_in_a_row_the_inner_one_first(face):
    asked = []

    def named(name):
        def change(request):
            asked.append(name)
            return request.replace(model=name)

        return Fallback(change)

    world = World(*[Response(status=503) for _ in range(3)], Response(WHOLE))
    assert call(face, world, named("c"), named("b"), request=svir.Request("a", messages="hi")) == "a"
    assert [body["model"] for body in world.bodies] == ["a", "b", "c", "b"]
    assert asked == ["b", "c", "b"]


def test_the_streams_end_is_that_of_the_other_client(face):
    """What watches outside sees the other client's reply, and closing the stream closes its response."""
    elsewhere = World(Response(pieces("a"), STALL))

    async def scenario():
        other = bare(face, client_of(face, elsewhere))
        client = client_of(face, World(Response(status=503)), layers=[Fallback(other)])
        async with client.stream("hi") as stream:
            assert (await anext(stream)).text == "a"
        assert elsewhere.responses[0].closed

    face.run(scenario)


def test_what_a_layer_outside_refuses_closes_the_other_clients_response(face):
    class Refuse:
        def steps(self, request, next, deadlines, server):  # noqa: A002
            yield from next(request, deadlines)
            yield Sleep(0)
            raise svir.UnsupportedError("not like this")

    elsewhere = World(Response(pieces("a"), STALL))
    with pytest.raises(svir.UnsupportedError):
        ask(face, World(Response(status=503)), elsewhere, Refuse())
    assert elsewhere.responses[0].closed


# A change of the request


def smaller(request):
    return request.replace(model="small")


def test_a_changed_request_goes_the_same_way_again(face):
    world = World(Response(status=503), Response(WHOLE))
    assert call(face, world, Fallback(smaller)) == "a"
    assert [body["model"] for body in world.bodies] == ["m", "small"]


def test_limits_count_on_through_the_second_call(face):
    world = World((3.0, Response(status=503)), (STALL, Response(WHOLE)))
    assert "within 5 s" in str(failing(face, world, Timeout.total(5), Fallback(smaller)))
    assert world.now == 1005


@pytest.mark.parametrize(
    ("reply", "kind", "on"),
    [
        (lambda: Response(status=503), "transport", None),
        (lambda: svir.RequestTimeoutError("late"), "timeout", None),
        (lambda: Response(status=429), "rate_limited", None),
        (lambda: Response(b'{"meaning": "quota"}', status=429), "rate_limited", None),
        (lambda: Response(status=401), "authentication", "authentication"),
        (lambda: Response(b'{"meaning": "context_overflow"}', status=400), "context_overflow", None),
    ],
    ids=["503", "timeout", "429", "quota", "401", "overflow"],
)
def test_kinds_decide(face, reply, kind, on):
    by_default = {"transport", "timeout", "rate_limited"}
    if kind in by_default:
        assert call(face, World(reply(), Response(WHOLE)), Fallback(smaller)) == "a"
    else:
        assert failing(face, World(reply()), Fallback(smaller)).kind == kind
    assert call(face, World(reply(), Response(WHOLE)), Fallback(smaller, on=kind)) == "a"
    assert call(face, World(reply(), Response(WHOLE)), Fallback(smaller, on=["server", kind])) == "a"
    assert failing(face, World(reply()), Fallback(smaller, on=["server"])).kind == kind


def test_a_client_this_program_closed_is_not_gone_around(face):
    closed = svir.TransportError("closed by this program", retryable=False)
    assert failing(face, World(closed), Fallback(smaller)) is closed


def test_what_the_function_raises_ends_the_call(face):
    def change(request):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as caught:
        call(face, World(Response(status=503)), Fallback(change))
    assert caught.value.__context__ is None


def test_a_function_must_return_a_request(face):
    with pytest.raises(TypeError, match="must return a Request, not str"):
        call(face, World(Response(status=503)), Fallback(lambda request: "small"))


# What cannot be meant


async def coloured(request):
    """No change of a request: nobody would await it."""


@pytest.mark.parametrize("other", [None, "http://127.0.0.1:1", 7, svir.Request("m"), coloured])
def test_what_is_neither_client_nor_function_is_refused(other):
    with pytest.raises(svir.ConfigError, match="a client, or a plain function"):
        Fallback(other)


@pytest.mark.parametrize("on", ["nonsense", ["transport", "nonsense"], [svir.TransportError]])
def test_an_unknown_kind_is_refused(on):
    with pytest.raises(svir.ConfigError, match=r"Fallback\.on knows these kinds: transport, "):
        Fallback(smaller, on=on)


def test_a_client_of_the_other_face_is_refused_when_the_client_is_built():
    blocking, coloured = svir.Client.openai(URL), svir.AsyncClient.openai(URL)
    assert svir.Client.openai(URL, layers=[Fallback(blocking), Fallback(smaller)])
    assert svir.AsyncClient.openai(URL, layers=[Fallback(coloured), Fallback(smaller)])
    for make, other in ((svir.Client.openai, coloured), (svir.AsyncClient.openai, blocking)):
        with pytest.raises(svir.ConfigError, match="wrong colour: Fallback is not for"):
            make(URL, layers=[Fallback(other)])


def test_a_fallback_is_a_value():
    fallback = Fallback(smaller, on="timeout")
    assert fallback.on == ("timeout",)
    assert fallback == Fallback(smaller, on=["timeout"])
    with pytest.raises(AttributeError):
        fallback.on = ()
