"""The two faces, blocking and asynchronous, over one set of steps; each is loaded when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.client._async import AsyncClient, AsyncNext, AsyncRawStream, AsyncStream
    from svir.client._sync import Client, Next, RawStream, Stream

__all__ = [
    "AsyncClient",
    "AsyncNext",
    "AsyncRawStream",
    "AsyncStream",
    "Client",
    "Next",
    "RawStream",
    "Stream",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    face = "svir.client._async" if name.startswith("Async") else "svir.client._sync"
    value: object = getattr(import_module(face), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
