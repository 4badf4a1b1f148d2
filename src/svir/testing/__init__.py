"""For the tests of programs that use svir: scripted servers and backends, recorded answers, a pytest fixture.

``MockServer`` is a real HTTP server on loopback; ``ScriptedBackend`` plays the same replies without a socket.
``Cassette`` records the answers of a real server once, and replays them. The pytest fixture ``svir_server``
is there as soon as svir is installed. Nothing of svir itself needs this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.testing._backend import AsyncScriptedBackend as AsyncScriptedBackend
    from svir.testing._backend import ScriptedBackend as ScriptedBackend
    from svir.testing._cassette import AsyncCassette as AsyncCassette
    from svir.testing._cassette import Cassette as Cassette
    from svir.testing._reply import Reply as Reply
    from svir.testing._script import Received as Received
    from svir.testing._server import MockServer as MockServer

_WHERE = {
    "AsyncCassette": "_cassette",
    "AsyncScriptedBackend": "_backend",
    "Cassette": "_cassette",
    "MockServer": "_server",
    "Received": "_script",
    "Reply": "_reply",
    "ScriptedBackend": "_backend",
}

__all__ = [
    "AsyncCassette",
    "AsyncScriptedBackend",
    "Cassette",
    "MockServer",
    "Received",
    "Reply",
    "ScriptedBackend",
]


def __getattr__(name: str) -> object:
    if (module := _WHERE.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"svir.testing.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
