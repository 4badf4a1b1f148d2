"""The two faces, blocking and asynchronous, over one set of steps."""

from __future__ import annotations

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
