"""The command: whom to ask, what is shown meanwhile, and where the report goes."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from svir.cli._connect import KEY, start_local
from svir.cli._new_file import NewFile
from svir.cli._output import Output, say, write_bytes, writing
from svir.cli.probe._ask import Asker
from svir.cli.probe._html import render
from svir.cli.probe._plan import make_plan
from svir.cli.probe._probe import Named, probe
from svir.cli.probe._terminal import print_report
from svir.client import Client
from svir.exchange import settings_from
from svir.http import Http11Backend, Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from svir.cli._connect import Server
    from svir.cli.probe._plan import Plan
    from svir.cli.probe._report import Report
    from svir.exchange import Settings

__all__ = ["Wanted", "find_out", "run"]

PIPE_WIDTH = 80


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants to know, and of whom.

    Attributes:
        server: The server; its ``path`` is not looked at, and neither is ``lenient``.
        only: The groups of questions; all when empty.
        overflow: Whether to send a prompt that is too long.
        seconds: How long all of it may take.
    """

    server: Server
    only: tuple[str, ...] = ()
    overflow: bool = True
    seconds: float = 300.0


def run(wanted: Wanted, *, as_json: bool = False, verbose: bool = False, html: Path | None = None) -> int:
    """Probes a server, prints the report, perhaps writes it as a page, and returns the exit code.

    Raises:
        svir.Error: The probe could not be made.
    """
    with contextlib.nullcontext() if html is None else NewFile(html) as file:
        report = find_out(wanted)
        if file is not None:
            file.put(render(report))
    show(report, as_json=as_json, verbose=verbose)
    if html is not None:
        say(f"svir: the page is in {html}")
    return 0


def show(report: Report, *, as_json: bool, verbose: bool) -> None:
    """Prints a report to standard output."""
    if as_json:
        write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
        return
    if callable(reconfigure := getattr(sys.stdout, "reconfigure", None)):
        reconfigure(errors="backslashreplace")  # whatever the locale: a server's words may be any
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    with writing():
        print_report(
            Printer(highlight=False, markup=False, emoji=False, width=width), report, verbose=verbose
        )


class Printer(Console):
    """A console that lets the command end when nobody reads any more: rich's own ends the process."""

    def on_broken_pipe(self) -> None:
        """Called while a ``BrokenPipeError`` is handled."""
        raise BrokenPipeError


def find_out(wanted: Wanted) -> Report:
    """Probes a server; what it may cost is said before, on standard error.

    Raises:
        svir.Error: The probe could not be made.
    """
    leave_out = () if wanted.overflow else ("overflow",)
    plan = make_plan(wanted.only, leave_out=leave_out, seconds=wanted.seconds)
    with contextlib.ExitStack() as stack:
        output = Output()
        server = wanted.server
        key, added = None, server.gateway.sources
        named = Named(server.model, server.api_key_env, server.allow_http, added)
        if server.address is None:
            running = stack.enter_context(start_local(server.gguf, 0, output))
            url, key = running.url, Secret(running.api_key)
            named = Named(server.model or running.model, KEY, added=added)
        else:
            url = server.address.url
            key = None if server.api_key_env is None else _key_in(url, server)
        secrets = [Secret(os.environ.get(name, "").strip()) for name in server.gateway.variables]
        backend = Http11Backend()
        stack.callback(backend.close)
        say(f"svir probe: {plan}")
        with _progress(output, plan) as told:
            asker = Asker(
                _settings(url, server, key, made_up=False),
                key,
                made_up=_settings(url, server, key, made_up=True),
                secrets=secrets,
                seconds=plan.seconds,
                backend=backend,
            )
            return probe(asker, plan, named, told)


def _settings(url: str, server: Server, key: Secret | None, *, made_up: bool) -> Settings:
    options = {"allow_http": server.allow_http, **server.gateway.options(made_up=made_up)}
    return settings_from(url, options, key)


def _key_in(url: str, server: Server) -> Secret:
    """The key in the variable that was named, where a client takes it.

    Raises:
        svir.ConfigError: It is not set, or what it holds cannot be a key.
    """
    Client.openai(url, api_key_env=server.api_key_env, allow_http=server.allow_http).close()
    return Secret(os.environ[server.api_key_env or ""].strip())


@contextlib.contextmanager
def _progress(output: Output, plan: Plan) -> Generator[Callable[[str], object]]:
    """A bar on standard error, only where that is a terminal."""
    columns = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=output.console, transient=True, disable=not output.console.is_terminal
    ) as bar:
        task = bar.add_task("", total=len(plan.steps))
        taken = 0

        def told(name: str) -> None:
            nonlocal taken
            bar.update(task, description=name, completed=taken)
            taken += 1

        yield told
