"""The two faces, blocking and asynchronous, over one set of steps; each is loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.client._async import AsyncClient
    from svir.client._async_many import AsyncCompletions
    from svir.client._async_streams import AsyncNext, AsyncRawStream, AsyncStream
    from svir.client._sync import Client
    from svir.client._sync_many import Completions
    from svir.client._sync_streams import Next, RawStream, Stream

__all__ = [
    "AsyncClient",
    "AsyncCompletions",
    "AsyncNext",
    "AsyncRawStream",
    "AsyncStream",
    "Client",
    "Completions",
    "Next",
    "RawStream",
    "Stream",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    face = "_async" if name.startswith("Async") else "_sync"
    module = face + {"Client": "", "Completions": "_many"}.get(name.removeprefix("Async"), "_streams")
    value: object = getattr(import_module(f"svir.client.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
