"""Which backends the matrix is run over, and on which faces."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from svir.http import AiohttpBackend
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


OVER = [*(Over("builtin", face, builtin) for face in FACES), Over("aiohttp", ASYNCIO, aiohttp)]
