"""Code of a user of the layers, as type checkers see it."""

from __future__ import annotations

import logging
from typing import assert_type

import svir
from svir.layers import Fallback, OpenTelemetry, Retry, RetryDetails, Timeout, Trace


def tell(details: RetryDetails) -> None:
    assert_type(details.error, svir.Error)
    assert_type(details.wait, float)


def smaller(request: svir.Request) -> svir.Request:
    return request.replace(model="small")


retry = Retry.transient(3, on_retry=tell).backoff(1, jitter=True, random=lambda: 0.5)
assert_type(retry, Retry)
assert_type(Timeout.total(5), Timeout)
telemetry = OpenTelemetry(
    metrics="both", attributes=lambda request: {"gen_ai.conversation.id": request.model}
)

spare = svir.Client.openai("http://127.0.0.1:1")
client = svir.Client.openai(
    "http://127.0.0.1:2",
    layers=[
        Trace(logging.getLogger("mine")),
        telemetry,
        Fallback(spare),
        Fallback(smaller, on="timeout"),
        retry,
    ],
)
assert_type(client.with_options(layers=[Timeout.idle(5)]), svir.Client)

async_spare = svir.AsyncClient.openai("http://127.0.0.1:1")
async_client = svir.AsyncClient.openai(
    "http://127.0.0.1:2",
    layers=[
        Trace(),
        telemetry,
        Fallback(async_spare, on=("timeout", "transport")),
        Timeout.first_token(5),
        retry,
    ],
)
assert_type(async_client, svir.AsyncClient)

OpenTelemetry(metrics="old")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Fallback(smaller, on="nonsense")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Retry.connect("3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
