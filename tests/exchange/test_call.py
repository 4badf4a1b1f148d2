"""One call as steps: what is sent, what is waited for and how long, and what a status becomes."""

from __future__ import annotations

from contextlib import suppress

import pytest

import svir
from svir.client._sync_streams import Driver, RawStream, Stream
from svir.codec._api import Failure
from svir.exchange import Deadlines
from tests.support.world import STALL, Response, World, exchange_of

ASKED = svir.Request(messages="hi")


def opened(world, request=ASKED, **options):
    """Opens a call; the stream is ready to be read."""
    exchange = exchange_of(world, **options)
    return Stream(Driver(world), lambda: exchange.open(request, exchange.deadlines())).open()


def failure(world, request=ASKED, **options):
    """The error that opening ends with. Whatever was opened is closed by then."""
    with pytest.raises(svir.Error) as caught:
        opened(world, request, **options)
    assert all(response.closed for response in world.responses)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    return caught.value


# What is sent


def test_a_request_goes_to_the_wire_apis_path_with_the_headers_svir_writes():
    world = World(Response(b".\n"))
    opened(world, key="sk-1")
    (request,) = world.requests
    assert (request.method, request.target, request.origin.authority) == (
        "POST",
        "/v1/answers",
        "127.0.0.1:1234",
    )
    assert dict(request.headers) == {
        "user-agent": f"svir/{svir.__version__}",
        "accept-encoding": "identity",
        "accept": "text/event-stream",
        "content-type": "application/json",
        "authorization": "Bearer sk-1",
    }
    assert world.bodies == [{"model": "m", "context": None, "field": "max_tokens"}]


def test_a_model_the_request_names_wins_and_none_at_all_is_a_config_error():
    world = World(Response(b".\n"))
    opened(world, ASKED.replace(model="other"))
    assert world.bodies[0]["model"] == "other"
    error = failure(World(), model="")
    assert error.kind == "config"
    assert "client.models()" in str(error)


def test_a_request_that_says_nothing_is_refused_before_anything_goes_out():
    world = World()
    error = failure(world, svir.from_dict(svir.Request, {"mesages": [{"role": "user", "parts": []}]}))
    assert (error.kind, world.log) == ("config", [])
    assert "no messages" in str(error)


@pytest.mark.parametrize(
    ("given", "told"), [(svir.Request("Why do rivers meander?"), True), (svir.Request(), False)]
)
def test_a_question_in_the_place_of_the_model_is_told_of(given, told):
    error = failure(World(), given)
    assert error.detail.startswith("no messages: the request has neither a turn nor a system prompt")
    assert ("(the first argument of Request is the model: the turns are messages=)" in error.detail) is told


def test_a_system_prompt_may_stand_alone():
    world = World(Response(b".\n"))
    opened(world, svir.Request(system="Greet."))
    assert world.names == ["send"]


@pytest.mark.parametrize(
    ("of_client", "of_request", "asked"),
    [(True, None, True), (False, None, False), (True, False, False), (False, True, True)],
)
def test_usage_is_asked_for_unless_client_or_request_say_otherwise(of_client, of_request, asked):
    world = World(Response(b".\n"))
    opened(world, ASKED.replace(include_usage=of_request), include_usage=of_client)
    assert world.bodies[0].get("usage", False) is asked


def test_settings_reach_encoder_and_decoder():
    world = World(Response(b".\n", x_request_id="r-1"))
    limits = svir.Limits(tool_calls=3)
    exchange = exchange_of(
        world, mode="lenient", limits=limits, think="keep", context_tokens=9, max_tokens_field="most"
    )
    Driver(world).run(exchange.open(ASKED, Deadlines()))
    (options,) = exchange.api.decoders
    assert options == {
        "mode": "lenient",
        "limits": limits,
        "think": "keep",
        "clock": world.clock,
        "request_id": "r-1",
        "dropped": (),
    }
    assert world.bodies[0] == {"model": "m", "context": 9, "field": "most"}


def test_only_a_request_that_reads_files_is_encoded_elsewhere(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    in_memory = svir.user("look", svir.TextFile.from_text("a.txt", "x"))
    on_disk = svir.user("look", svir.TextFile(tmp_path / "notes.txt"))
    world = World(Response(b".\n"), Response(b".\n"))
    opened(world, svir.Request(messages=in_memory))
    assert world.names == ["send"]
    opened(world, svir.Request(messages=on_disk))
    assert world.names == ["send", "call", "send"]


def test_an_encoder_that_refuses_comes_before_any_byte():
    world = World()

    class Refusing:
        def encode(self, request):
            raise svir.UnsupportedError("cannot say this")

    exchange = exchange_of(world)
    exchange.api.encoder = lambda **options: Refusing()
    with pytest.raises(svir.UnsupportedError, match="cannot say this"):
        Driver(world).run(exchange.open(ASKED, Deadlines()))
    assert world.log == []


# Keys


def test_a_key_function_is_asked_before_each_request():
    keys = iter(["sk-1", " sk-2\n"])
    world = World(Response(b".\n"), Response(b".\n"))
    exchange = exchange_of(world, key=lambda: next(keys))
    for _ in range(2):
        Driver(world).run(exchange.open(ASKED, Deadlines()))
    assert world.names == ["call", "send", "call", "send"]
    assert [r.headers.get("authorization") for r in world.requests] == ["Bearer sk-1", "Bearer sk-2"]


@pytest.mark.parametrize("given", ["", "two words", "line\nbreak", "\N{SNOWMAN}", None, b"sk", 7])
def test_a_key_function_that_gives_no_key_is_a_config_error_that_shows_nothing(given):
    error = failure(World(), key=lambda: given)
    assert error.kind == "config"
    assert not given or str(given) not in f"{error} {error!r}"


def test_an_async_key_function_under_the_blocking_face_is_named_and_not_left_unawaited():
    async def key():
        return "sk-1"

    assert "AsyncClient" in str(failure(World(), key=key))


def test_a_key_functions_own_exception_comes_out_as_it_is():
    def key():
        raise LookupError("vault is closed")

    with pytest.raises(LookupError, match="vault is closed"):
        opened(World(), key=key)


def test_time_spent_on_the_key_counts():
    world = World()

    def slow():
        world.now += 3
        return "sk-1"

    error = failure(world, key=slow, timeout=2)
    assert error.kind == "timeout"
    assert error.unsent
    assert world.names == ["call"]


# How long is waited


def test_sending_gets_the_connect_time_the_silence_and_what_is_left_of_the_total():
    world = World(Response(b".\n"))
    opened(world)
    assert world.log == [("send", 10.0, 300.0, None)]
    world = World(Response(b".\n"))
    opened(world, connect_timeout=None, idle_timeout=None, timeout=60)
    assert world.log == [("send", None, None, 60.0)]


def test_the_silence_starts_again_with_every_read_and_the_total_does_not():
    world = World((2.0, Response(1.0, b"+a\n", 4.0, b"+b\n", 1.0, b".\n")))
    stream = opened(world, idle_timeout=5, timeout=10)
    assert [type(event).__name__ for event in stream] == ["TextDelta", "TextDelta", "Completed"]
    assert world.log[1:4] == [("read", 5), ("read", 5), ("read", 3.0)]


def test_silence_while_sending_is_the_backends_error():
    error = failure(World((STALL, Response())), idle_timeout=5)
    assert error.kind == "timeout"
    assert "silent for 5 s" in str(error)


def test_a_total_that_passes_while_sending_is_named_and_whether_a_byte_was_sent_is_kept():
    for unsent in (True, False):
        world = World((4.0, svir.RequestTimeoutError("silent", unsent=unsent)))
        error = failure(world, timeout=4)
        assert str(error) == "the request timed out: the answer was not complete within 4 s (timeout)"
        assert error.unsent is unsent
        assert error.retryable


def test_a_time_out_that_is_no_deadline_of_the_call_stays_what_it_is():
    error = failure(
        World((1.0, svir.RequestTimeoutError("no connection within 1 s", unsent=True))), timeout=9
    )
    assert "no connection" in str(error)


def test_the_nearer_of_first_token_and_total_holds_before_the_answer_starts():
    world = World((STALL, Response()))
    exchange = exchange_of(world)
    deadlines = Deadlines(idle=300).with_total(world.now + 9, 9).with_first(world.now + 2, 2)
    with pytest.raises(svir.RequestTimeoutError, match="nothing of the answer came within 2 s"):
        Driver(world).run(exchange.open(ASKED, deadlines))
    assert world.log == [("send", 10.0, 300, 2.0)]


def test_nothing_is_sent_once_a_deadline_has_passed():
    world = World()
    exchange = exchange_of(world)
    deadlines = Deadlines().with_total(world.now, 5)
    with pytest.raises(svir.RequestTimeoutError) as caught:
        Driver(world).run(exchange.open(ASKED, deadlines))
    assert caught.value.unsent
    assert world.log == []


# Errors told by a status


def test_the_body_of_an_error_is_waited_for_300_ms_in_all():
    world = World(Response(0.1, b"no ", 0.1, b"room", STALL, b"", status=429))
    error = failure(world)
    assert (error.kind, error.status, error.server_message) == ("rate_limited", 429, "no room")
    reads = [round(limit, 3) for name, limit in world.log[1:-1]]
    assert reads == [0.3, 0.2, 0.1]
    assert round(world.now - 1000, 3) == 0.3
    assert world.names[-1] == "close"


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_body_that_decides_is_waited_for_as_long_as_the_server_is_not_silent(status):
    told = b'{"message": "too long", "meaning": "context_overflow"}'
    world = World(Response(4.0, told[:20], 4.0, told[20:], status=status))
    assert failure(world, idle_timeout=5).kind == "context_overflow"
    assert world.log[1:3] == [("read", 5), ("read", 5)]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "unsupported"), (413, "unsupported"), (401, "authentication"), (503, "transport")],
)
@pytest.mark.parametrize(
    "end",
    [STALL, svir.TransportError("it was reset"), svir.TruncatedStreamError("cut"), svir.ProtocolError("bad")],
)
def test_the_status_decides_when_its_body_never_comes(status, kind, end):
    world = World(Response(b"half", end, status=status))
    error = failure(world, idle_timeout=5)
    assert (error.kind, error.status, error.server_message) == (kind, status, "half")


def test_a_total_that_passes_in_the_body_of_an_error_leaves_the_status_to_decide():
    error = failure(World(Response(STALL, status=422)), timeout=2, idle_timeout=60)
    assert (error.kind, error.status) == ("unsupported", 422)


def test_no_more_than_64_kib_of_an_error_are_read():
    pieces = [b"x" * 1024] * 100
    world = World(Response(*pieces, status=500))
    error = failure(world)
    assert len(error.server_message) == 4096
    assert world.names.count("read") == 65
    assert len(world.responses[0].pieces) == 100 - 65


def test_what_is_read_beyond_64_kib_of_an_error_is_not_looked_at():
    world = World(Response(b"x" * 65_000, b"y" * 65_000, status=500))
    exchange = exchange_of(world)
    told = []
    exchange.api.read_failure = lambda status, body: told.append(body) or Failure()
    with pytest.raises(svir.TransportError):
        Driver(world).run(exchange.open(ASKED, Deadlines()))
    assert told == [b"x" * 65_000 + b"y" * 536]


def test_an_errors_headers_are_read():
    world = World(Response(status=429, retry_after="90", x_request_id="r-9"))
    error = failure(world)
    assert (error.retry_after, error.retry_after_sent, error.request_id) == (30.0, 90.0, "r-9")
    assert error.partial is None


def test_an_encoded_body_of_an_error_says_nothing_and_is_not_read():
    world = World(Response(b"\x1f\x8b garbage", status=500, content_encoding="gzip"))
    error = failure(world)
    assert (error.status, error.server_message) == (500, None)
    assert world.names == ["send", "close"]


# Successes that are none


@pytest.mark.parametrize("status", [200, 201, 204, 299])
@pytest.mark.parametrize(
    "kind", ["application/json", "text/html", "", "text/event-streams", "x text/event-stream"]
)
def test_a_success_that_is_no_event_stream_is_unsupported(status, kind):
    world = World(Response(b"{}", status=status, content_type=kind, x_request_id="r-1"))
    error = failure(world)
    assert (error.kind, error.status, error.request_id) == ("unsupported", None, "r-1")
    assert "event stream" in str(error)
    assert not kind or kind == "text/event-stream" or kind not in str(error)
    assert world.names == ["send", "close"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Application/JSON; charset=utf-8", "answered with JSON and no event stream: it does not stream"),
        ("application/problem+json", "answered with JSON"),
        ("text/html; charset=utf-8", "answered with a web page"),
        ("application/xhtml+xml", "answered with a web page"),
        ("secret/words", "its content type is not text/event-stream"),
        ("", "its content type is not text/event-stream"),
    ],
)
def test_what_came_in_place_of_an_event_stream_is_told_in_words_of_svirs_own(kind, said):
    error = failure(World(Response(b"{}", content_type=kind)))
    assert said in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    "kind", ["text/event-stream; charset=utf-8", "TEXT/Event-Stream", " text/event-stream ;a=b"]
)
def test_an_event_stream_may_have_parameters_and_any_case(kind):
    assert opened(World(Response(content_type=kind))).open()


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip", "GZIP"])
def test_an_encoded_answer_is_unsupported(encoding):
    error = failure(World(Response(content_encoding=encoding)))
    assert error.kind == "unsupported"
    assert "encoded" in str(error)
    assert opened(World(Response(content_encoding="Identity"))).open()


# Without optional fields (D11, D26, D36)

EFFORT = ASKED.replace(effort="low")
REJECTED = b'{"message": "unknown field"}'


def test_a_rejection_that_explains_nothing_is_answered_by_one_try_without_optional_fields():
    world = World(Response(REJECTED, status=400), Response(b"+a\n.\n"), Response(b".\n"))
    exchange = exchange_of(world, include_usage=True)
    stream = Stream(Driver(world), lambda: exchange.open(EFFORT, exchange.deadlines()))
    assert stream.complete().dropped == ("effort", "usage")
    first, second = world.bodies
    assert first["effort"] is first["usage"] is True
    assert not {"effort", "usage"} & set(second)
    (learned,) = exchange.compatibility.learned
    assert (learned.server, learned.model, learned.fields) == (
        "http://127.0.0.1:1234",
        "m",
        ("effort", "usage"),
    )
    assert (learned.status, learned.server_message, learned.when) == (400, "unknown field", 7.0)
    # From now on they are left out at once.
    stream = Stream(Driver(world), lambda: exchange.open(EFFORT, exchange.deadlines()))
    assert stream.complete().dropped == ("effort", "usage")
    assert len(world.requests) == 3
    assert not {"effort", "usage"} & set(world.bodies[2])


@pytest.mark.parametrize(
    "again",
    [
        Response(b"still no", status=400),
        Response(b"overloaded", status=503),
        Response(b"{}", content_type="application/json"),
        Response(content_encoding="gzip"),
        svir.TransportError("it was reset"),
        svir.RequestTimeoutError("silent"),
    ],
    ids=lambda again: getattr(again, "status", type(again).__name__),
)
def test_when_that_fails_too_the_first_error_is_the_answer_and_nothing_is_learned(again):
    world = World(Response(REJECTED, status=422), again)
    exchange = exchange_of(world)
    with pytest.raises(svir.UnsupportedError) as caught:
        Driver(world).run(exchange.open(EFFORT, Deadlines()))
    assert (caught.value.status, caught.value.server_message) == (422, "unknown field")
    assert caught.value.__context__ is None
    assert len(world.requests) == 2
    assert exchange.compatibility.learned == ()
    assert all(response.closed for response in world.responses)


@pytest.mark.parametrize(
    ("status", "told", "kind"),
    [
        (400, b'{"meaning": "context_overflow"}', "context_overflow"),
        (422, b'{"meaning": "content_filter"}', "content_filter"),
        (413, REJECTED, "unsupported"),
        (404, REJECTED, "unsupported"),
        (401, REJECTED, "authentication"),
        (500, REJECTED, "transport"),
    ],
)
def test_a_rejection_that_is_not_about_fields_is_not_tried_again(status, told, kind):
    world = World(Response(told, status=status))
    assert failure(world, EFFORT).kind == kind
    assert len(world.requests) == 1


def test_each_response_is_closed_before_the_next_request_goes_out():
    """Also when steps around the call catch what it raised and ask again."""
    world = World(
        *(Response(REJECTED, status=400), Response(status=503)),
        *(Response(REJECTED, status=400), Response(content_type="text/html")),
        *(Response(REJECTED, status=400), Response(b".\n")),
    )
    exchange = exchange_of(world)

    def again_and_again():
        for _ in range(2):
            with suppress(svir.Error):
                yield from exchange.open(EFFORT, Deadlines())
        return (yield from exchange.open(EFFORT, Deadlines()))

    Driver(world).run(again_and_again())
    events = [name for name in world.names if name != "read"]
    assert events == ["send", "close"] * 5 + ["send"]


def test_a_request_without_optional_fields_is_not_tried_again():
    world = World(Response(REJECTED, status=400))
    assert failure(world).status == 400
    assert len(world.requests) == 1


def test_a_request_whose_optional_fields_are_all_left_out_already_is_not_tried_again():
    world = World(Response(REJECTED, status=400), Response(b".\n"), Response(b"why", status=400))
    exchange = exchange_of(world)
    Driver(world).run(exchange.open(EFFORT, Deadlines()))
    with pytest.raises(svir.UnsupportedError) as caught:
        Driver(world).run(exchange.open(EFFORT, Deadlines()))
    assert caught.value.server_message == "why"
    assert len(world.requests) == 3


def test_what_was_learned_holds_for_that_model_at_that_server_only():
    world = World(*(Response(REJECTED, status=400), Response(b".\n")), *(Response(b".\n") for _ in range(3)))
    exchange = exchange_of(world)
    other_server = exchange_of(world, compatibility=exchange.compatibility)
    other_server.settings = exchange_of(world, allow_http=True).settings
    Driver(world).run(exchange.open(EFFORT, Deadlines()))
    Driver(world).run(exchange.open(EFFORT.replace(model="n"), Deadlines()))
    assert world.bodies[2]["effort"] is True
    Driver(world).run(other_server.open(EFFORT, Deadlines()))
    assert "effort" not in world.bodies[3]
    exchange.compatibility.reset()
    Driver(world).run(exchange.open(EFFORT, Deadlines()))
    assert world.bodies[4]["effort"] is True


def test_a_second_lesson_about_a_model_adds_to_the_first():
    world = World(
        *(Response(REJECTED, status=400), Response(b".\n")),
        *(Response(b"usage too", status=422), Response(b".\n")),
    )
    exchange = exchange_of(world)
    Driver(world).run(exchange.open(EFFORT, Deadlines()))
    reply = Driver(world).run(exchange.open(EFFORT.replace(include_usage=True), Deadlines()))
    assert reply.decoder.dropped == ("effort", "usage")
    assert "usage" in world.bodies[2]
    assert "effort" not in world.bodies[2]
    (learned,) = exchange.compatibility.learned
    assert (learned.fields, learned.status) == (("effort", "usage"), 422)


def test_both_tries_share_the_total():
    world = World((3.0, Response(REJECTED, status=400)), (STALL, Response()))
    error = failure(world, EFFORT, timeout=5)
    assert (error.kind, error.status) == ("unsupported", 400)
    assert [entry for entry in world.log if entry[0] == "send"] == [
        ("send", 10.0, 300.0, 5.0),
        ("send", 10.0, 300.0, 2.0),
    ]
    assert world.now == 1005.0


def test_the_key_is_asked_for_once_for_both_tries():
    world = World(Response(REJECTED, status=400), Response(b".\n"))
    opened(world, EFFORT, key=lambda: "sk-1")
    assert world.names.count("call") == 1
    assert {r.headers.get("authorization") for r in world.requests} == {"Bearer sk-1"}


# Listing models


def listing(world, **options):
    exchange = exchange_of(world, **options)
    return Driver(world).run(exchange.models(exchange.deadlines()))


def test_models_are_listed_with_a_get():
    world = World(Response(b"models:a", b",b", content_type="application/json"))
    assert listing(world, key="sk-1", query="v=1", headers={"X-Team": "t"}, path="/own") == (
        svir.ModelInfo("a"),
        svir.ModelInfo("b"),
    )
    (request,) = world.requests
    assert (request.method, request.target, request.body) == ("GET", "/v1/things?v=1", None)
    assert dict(request.headers) == {
        "user-agent": f"svir/{svir.__version__}",
        "accept-encoding": "identity",
        "accept": "application/json",
        "authorization": "Bearer sk-1",
        "x-team": "t",
    }
    assert world.names == ["send", "read", "read", "read", "close"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Response(b"what", status=500), "transport"),
        (Response(b"what", status=404), "unsupported"),
        (Response(b"what"), "protocol"),
        (Response(b"models:a", content_encoding="gzip"), "unsupported"),
        (Response(b"models:", svir.TruncatedStreamError("cut")), "truncated_stream"),
        (Response(b"models:", STALL), "timeout"),
        (svir.TransportError("refused", unsent=True), "transport"),
    ],
)
def test_a_listing_that_fails_is_a_typed_error(reply, kind):
    world = World(reply)
    with pytest.raises(svir.Error) as caught:
        listing(world, idle_timeout=5)
    assert caught.value.kind == kind
    assert all(response.closed for response in world.responses)


def test_a_listing_is_held_to_the_wire_limit_and_the_total():
    with pytest.raises(svir.ResponseLimitError, match=r"Limits\.wire_bytes"):
        listing(World(Response(*[b"models:aaaa"] * 3)), limits=svir.Limits(wire_bytes=22))
    assert listing(World(Response(b"models:a")), limits=svir.Limits(wire_bytes=8))
    with pytest.raises(svir.RequestTimeoutError, match="within 3 s"):
        listing(World(Response(2.0, b"models:", 2.0, b"a")), timeout=3)


# Bytes as they are (D20)


def raw(world, request=ASKED, **options):
    exchange = exchange_of(world, **options)
    return RawStream(Driver(world), lambda: exchange.open_raw(request, exchange.deadlines()))


def test_raw_bytes_are_handed_on_as_they_came():
    world = World(Response(b"any", b"thing", x_request_id="r-1"))
    stream = raw(world)
    assert list(stream) == [b"any", b"thing"]
    assert stream.request_id == "r-1"
    assert world.responses[0].closed
    assert list(stream) == []


def test_a_raw_stream_maps_statuses_and_leaves_out_optional_fields_too():
    world = World(Response(REJECTED, status=400), Response(b"x"))
    assert list(raw(world, EFFORT)) == [b"x"]
    with pytest.raises(svir.AuthenticationError):
        list(raw(World(Response(status=401))))


@pytest.mark.parametrize(
    "end", [svir.TransportError("it was reset"), svir.TruncatedStreamError("cut"), STALL]
)
def test_a_raw_stream_that_breaks_raises_after_its_bytes_and_again(end):
    world = World(Response(b"x", end, x_request_id="r-1"))
    stream = raw(world, idle_timeout=5)
    assert next(stream) == b"x"
    with pytest.raises(svir.Error) as caught:
        next(stream)
    with pytest.raises(svir.Error) as again:
        next(stream)
    assert again.value is caught.value
    assert caught.value.request_id == "r-1"
    assert world.responses[0].closed


def test_a_raw_streams_total_holds_while_bytes_come():
    world = World(Response(*[1.0, b"x"] * 10))
    stream = raw(world, timeout=3)
    with pytest.raises(svir.RequestTimeoutError, match="within 3 s"):
        list(stream)
    assert world.now == 1003.0
