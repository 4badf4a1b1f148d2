"""`svir probe` and its options, as typer reads them. What it does is in `probe/`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from svir.cli._connect import named_server
from svir.cli._exits import finish
from svir.cli._options import AllowHttp, Gguf, Header, KeyName, Model, Query, Url
from svir.cli._refused import RefusedError

__all__ = ["EXAMPLE", "probe"]

GROUPS = (
    *("models", "stream", "usage", "finish", "tools", "reasoning", "format"),
    *("images", "roles", "fields", "errors", "leaving", "speed"),
)
"""Those of `probe/_questions`, which is not loaded for the help; a test compares the two."""
EXAMPLE = "\n".join(
    (
        "\b",
        *textwrap.wrap(f"Groups: {', '.join(GROUPS)}.", 78),
        "Example: svir probe http://localhost:1234 --only stream,tools -v",
    )
)
SECONDS = 300
SECONDS_HELP = f"The longest it may take; {SECONDS} when left out."


def groups(incomplete: str) -> list[str]:
    """The groups that begin so; behind a comma, those that are not named before it."""
    before, comma, begun = incomplete.rpartition(",")
    named = before.split(",")
    return [f"{before}{comma}{name}" for name in GROUPS if name.startswith(begun) and name not in named]


def probe(
    context: typer.Context,
    url: Annotated[
        # Told above the options, as PROMPT of `svir ask`.
        str | None,
        typer.Argument(metavar="URL", hidden=True),
    ] = None,
    *,
    url_option: Url = None,
    model: Model = "",
    api_key_env: KeyName = None,
    allow_http: AllowHttp = False,
    header: Header = None,
    query: Query = None,
    local: Annotated[
        bool, typer.Option("--local", help="Start a small model on this machine and probe it.")
    ] = False,
    gguf: Gguf = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="GROUP", autocompletion=groups, help="Only these groups (below), with commas."
        ),
    ] = None,
    no_overflow: Annotated[
        bool, typer.Option("--no-overflow", help="Do not send a prompt that is too long.")
    ] = False,
    max_seconds: Annotated[
        int,
        typer.Option("--max-seconds", metavar="N", min=1, show_default=False, help=SECONDS_HELP),
    ] = SECONDS,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page, too.")
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--compare", metavar="A B", help="Compare the reports of two --json files."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what was sent and what came.")
    ] = False,
) -> None:
    """Ask the server at URL (or SVIR_URL) what it does. The cost is said before."""
    if compare is not None:
        alone = {"compare", "html"}
        if any(named(context, name) for name in context.params if name not in alone):
            raise RefusedError("--compare reads two files and asks no server", "Only --html goes with it.")
        from svir.cli.probe._compare_command import run_comparison

        a, b = compare
        raise typer.Exit(finish(lambda: run_comparison(a, b, html=html)))
    from svir.cli.probe._command import Wanted, run  # not loaded by the other commands

    if url is not None and url_option is not None:
        raise RefusedError("the URL is given twice", "Give it with --url or without.")
    if as_json and verbose:
        raise RefusedError("--json and --verbose exclude each other", "The JSON has everything in it.")
    server = named_server(
        url=url_option if url is None else url,
        source="URL" if url_option is None else "--url",
        model=model,
        api_key_env=api_key_env,
        allow_http=allow_http,
        header=header,
        query=query,
        local=local,
        gguf=gguf,
    )
    wanted = Wanted(
        server=server,
        only=tuple(name.strip() for given in only or () for name in given.split(",") if name.strip()),
        overflow=not no_overflow,
        seconds=float(max_seconds),
    )
    raise typer.Exit(finish(lambda: run(wanted, as_json=as_json, verbose=verbose, html=html), server=server))


def named(context: typer.Context, name: str) -> bool:
    """Whether a parameter is on the command line, and not in the environment or left out."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
