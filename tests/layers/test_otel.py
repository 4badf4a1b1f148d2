"""Spans and metrics, compared with tables of the names that the conventions have for them."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading

import pytest
import trio
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Decision, Sampler, SamplingResult
from opentelemetry.trace import SpanKind, StatusCode

import svir
from svir.layers import Fallback, OpenTelemetry, Retry
from tests.client.test_streams import client_of
from tests.support.chat import answer, chunk, pieces
from tests.support.faces import ASYNC_FACES, closing
from tests.support.layers import WHOLE, call, refused, stream_of
from tests.support.loopback import Gone, Loopback, Request, Send, Stall, chunked
from tests.support.world import STALL, Response, World

USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 34,
    "completion_tokens_details": {"reasoning_tokens": 5},
    "prompt_tokens_details": {"cached_tokens": 6},
}
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)


def said(*texts, finish="stop", usage=USAGE, calls=()):
    """A whole answer with its token counts."""
    counts = json.dumps({"id": "c-1", "model": "m", "choices": [], "usage": usage}).encode()
    named = [
        chunk(
            {
                "tool_calls": [
                    {"index": n, "id": f"call-{n}", "function": {"name": name, "arguments": arguments}}
                ]
            }
        )
        for n, (name, arguments) in enumerate(calls)
    ]
    return b"".join(
        [pieces(*texts), *named, chunk(finish=finish), b"data: " + counts + b"\n\n", b"data: [DONE]\n\n"]
    )


class Recorded:
    """A layer whose spans and metrics stay in memory."""

    def __init__(self, *, sampler=None, **options):
        self.exporter = InMemorySpanExporter()
        self.tracer_provider = TracerProvider(sampler=sampler)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meter_provider = MeterProvider(metric_readers=[self.reader])
        self.layer = OpenTelemetry(
            tracer_provider=self.tracer_provider, meter_provider=self.meter_provider, **options
        )

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    @property
    def span(self):
        (span,) = self.spans
        return span

    @property
    def metrics(self):
        """Name -> (unit, points)."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            metric.name: (metric.unit, metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def ask(self, face, world, request="hi", **options):
        """What a call through the layer gives."""

        async def scenario():
            client = client_of(face, world, layers=[self.layer], **options)
            return await client.complete(request)

        return face.run(scenario)


# Spans

START = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "m",
    "gen_ai.request.stream": True,
    "gen_ai.output.type": "text",
    "server.address": "127.0.0.1",
    "server.port": 1234,
}
END = {
    "gen_ai.response.id": "c-1",
    "gen_ai.response.model": "m",
    "gen_ai.response.finish_reasons": ("stop",),
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 34,
    "gen_ai.usage.cache_read.input_tokens": 6,
    "gen_ai.usage.reasoning.output_tokens": 5,
}


def attributes(span):
    """A span's attributes without the one that is a real time."""
    return {
        name: value
        for name, value in span.attributes.items()
        if name != "gen_ai.response.time_to_first_chunk"
    }


def test_a_whole_answer_is_one_client_span(face):
    recorded = Recorded()
    recorded.ask(face, World(Response(said("a", "b"))))
    span = recorded.span
    assert (span.name, span.kind) == ("chat m", SpanKind.CLIENT)
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(span) == START | END
    assert 0 <= span.attributes["gen_ai.response.time_to_first_chunk"] < 5
    assert span.events == ()
    assert span.instrumentation_scope.name == "svir"


def test_what_was_not_told_is_not_recorded(face):
    recorded = Recorded()
    call(face, World(Response(WHOLE)), recorded.layer)
    finish = {"gen_ai.response.finish_reasons": ("stop",)}
    assert attributes(recorded.span) == START | finish


def test_every_field_of_the_request_has_its_name(face):
    recorded = Recorded(provider="deepseek")
    request = svir.Request(
        "big",
        messages="hi",
        response_format="json",
        max_tokens=10,
        temperature=0.5,
        top_p=0.9,
        stop=["x", "y"],
        seed=7,
        effort="high",
        extra={"top_k": 40, "frequency_penalty": 0.1, "presence_penalty": 0, "min_p": 0.2},
    )
    recorded.ask(face, World(Response(said("{}"))), request)
    expected = (
        START
        | END
        | {
            "gen_ai.provider.name": "deepseek",
            "gen_ai.request.model": "big",
            "gen_ai.output.type": "json",
            "gen_ai.request.max_tokens": 10,
            "gen_ai.request.temperature": 0.5,
            "gen_ai.request.top_p": 0.9,
            "gen_ai.request.stop_sequences": ("x", "y"),
            "gen_ai.request.seed": 7,
            "gen_ai.request.reasoning.level": "high",
            "gen_ai.request.top_k": 40,
            "gen_ai.request.frequency_penalty": 0.1,
            "gen_ai.request.presence_penalty": 0,
        }
    )
    assert recorded.span.name == "chat big"
    assert attributes(recorded.span) == expected


def test_numbers_in_extra_are_only_told_when_they_are_numbers(face):
    recorded = Recorded()
    request = svir.Request(messages="hi", extra={"top_k": "many", "presence_penalty": True})
    recorded.ask(face, World(Response(said("a"))), request)
    assert attributes(recorded.span) == START | END


def test_samplers_see_what_is_known_at_the_start(face):
    class Seeing(Sampler):
        def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, *more, **rest):
            seen.append((name, dict(attributes)))
            return SamplingResult(Decision.RECORD_AND_SAMPLE, attributes)

        def get_description(self):
            return "sees"

    seen = []
    Recorded(sampler=Seeing()).ask(face, World(Response(said("a"))))
    assert seen == [("chat m", START)]


@pytest.mark.parametrize(
    ("finish", "calls", "word"),
    [
        ("stop", (), "stop"),
        ("length", (), "length"),
        ("tool_calls", [("t", "{}")], "tool_call"),
        ("content_filter", (), "content_filter"),
    ],
)
def test_finish_reasons_are_the_conventions_words(face, finish, calls, word):
    recorded = Recorded()
    recorded.ask(face, World(Response(said("a", finish=finish, calls=calls))))
    assert recorded.span.attributes["gen_ai.response.finish_reasons"] == (word,)


def test_the_span_is_a_child_of_the_callers(face):
    recorded = Recorded()
    with recorded.tracer_provider.get_tracer("app").start_as_current_span("job") as parent:
        recorded.ask(face, World(Response(said("a"))))
    span = next(span for span in recorded.spans if span.name == "chat m")
    assert span.parent.span_id == parent.get_span_context().span_id


def test_a_caller_may_add_attributes(face):
    recorded = Recorded(attributes=lambda request: {"gen_ai.conversation.id": f"about {request.system}"})
    recorded.ask(face, World(Response(said("a"))), svir.Request(messages="hi", system="rivers"))
    assert attributes(recorded.span) == START | END | {"gen_ai.conversation.id": "about rivers"}


FAILURES = {
    "status": (lambda: Response(b'{"message": "server words"}', status=429), "rate_limited"),
    "connection": (refused, "transport"),
    "in the stream": (lambda: Response(b"+a\n!server words\n"), "server"),
    "cut": (lambda: Response(b"+a\n"), "truncated_stream"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_an_error_with_its_kind_and_none_of_the_servers_words(face, name):
    reply, kind = FAILURES[name]
    recorded = Recorded()
    with pytest.raises(svir.Error) as caught:
        call(face, World(reply()), recorded.layer)
    span = recorded.span
    assert attributes(span) == START | {"error.type": kind}
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, str(caught.value))
    assert "server words" not in span.to_json()
    assert {
        point.attributes["error.type"] for point in recorded.metrics["gen_ai.client.inference.duration"][1]
    } == {kind}


def test_an_exception_that_is_not_svirs_is_an_error_with_its_class(face):
    async def broken(request, following):
        raise LookupError("secret")

    recorded = Recorded()
    with pytest.raises(LookupError):
        call(face, World(), recorded.layer, face.layer(broken))
    assert recorded.span.attributes["error.type"] == "LookupError"
    assert "secret" not in recorded.span.to_json()


def test_retries_inside_are_part_of_the_span_and_outside_each_try_is_one(face):
    recorded = Recorded()
    call(face, World(refused(), Response(WHOLE)), recorded.layer, Retry.connect(1))
    assert len(recorded.spans) == 1
    recorded = Recorded()
    call(face, World(refused(), Response(WHOLE)), Retry.connect(1), recorded.layer)
    assert [span.status.status_code for span in recorded.spans] == [StatusCode.ERROR, StatusCode.UNSET]


# Every end is an end, once


def test_a_stream_closed_early_ends_its_span_without_an_error(face):
    async def scenario():
        async with stream_of(face, World(Response(b"+a\n", STALL)), recorded.layer) as stream:
            await anext(stream)

    recorded = Recorded()
    face.run(scenario)
    assert recorded.span.status.status_code is StatusCode.UNSET
    assert attributes(recorded.span) == START
    assert "gen_ai.client.inference.duration" in recorded.metrics


def test_a_dropped_stream_ends_its_span_and_records_no_metric(face):
    async def scenario():
        stream = stream_of(face, World(Response(b"+a\n", STALL)), recorded.layer)
        await anext(stream)
        assert recorded.spans == ()

    recorded = Recorded()
    face.run(scenario)
    gc.collect()
    assert attributes(recorded.span) == START
    assert "gen_ai.client.inference.duration" not in recorded.metrics


def test_a_dropped_stream_ends_at_once_where_objects_are_counted(face):
    """No cycle holds it: nothing waits for the garbage collector."""

    async def scenario():
        stream = stream_of(face, World(Response(b"+a\n", STALL)), recorded.layer)
        await anext(stream)
        del stream
        return len(recorded.exporter.get_finished_spans())

    recorded = Recorded()
    gc.disable()
    try:
        assert face.run(scenario) == 1
    finally:
        gc.enable()


def test_a_call_interrupted_before_its_response_ends_its_span(face):
    recorded = Recorded()
    with pytest.raises(KeyboardInterrupt):
        call(face, World(KeyboardInterrupt()), recorded.layer)
    assert attributes(recorded.span) == START


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
@pytest.mark.parametrize("begun", [False, True], ids=["before the response", "while reading"])
def test_a_cancelled_call_ends_its_span_once(face, begun):
    head = chunked(pieces("a"), end=False)
    script = [Request(), Send(head), Stall()] if begun else [Request(), Stall()]

    async def ask():
        async with (
            svir.AsyncClient.openai(server.url, model="m", layers=[recorded.layer]) as client,
            client.stream("hi") as stream,
        ):
            await anext(stream)
            reading.set()
            await anext(stream)

    async def waiting():
        while not (reading.is_set() if begun else server.requests):
            await face.sleep(0.001)

    async def under_asyncio():
        task = asyncio.create_task(ask())
        await waiting()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def under_trio():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await waiting()
            nursery.cancel_scope.cancel()

    recorded, reading = Recorded(), threading.Event()
    with Loopback(script) as server:
        face.run(under_asyncio if face.name == "asyncio" else under_trio)
    assert recorded.span.status.status_code is StatusCode.UNSET
    assert "error.type" not in recorded.span.attributes


def test_closing_again_and_reading_on_do_not_end_it_again(face, caplog):
    """The SDK warns when a span is ended twice or changed after its end; it did not."""

    async def scenario():
        stream = stream_of(face, World(Response(WHOLE)), recorded.layer)
        await stream.complete()
        await stream.complete()
        await stream.aclose()
        await stream.aclose()

    recorded = Recorded()
    face.run(scenario)
    assert len(recorded.spans) == 1
    assert caplog.records == []


def test_a_blocking_stream_closed_from_another_thread_ends_its_span_once(caplog):
    from tests.support.faces import FACES

    recorded = Recorded()
    with Loopback([Request(), Send(chunked(pieces("a"), end=False)), Gone()]) as server:
        client = FACES[0].client(server.url, model="m", layers=[recorded.layer]).inner
        stream = client.stream("hi").open()
        next(stream)
        closer = threading.Timer(0.05, stream.close)
        closer.start()
        with pytest.raises(svir.TransportError, match="closed by this program"):
            next(stream)
        closer.join()
        client.close()
    assert recorded.span.status.status_code is StatusCode.UNSET
    assert caplog.records == []


def test_a_span_ends_though_what_is_recorded_breaks(face):
    class Odd:
        def record(self, *args):
            raise LookupError("mine")

    recorded = Recorded()
    recorded.layer._instruments.durations.append(Odd())
    with pytest.raises(LookupError):
        call(face, World(Response(WHOLE)), recorded.layer)
    assert len(recorded.spans) == 1


# Metrics

CALL = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "m",
    "server.address": "127.0.0.1",
    "server.port": 1234,
}
ANSWERED = CALL | {"gen_ai.response.model": "m"}

# name -> (unit, buckets or None for a counter, [(attributes, count or sum of it)])
CURRENT = {
    "gen_ai.client.inference.duration": ("s", SECONDS, [(ANSWERED, 1)]),
    "gen_ai.client.inference.time_to_first_chunk": ("s", SECONDS, [(ANSWERED, 1)]),
    "gen_ai.client.inference.time_per_output_chunk": ("s", SECONDS, [(CALL, 2)]),
    "gen_ai.client.inference.usage.input_tokens": ("{token}", None, [(ANSWERED, 12)]),
    "gen_ai.client.inference.usage.output_tokens": ("{token}", None, [(ANSWERED, 34)]),
    "gen_ai.client.inference.usage.cache_read.input_tokens": ("{token}", None, [(ANSWERED, 6)]),
    "gen_ai.client.inference.usage.reasoning.output_tokens": ("{token}", None, [(ANSWERED, 5)]),
    "gen_ai.client.inference.operation.input_tokens": ("{token}", TOKENS, [(ANSWERED, 1)]),
    "gen_ai.client.inference.operation.output_tokens": ("{token}", TOKENS, [(ANSWERED, 1)]),
}
LEGACY = {
    "gen_ai.client.operation.duration": ("s", SECONDS, [(ANSWERED, 1)]),
    "gen_ai.client.operation.time_to_first_chunk": ("s", SECONDS, [(ANSWERED, 1)]),
    "gen_ai.client.operation.time_per_output_chunk": ("s", SECONDS, [(CALL, 2)]),
    "gen_ai.client.token.usage": (
        "{token}",
        TOKENS,
        [(ANSWERED | {"gen_ai.token.type": kind}, 1) for kind in ("input", "output")],
    ),
}


@pytest.mark.parametrize(
    ("vintage", "table"),
    [("current", CURRENT), ("legacy", LEGACY), ("both", CURRENT | LEGACY)],
    ids=["current", "legacy", "both"],
)
def test_metrics_have_the_names_units_buckets_and_attributes_of_the_table(face, vintage, table):
    recorded = Recorded(metrics=vintage)
    recorded.ask(face, World(Response(said("a", "b", "c"))))
    seen = {
        name: (
            unit,
            getattr(points[0], "explicit_bounds", None),
            [
                (dict(point.attributes), getattr(point, "count", getattr(point, "value", 0)))
                for point in points
            ],
        )
        for name, (unit, points) in recorded.metrics.items()
    }
    assert seen == table


def test_the_time_between_pieces_may_be_left_out(face):
    recorded = Recorded(metrics="both", chunk_times=False)
    recorded.ask(face, World(Response(said("a", "b", "c"))))
    left_out = {f"gen_ai.client.{stem}.time_per_output_chunk" for stem in ("inference", "operation")}
    assert set(recorded.metrics) == set(CURRENT | LEGACY) - left_out


def test_times_are_measured_by_the_clock_of_the_deadlines(face):
    recorded = Recorded()
    world = World((1.0, Response(0.5, b"+a\n", 2.0, b"+b\n", 0.25, b"+c\n", 0.25, b".\n")))
    call(face, world, recorded.layer)
    sums = {name: points[0].sum for name, (_, points) in recorded.metrics.items()}
    assert sums == {
        "gen_ai.client.inference.duration": 4.0,
        "gen_ai.client.inference.time_to_first_chunk": 1.5,
        "gen_ai.client.inference.time_per_output_chunk": 2.25,
    }
    assert recorded.span.attributes["gen_ai.response.time_to_first_chunk"] == 1.5


# Content

REQUEST = svir.Request(
    messages=[
        svir.user(
            "look",
            svir.Image.from_bytes(b"\x89PNG", "image/png"),
            svir.Image.from_url("https://example.org/a.png"),
            svir.TextFile.from_text("a.txt", "words"),
        ),
        svir.assistant(svir.Reasoning("reasoning", "hm"), svir.ToolCall("c", "t", '{"x": 1}')),
        svir.ToolResult("c", "7"),
    ],
    system="be brief",
    tools=[svir.Tool("t", "does", {"type": "object"})],
)
CAPTURED = {
    "gen_ai.system_instructions": [{"type": "text", "content": "be brief"}],
    "gen_ai.input.messages": [
        {
            "role": "user",
            "parts": [
                {"type": "text", "content": "look"},
                {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw=="},
                {"type": "uri", "modality": "image", "uri": "https://example.org/a.png"},
                {"type": "blob", "modality": "document", "mime_type": "text/plain", "content": "d29yZHM="},
            ],
        },
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "tool_call", "id": "c", "name": "t", "arguments": '{"x": 1}'},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "7"}]},
    ],
    "gen_ai.tool.definitions": [
        {"type": "function", "name": "t", "description": "does", "parameters": {"type": "object"}}
    ],
    "gen_ai.output.messages": [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "ab"},
                {"type": "tool_call", "id": "call-0", "name": "t", "arguments": "{}"},
            ],
            "finish_reason": "tool_call",
        }
    ],
}


def content(span):
    return {name: json.loads(span.attributes[name]) for name in CAPTURED if name in span.attributes}


def test_content_is_recorded_only_when_asked_for(face, monkeypatch):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    reply = said("a", "b", finish="tool_calls", calls=[("t", "{}")])
    recorded = Recorded()
    recorded.ask(face, World(Response(reply)), REQUEST)
    assert content(recorded.span) == {}
    recorded = Recorded(capture="messages")
    recorded.ask(face, World(Response(reply)), REQUEST)
    assert content(recorded.span) == CAPTURED


def test_a_file_is_recorded_by_its_name_and_never_read(face, tmp_path):
    recorded = Recorded(capture="messages")
    request = svir.Request(
        messages=[svir.user(svir.Image(tmp_path / "no.png"), svir.TextFile(tmp_path / "no.txt"))]
    )
    with pytest.raises(svir.AttachmentError):
        recorded.ask(face, World(), request)
    (message,) = content(recorded.span)["gen_ai.input.messages"]
    assert message["parts"] == [
        {"type": "file", "modality": "image", "mime_type": "image/png", "file_id": "no.png"},
        {"type": "file", "modality": "document", "mime_type": "text/plain", "file_id": "no.txt"},
    ]


def test_what_came_before_a_failure_is_recorded_as_such(face):
    recorded = Recorded(capture="messages")
    with pytest.raises(svir.TruncatedStreamError):
        call(face, World(Response(b"+a\n+b\n")), recorded.layer)
    assert content(recorded.span)["gen_ai.output.messages"] == [
        {"role": "assistant", "parts": [{"type": "text", "content": "ab"}], "finish_reason": "error"}
    ]


def test_a_lone_surrogate_breaks_no_telemetry(face):
    recorded = Recorded(capture="messages")
    call(face, World(Response(WHOLE)), recorded.layer, request=svir.Request(messages="\ud800"))
    assert len(recorded.spans) == 1


def test_nothing_is_written_down_for_a_span_that_is_not_recorded(face):
    recorded = Recorded(capture="messages", sampler=ALWAYS_OFF)
    assert recorded.ask(face, World(Response(said("a"))), REQUEST).text == "a"
    assert recorded.spans == ()
    assert "gen_ai.client.inference.duration" in recorded.metrics


# Trace headers


def test_the_server_gets_trace_headers_only_when_asked_for(face):
    for propagate in (False, True):
        recorded = Recorded(propagate=propagate)
        world = World(Response(said("a")))
        recorded.ask(face, world)
        context = recorded.span.get_span_context()
        expected = (
            f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
            if propagate
            else None
        )
        assert world.requests[0].headers.get("traceparent") == expected
        assert world.requests[0].headers.get("baggage") is None


def test_every_try_gets_the_same_trace_header_and_another_server_none(face):
    recorded = Recorded(propagate=True)
    world, elsewhere = World(Response(status=503), Response(status=503)), World(Response(said("a")))

    async def scenario():
        other = client_of(face, elsewhere)
        fallback = Fallback(other.inner if face.blocking else other)
        client = client_of(face, world, layers=[recorded.layer, fallback, Retry.transient(1).backoff(0.001)])
        return await client.complete("hi")

    face.run(scenario)
    sent = [request.headers.get("traceparent") for request in world.requests]
    assert len(sent) == 2
    assert len(set(sent)) == 1
    assert elsewhere.requests[0].headers.get("traceparent") is None
    assert len(recorded.spans) == 1


def test_trace_headers_reach_a_real_server(face):
    async def scenario():
        async with closing(face.client(server.url, model="m", layers=[recorded.layer])) as client:
            return (await client.complete("hi")).text

    recorded = Recorded(propagate=True)
    with Loopback([Request(), Send(chunked(answer("a"))), Gone()]) as server:
        assert face.run(scenario) == "a"
    assert (
        server.requests[0].headers["traceparent"].split("-")[1]
        == f"{recorded.span.get_span_context().trace_id:032x}"
    )
    assert recorded.span.attributes["server.port"] == server.port


# The value


def test_without_an_sdk_nothing_is_recorded_and_nothing_breaks(face):
    layer = OpenTelemetry()
    assert call(face, World(Response(WHOLE)), layer) == "a"
    assert trace.get_current_span() is trace.INVALID_SPAN


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"metrics": "old"}, svir.ConfigError, "metrics must be one of current, legacy, both"),
        ({"capture": "all"}, svir.ConfigError, "capture must be one of none, messages"),
        ({"capture": True}, svir.ConfigError, "capture"),
        ({"provider": 7}, TypeError, "provider"),
        ({"propagate": "yes"}, TypeError, "propagate"),
        ({"chunk_times": 1}, TypeError, "chunk_times"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(options, kind, says):
    with pytest.raises(kind, match=says):
        OpenTelemetry(**options)


def test_a_missing_package_is_a_config_error_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(svir.ConfigError, match=r'pip install "svir\[otel\]"') as caught:
        OpenTelemetry()
    assert caught.value.__context__ is None


def test_the_layer_is_frozen_and_shows_what_it_records():
    layer = OpenTelemetry(provider="vllm", capture="messages")
    assert repr(layer) == (
        "OpenTelemetry(provider='vllm', metrics='current', capture='messages', propagate=False)"
    )
    with pytest.raises(AttributeError):
        layer.capture = "none"
