"""Which backends the matrix is run over, and on which faces."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx2 as module

from svir.http import AiohttpBackend, AsyncHttpx2Backend, Httpx2Backend
from tests.support.faces import FACES, Face

SYNC, ASYNCIO, TRIO = FACES


Options = dict[str, Any]


def builtin(options: Options, tls: ssl.SSLContext) -> Options:
    """The options of a client with it: what concerns connections is the client's own."""
    return {**options, "ssl_context": tls}


def aiohttp(options: Options, tls: ssl.SSLContext) -> Options:
    """The same: what concerns connections is the backend's."""
    most = options.get("max_connections")
    others = {name: value for name, value in options.items() if name != "max_connections"}
    return {**others, "backend": AiohttpBackend(ssl_context=tls, max_connections=most)}


def httpx2(options: Options, tls: ssl.SSLContext, *, blocking: bool) -> Options:
    """The same; the caller's client has to be closed by the caller."""
    limits = module.Limits(max_connections=options.get("max_connections"))
    others = {name: value for name, value in options.items() if name != "max_connections"}
    make, backend = (module.Client, Httpx2Backend) if blocking else (module.AsyncClient, AsyncHttpx2Backend)
    return {**others, "backend": backend(make(verify=tls, trust_env=False, limits=limits))}


@dataclass(frozen=True)
class Over:
    """A backend on one face.

    Attributes:
        backend: Its name in rows and ids.
        face: The face.
        options: Makes a client's options of a row's, and the client's side of TLS.
    """

    backend: str
    face: Face
    options: Callable[[Options, ssl.SSLContext], Options]

    def __repr__(self) -> str:
        return f"{self.backend}-{self.face}"


OVER = [
    *(Over("builtin", face, builtin) for face in FACES),
    Over("aiohttp", ASYNCIO, aiohttp),
    Over("httpx2", SYNC, partial(httpx2, blocking=True)),
    Over("httpx2", ASYNCIO, partial(httpx2, blocking=False)),
]
