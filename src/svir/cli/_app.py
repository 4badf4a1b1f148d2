"""The commands and their options, as typer reads them. What they do is in `_commands`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import svir
from svir.cli import _app_chat, _app_decode, _app_probe, _commands
from svir.cli._connect import Server
from svir.cli._exits import EPILOG, USAGE, finish
from svir.cli._options import (
    AllowHttp,
    Effort,
    Gguf,
    KeyName,
    Lenient,
    Local,
    MaxTokens,
    Model,
    System,
    Url,
)
from svir.cli._output import say, write
from svir.cli._question import Question

__all__ = ["app", "run"]

app = typer.Typer(
    name="svir",
    help="Talk to a language-model server.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,  # a screen's worth of plain lines, also in a pipe
    add_completion=False,
    pretty_exceptions_enable=False,
)

EXAMPLES = """\b
Examples:
  svir ask --local "Why do rivers meander?"
  git diff | svir ask -f - "Write a commit message." > message.txt

The exit codes are listed by `svir --help`."""


def run() -> int:
    """Reads the command line, does what it says, and returns the exit code."""
    try:
        app(prog_name="svir")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@app.callback(invoke_without_command=True)
def root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        write(sys.stdout, f"svir {svir.__version__}\n")
        raise typer.Exit


@app.command(epilog=EXAMPLES)
def ask(
    prompt: Annotated[
        str | None,
        # Told above the options: typer would list it with Python's word for its type.
        typer.Argument(metavar="PROMPT", hidden=True),
    ] = None,
    *,
    image: Annotated[
        list[str] | None, typer.Option("--image", "-i", metavar="PATH", help="An image; repeatable.")
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option("--file", "-f", metavar="PATH", help="A text file, or - for stdin; repeatable."),
    ] = None,
    system: System = None,
    model: Model = "",
    url: Url = None,
    api_key_env: KeyName = None,
    allow_http: AllowHttp = False,
    local: Local = False,
    gguf: Gguf = None,
    effort: Effort = None,
    max_tokens: MaxTokens = None,
    json_schema: Annotated[
        Path | None,
        typer.Option("--json-schema", metavar="FILE", help="A JSON Schema that the answer must meet."),
    ] = None,
    lenient: Lenient = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print the server's bytes as they are.")] = False,
) -> None:
    """Ask a model, and print its answer as it arrives.

    PROMPT is what to ask; left out, or -, it is read from standard input. The answer goes to
    standard output; reasoning, token counts and errors go to standard error.
    """
    if raw and json_schema is not None:
        say("svir: give --raw or --json-schema: raw bytes are not read, so no schema can be kept to")
        raise typer.Exit(USAGE)
    question = Question(
        prompt=prompt,
        system=system,
        images=tuple(image or ()),
        files=tuple(file or ()),
        effort=effort,
        max_tokens=max_tokens,
        json_schema=json_schema,
        raw=raw,
    )
    server = Server(
        url=url,
        model=model,
        api_key_env=api_key_env,
        allow_http=allow_http,
        lenient=lenient,
        local=local,
        gguf=gguf,
    )
    raise typer.Exit(finish(lambda: _commands.ask(question, server), keyed=api_key_env is not None))


app.command(epilog=_app_chat.EXAMPLE)(_app_chat.chat)


@app.command()
def models(
    *,
    url: Url = None,
    api_key_env: KeyName = None,
    allow_http: AllowHttp = False,
    local: Local = False,
    gguf: Gguf = None,
) -> None:
    """List the server's models, one ID a line."""
    server = Server(url=url, api_key_env=api_key_env, allow_http=allow_http, local=local, gguf=gguf)
    raise typer.Exit(finish(lambda: _commands.list_models(server), keyed=api_key_env is not None))


@app.command()
def local(
    *,
    gguf: Annotated[
        Path | None,
        typer.Option("--gguf", metavar="PATH", help="The model's file; a small one when left out."),
    ] = None,
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="The loopback port; 0 is any free one."),
    ] = 0,
) -> None:
    """Keep a local model server running, and print its URL and key."""
    raise typer.Exit(finish(lambda: _commands.run_local(gguf, port)))


app.command(epilog=_app_probe.EXAMPLE)(_app_probe.probe)
app.command(epilog=_app_decode.EXAMPLES)(_app_decode.decode)
