"""The client for the server that was named, or for a local one."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import msgspec

import svir
from svir.cli._address import URL, Address, address_of
from svir.cli._advice import LISTING, respell
from svir.cli._gateway import Gateway, gateway_of
from svir.cli._local import START_SECONDS, LocalServer, LocalServerError
from svir.cli._refused import CONFIG, RefusedError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from svir.cli._gateway import Given
    from svir.cli._output import Output

__all__ = ["KEY", "Server", "choose_model", "connect", "listed", "named_server", "only_model", "start_local"]

KEY = "SVIR_KEY"
"""The variable with the key of the server that ``SVIR_URL`` names; `svir local` prints both."""

QUIET_SECONDS = 1.0
"""How long a local server may take to start before a progress display says that it does."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Which server to ask, and how.

    Attributes:
        address: Where it is; None for a local one, which is still to be started.
    """

    address: Address | None = None
    model: str = ""
    api_key_env: str | None = None
    allow_http: bool = False
    gateway: Gateway = Gateway()
    path: str | None = None
    lenient: bool = False
    gguf: Path | None = None

    @property
    def local(self) -> bool:
        """Whether it is one of our own."""
        return self.address is None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The environment variables that hold the key and what else is not to be shown."""
        return (*((self.api_key_env,) if self.api_key_env else ()), *self.gateway.variables)

    @property
    def unsent_key(self) -> str:
        """Why the key that was exported is not sent to this server; empty when it is, or there is none."""
        if self.local or self.secrets or not os.environ.get(KEY):
            return ""
        if os.environ.get(URL):
            return f"{KEY} was not sent: it is for the server of {URL}, and this is another address"
        return f"{KEY} was not sent: it is for the server of {URL}, which is not set"


def named_server(
    *,
    url: str | None,
    api_key_env: str | None,
    allow_http: bool,
    header: Iterable[Given] | None,
    query: Iterable[Given] | None,
    local: bool,
    gguf: Path | None,
    model: str = "",
    path: str | None = None,
    lenient: bool = False,
    source: str = "--url",
) -> Server:
    """The server that the options of these names name, checked before anything is started or asked.

    ``source`` is where the URL is typed.

    Raises:
        RefusedError: There is none, or the options exclude each other or cannot be sent.
    """
    gateway = gateway_of(header, query)
    address = None
    if local or gguf is not None:
        flag = "--local" if local else "--gguf"
        for option, value in ((source, url), ("--api-key-env", api_key_env)):
            if value is not None:
                raise RefusedError(
                    f"{flag} and {option} exclude each other: a local server has a URL and a key of its own",
                    f"Leave out one of them; for a server that runs already that is {flag}.",
                )
    else:
        address = address_of(url, source)
        if address is None:
            raise RefusedError("no server is named", f"Give {source} URL, set {URL}, or try --local.")
        address.require(allow_http=allow_http)
        # S118: a key that was exported for one server is sent to no other.
        own = address_of(None, URL)
        if api_key_env is None and own is not None and address.same_server(own) and os.environ.get(KEY):
            api_key_env = KEY
    from svir.exchange import settings_from  # slow to import, and no help needs it

    try:
        # What variables hold is checked when it is sent: it is not what was typed.
        settings_from("http://127.0.0.1", {**gateway.options(made_up=True), "path": path}, None)
    except svir.ConfigError as error:
        problem = respell(error.detail)
    else:
        return Server(
            address=address,
            model=model,
            api_key_env=api_key_env,
            allow_http=allow_http,
            gateway=gateway,
            path=path,
            lenient=lenient,
            gguf=gguf,
        )
    raise RefusedError(problem, "--header, --query and --path go along with every request.")


@contextlib.contextmanager
def connect(server: Server, output: Output) -> Generator[svir.Client]:
    """A client for the server that was named, or for a local one started for as long as this lasts."""
    with contextlib.ExitStack() as stack:
        if server.address is None:
            running = stack.enter_context(start_local(server.gguf, 0, output))
            url, model, key = running.url, server.model or running.model, running.api_key
        else:
            url, model, key = server.address.url, server.model, None
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


def listed(client: svir.Client) -> list[str]:
    """The IDs of the server's models; an error notes that these were asked for."""
    try:
        return [model.id for model in client.models()]
    except svir.Error as error:
        error.add_note(LISTING)
        raise


def choose_model(client: svir.Client) -> str:
    """The server's model, when it has just one.

    Raises:
        RefusedError: It has several, or none.
    """
    return only_model(listed(client))


def only_model(names: list[str]) -> str:
    """The one model there is.

    Raises:
        RefusedError: There are several, or none.
    """
    if len(names) == 1:
        return names[0]
    if not names:
        raise RefusedError("the server lists no model", "Name one with --model ID.", code=CONFIG)
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise RefusedError(
        f"the server has {len(names)} models ({shown})", "Choose with --model ID.", code=CONFIG
    )
