"""The client for the server that was named, or for a local one."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import msgspec

import svir
from svir.cli._gateway import Gateway
from svir.cli._local import START_SECONDS, LocalServer, LocalServerError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from svir.cli._output import Output

__all__ = ["KEY", "Server", "choose_model", "connect", "key_variable", "start_local"]

KEY = "SVIR_KEY"
"""The variable with the key of the server that ``SVIR_URL`` names; `svir local` prints both."""

QUIET_SECONDS = 1.0
"""How long a local server may take to start before a progress display says that it does."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Which server to ask, and how."""

    url: str | None = None
    model: str = ""
    api_key_env: str | None = None
    allow_http: bool = False
    gateway: Gateway = Gateway()
    path: str | None = None
    lenient: bool = False
    local: bool = False
    gguf: Path | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The environment variables that hold the key and what else is not to be shown."""
        return (*((self.api_key_env,) if self.api_key_env else ()), *self.gateway.variables)


def key_variable(named: str | None, url: str | None) -> str | None:
    """The environment variable that holds the key for a server, or None for no key.

    Args:
        named: What ``--api-key-env`` names.
        url: The server.
    """
    # S118: a key that was exported for one server is sent to no other.
    if named is None and url and url == os.environ.get("SVIR_URL") and os.environ.get(KEY):
        return KEY
    return named


@contextlib.contextmanager
def connect(server: Server, output: Output) -> Generator[svir.Client]:
    """A client for the server that was named, or for a local one started for as long as this lasts."""
    with contextlib.ExitStack() as stack:
        if server.local or server.gguf is not None:
            running = stack.enter_context(start_local(server.gguf, 0, output))
            url, model, key = running.url, server.model or running.model, running.api_key
        elif server.url:
            url, model, key = server.url, server.model, None
        else:
            raise svir.ConfigError("no server: give --url URL, set SVIR_URL, or try --local")
        client = svir.Client.openai(
            url,
            model=model,
            api_key=key,
            api_key_env=None if key else server.api_key_env,
            allow_http=server.allow_http,
            path=server.path,
            **server.gateway.options(),
            mode="lenient" if server.lenient else "strict",
        )
        stack.callback(client.close)
        yield client


@contextlib.contextmanager
def start_local(gguf: Path | None, port: int, output: Output) -> Generator[LocalServer]:
    """A local server that is ready; a display covers the wait when it is long."""
    with LocalServer(gguf, port=port) as server:
        if not server.wait(QUIET_SECONDS):
            with output.console.status("loading the local model ..."):
                ready = server.wait(START_SECONDS)
            if not ready:
                raise LocalServerError(f"the local model was not loaded within {START_SECONDS:.0f} seconds")
        yield server


def choose_model(client: svir.Client) -> str:
    """The server's model, when it has just one.

    Raises:
        svir.ConfigError: It has several, or none.
    """
    names = [model.id for model in client.models()]
    if len(names) == 1:
        return names[0]
    if not names:
        raise svir.ConfigError("the server lists no model: name one with --model ID")
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise svir.ConfigError(f"the server has {len(names)} models: choose with --model ID ({shown})")
