"""Opt-in pieces around a call: trying again, giving up in time, falling back, and telling what happened.

Each is a frozen value that holds nothing of a call: clients, threads and tasks may share one. The first layer
of a client is the outermost (D15).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.layers._fallback import Fallback as Fallback
    from svir.layers._otel import OpenTelemetry as OpenTelemetry
    from svir.layers._retry import Retry as Retry
    from svir.layers._retry import RetryDetails as RetryDetails
    from svir.layers._timeout import Timeout as Timeout
    from svir.layers._trace import Trace as Trace

_WHERE = {
    "Fallback": "_fallback",
    "OpenTelemetry": "_otel",
    "Retry": "_retry",
    "RetryDetails": "_retry",
    "Timeout": "_timeout",
    "Trace": "_trace",
}

__all__ = ["Fallback", "OpenTelemetry", "Retry", "RetryDetails", "Timeout", "Trace"]


def __getattr__(name: str) -> object:
    if (module := _WHERE.get(name)) is None:
        raise AttributeError(f"module 'svir.layers' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"svir.layers.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
