"""Spans and metrics of OpenTelemetry, by the names of its conventions for generative AI.

1. One CLIENT span a call, from the moment it reaches the layer to the end of the stream, all retries inside
   of the layer included; it ends exactly once, also for a stream that is cancelled, closed early or dropped.
2. The names are tables of our own. The conventions move, and three generations of them are live at once: a
   package of constants would decide for its user which of them is meant.
3. What is said (messages, tools) is recorded only when asked for, and the server's words about a failure
   never.
4. A dropped stream is noticed by the garbage collector, which says nothing about when it ended and may run
   while a meter holds its lock: its span ends, and no metric is recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from msgspec.structs import force_setattr

from svir import __version__
from svir.errors import ConfigError, Error
from svir.layers._otel_messages import answered_messages, asked_messages, conventional_finish
from svir.layers._report import Report
from svir.types._value import check, check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider
    from opentelemetry.util.types import AttributeValue

    from svir.exchange import Deadlines, Open, Reply, Server, Steps
    from svir.layers._report import End
    from svir.types import Request, Usage

__all__ = ["OpenTelemetry"]

Vintage = Literal["current", "legacy", "both"]
Capture = Literal["none", "messages"]
Attributes = dict[str, "AttributeValue"]

OPERATION = "chat"

# Attribute -> field of the request, sent only if set.
REQUEST = {
    "gen_ai.request.max_tokens": "max_tokens",
    "gen_ai.request.temperature": "temperature",
    "gen_ai.request.top_p": "top_p",
    "gen_ai.request.stop_sequences": "stop",
    "gen_ai.request.seed": "seed",
    "gen_ai.request.reasoning.level": "effort",
}
# The same, for fields svir has no name for: they are in ``Request.extra``, and count when they are numbers.
EXTRA = {
    "gen_ai.request.top_k": "top_k",
    "gen_ai.request.frequency_penalty": "frequency_penalty",
    "gen_ai.request.presence_penalty": "presence_penalty",
}
# Attribute -> field of the usage; for counters below ``gen_ai.client.inference.`` as well.
USAGE = {
    "usage.input_tokens": "input",
    "usage.output_tokens": "output",
    "usage.cache_read.input_tokens": "cached",
    "usage.reasoning.output_tokens": "reasoning",
}

SECONDS = [0.01 * 2**n for n in range(14)]
TOKENS = [float(4**n) for n in range(14)]


class OpenTelemetry(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Records a span and metrics of each call; needs ``svir[otel]``, which is ``opentelemetry-api`` alone.

    Args:
        tracer_provider: Where spans go; the global provider when left out.
        meter_provider: Where metrics go; the global provider when left out.
        provider: ``gen_ai.provider.name``: whose flavour of telemetry this is, for example ``openai``,
            ``deepseek``, ``azure.ai.openai``, or a word of your own for a local server.
        metrics: The names of metrics: ``current`` (``gen_ai.client.inference.*``), ``legacy``
            (``gen_ai.client.operation.*`` and ``gen_ai.client.token.usage``), or ``both``.
        capture: ``messages`` records what is said: system prompt, messages, tools and answer. No environment
            variable has a say in it.
        propagate: Send ``traceparent`` and ``tracestate`` to the server. Never any baggage.
        chunk_times: Record the time between pieces of the answer (``time_per_output_chunk``). With the SDK
            it costs some 10 microseconds a piece, where decoding one costs less than one.
        attributes: Gives further attributes of the span for a request, such as ``gen_ai.conversation.id``.

    Raises:
        svir.ConfigError: The package is missing, or a word is not one of those.

    Example:
        >>> import svir
        >>> from svir.layers import OpenTelemetry, Retry
        >>> layers = [OpenTelemetry(metrics="both"), Retry.transient(2)]
        >>> client = svir.Client.openai("http://127.0.0.1:1234", layers=layers)
    """

    tracer_provider: TracerProvider | None = None
    meter_provider: MeterProvider | None = None
    provider: str = "openai"
    metrics: Vintage = "current"
    capture: Capture = "none"
    propagate: bool = False
    chunk_times: bool = True
    attributes: Callable[[Request], Mapping[str, AttributeValue]] | None = None
    _tracer: Any = None
    _instruments: Any = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            tracer_provider: TracerProvider | None = None,
            meter_provider: MeterProvider | None = None,
            provider: str = "openai",
            metrics: Vintage = "current",
            capture: Capture = "none",
            propagate: bool = False,
            chunk_times: bool = True,
            attributes: Callable[[Request], Mapping[str, AttributeValue]] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_text(self.provider, "provider")
        check(self.propagate, bool, "propagate")
        check(self.chunk_times, bool, "chunk_times")
        for name, words in (("metrics", get_args(Vintage)), ("capture", get_args(Capture))):
            if getattr(self, name) not in words:
                raise ConfigError(f"{name} must be one of {', '.join(words)}")
        try:
            from opentelemetry.metrics import get_meter
            from opentelemetry.trace import get_tracer
        except ImportError:
            missing = True
        else:
            missing = False
            meter = get_meter("svir", __version__, self.meter_provider)
            force_setattr(self, "_tracer", get_tracer("svir", __version__, self.tracer_provider))
            force_setattr(self, "_instruments", _Instruments(meter, self.metrics))
        if missing:
            raise ConfigError('OpenTelemetry needs a package: pip install "svir[otel]"')

    def __repr__(self) -> str:
        words = f"provider={self.provider!r}, metrics={self.metrics!r}, capture={self.capture!r}"
        return f"OpenTelemetry({words}, propagate={self.propagate})"

    def steps(
        self,
        request: Request,
        next: Open,  # noqa: A002 (as in ``def layer(request, next)``)
        deadlines: Deadlines,
        server: Server,
    ) -> Steps[Reply[Any]]:
        """Opens the call and records how it ends; called by a client."""
        from opentelemetry.trace import SpanKind

        common = self._common(request, server)
        asked = common | _asked(request)
        if self.attributes is not None:
            asked |= self.attributes(request)
        tracer: Tracer = self._tracer
        name = f"{OPERATION} {common.get('gen_ai.request.model', '')}".rstrip()
        span = tracer.start_span(name, kind=SpanKind.CLIENT, attributes=asked)
        instruments: _Instruments = self._instruments
        report = Report(
            lambda end: self._ended(span, common, end),
            server.clock,
            (lambda seconds: instruments.piece(seconds, common)) if self.chunk_times else None,
        )
        return (yield from report.around(self._opening(request, next, deadlines, span)))

    def _opening(self, request: Request, rest: Open, deadlines: Deadlines, span: Span) -> Steps[Reply[Any]]:
        """All that may fail once there is a span, so that the span ends with it."""
        if self.capture == "messages" and span.is_recording():
            span.set_attributes(asked_messages(request))
        if self.propagate:
            deadlines = deadlines.with_headers(_trace_headers(span))
        return (yield from rest(request, deadlines))

    def _common(self, request: Request, server: Server) -> Attributes:
        """What spans and metrics both say from the start."""
        common: Attributes = {
            "gen_ai.operation.name": OPERATION,
            "gen_ai.provider.name": self.provider,
            "server.address": server.host,
            "server.port": server.port,
        }
        if model := request.model or server.model:
            common["gen_ai.request.model"] = model
        return common

    def _ended(self, span: Span, common: Attributes, end: End) -> None:
        try:
            self._tell(span, common, end)
        finally:
            span.end()

    def _tell(self, span: Span, common: Attributes, end: End) -> None:
        from opentelemetry.trace import Status, StatusCode

        usage = None if end.completion is None else end.completion.usage
        said = _answered(end)
        if end.how == "failed":
            # Low cardinality: the kind of ours, the class of anything else.
            error = end.error
            kind = error.kind if isinstance(error, Error) else type(error).__qualname__
            said["error.type"] = kind
            span.set_status(Status(StatusCode.ERROR, str(error) if isinstance(error, Error) else kind))
        if self.capture == "messages" and span.is_recording():
            said |= answered_messages(end)
        span.set_attributes(said | _counted(usage))
        if end.how != "dropped":
            shared = ("gen_ai.response.model", "error.type")
            told = common | {name: said[name] for name in shared if name in said}
            self._instruments.end(end, usage, told)


def _asked(request: Request) -> Attributes:
    """What a span says of the request from its start, so that samplers see it."""
    asked: Attributes = {"gen_ai.request.stream": True}
    asked["gen_ai.output.type"] = "text" if request.response_format == "text" else "json"
    for name, field in REQUEST.items():
        if (value := getattr(request, field)) is not None:
            asked[name] = str(value) if isinstance(value, str) else value
    for name, field in EXTRA.items():
        if isinstance(value := request.extra.get(field), (int, float)) and not isinstance(value, bool):
            asked[name] = value
    return asked


def _answered(end: End) -> Attributes:
    said: Attributes = {}
    if end.first is not None:
        said["gen_ai.response.time_to_first_chunk"] = end.first
    if (completion := end.completion) is not None:
        said["gen_ai.response.finish_reasons"] = (conventional_finish(completion),)
        if completion.response_id is not None:
            said["gen_ai.response.id"] = completion.response_id
        if completion.model is not None:
            said["gen_ai.response.model"] = completion.model
    return said


def _counted(usage: Usage | None) -> dict[str, int]:
    """Token counts by the names of attributes; only what the server said."""
    counts = {f"gen_ai.{name}": getattr(usage, field, None) for name, field in USAGE.items()}
    return {name: count for name, count in counts.items() if count is not None}


def _trace_headers(span: Span) -> dict[str, str]:
    from opentelemetry.trace import set_span_in_context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    headers: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(headers, set_span_in_context(span))
    return headers


class _Instruments:
    """The metrics of one or both vintages."""

    def __init__(self, meter: Meter, vintage: Vintage) -> None:
        def histogram(name: str, unit: str, buckets: list[float], what: str) -> Histogram:
            return meter.create_histogram(
                f"gen_ai.client.{name}", unit, what, explicit_bucket_boundaries_advisory=buckets
            )

        current, legacy = vintage in {"current", "both"}, vintage in {"legacy", "both"}
        stems = ["inference"] * current + ["operation"] * legacy
        self.durations = [
            histogram(f"{stem}.duration", "s", SECONDS, "How long a call took.") for stem in stems
        ]
        self.firsts = [
            histogram(f"{stem}.time_to_first_chunk", "s", SECONDS, "When something of the answer came.")
            for stem in stems
        ]
        self.pieces = [
            histogram(f"{stem}.time_per_output_chunk", "s", SECONDS, "Time between pieces of the answer.")
            for stem in stems
        ]
        self.counters: dict[str, Counter] = {}
        self.sizes: dict[str, Histogram] = {}
        if current:
            for name in USAGE:
                counter = meter.create_counter(f"gen_ai.client.inference.{name}", "{token}", "Tokens used.")
                self.counters[f"gen_ai.{name}"] = counter
            for name in ("input_tokens", "output_tokens"):
                size = histogram(f"inference.operation.{name}", "{token}", TOKENS, "Tokens of one call.")
                self.sizes[f"gen_ai.usage.{name}"] = size
        self.usage = histogram("token.usage", "{token}", TOKENS, "Tokens of one call.") if legacy else None

    def piece(self, seconds: float, common: Attributes) -> None:
        """A further piece of an answer came. Its model is not known before the end."""
        for instrument in self.pieces:
            instrument.record(seconds, common)

    def end(self, end: End, usage: Usage | None, told: Attributes) -> None:
        """A call ended."""
        for instrument in self.durations:
            instrument.record(end.total, told)
        if end.first is not None:
            for instrument in self.firsts:
                instrument.record(end.first, told)
        for name, count in _counted(usage).items():
            if name in self.counters:
                self.counters[name].add(count, told)
            if name in self.sizes:
                self.sizes[name].record(count, told)
        if self.usage is not None and usage is not None:
            self.usage.record(usage.input, told | {"gen_ai.token.type": "input"})
            self.usage.record(usage.output, told | {"gen_ai.token.type": "output"})
