"""Which backends the matrix is run over, and on which faces."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.faces import FACES, Face

SYNC, ASYNCIO, TRIO = FACES


def builtin(face: Face, tls: ssl.SSLContext) -> dict[str, Any]:
    """The options that choose it: its TLS is the client's own."""
    return {"ssl_context": tls}


@dataclass(frozen=True)
class Over:
    """A backend on one face.

    Attributes:
        backend: Its name in rows and ids.
        face: The face.
        options: Gives a client's options for it.
    """

    backend: str
    face: Face
    options: Callable[[Face, ssl.SSLContext], dict[str, Any]]

    def __repr__(self) -> str:
        return f"{self.backend}-{self.face}"


OVER = [Over("builtin", face, builtin) for face in FACES]
