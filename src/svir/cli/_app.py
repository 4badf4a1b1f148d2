"""The commands and their options, as typer reads them. What they do is in `_commands`."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

import svir
from svir.cli import _app_chat, _app_decode, _app_probe, _commands
from svir.cli._completion import NAME, Completion, completes, script
from svir.cli._connect import named_server
from svir.cli._exits import EXIT_CODES, NO_OUTPUT, finish, settle
from svir.cli._options import (
    AllowHttp,
    ApiPath,
    Effort,
    Gguf,
    Header,
    KeyName,
    Lenient,
    Local,
    MaxTokens,
    Model,
    Query,
    System,
    Url,
)
from svir.cli._output import say, write, writing
from svir.cli._question import Question
from svir.cli._refused import USAGE, RefusedError
from svir.cli._streams import stand
from svir.cli._usage import plain

__all__ = ["app", "run"]

WIDTH = 78
"""Columns of the help's last lines, which are indented by two."""

NO_BREAK = "\xa0"
UNWRAPPED = "\b\n"
"""What begins a text whose lines are to stay as they are."""

EPILOG = "\n".join(
    (
        "\b",
        'Example: svir ask --local "Why do rivers meander?"',
        'To have words completed: eval "$(svir --show-completion bash)", or zsh.',
        *textwrap.wrap(
            f"Exit codes: {'; '.join(code.replace(' ', NO_BREAK) for code in EXIT_CODES)}.", WIDTH
        ),
    )
).replace(NO_BREAK, " ")


class ShortEnd:
    """A help whose end is written as it is, without an empty line before it: a screen has few."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (click's signature)
        """Writes the end: examples, mostly."""
        formatter.write(f"{(self.epilog or '').removeprefix(UNWRAPPED)}\n")


class Group(ShortEnd, TyperGroup):
    """All commands."""


app = typer.Typer(
    name=NAME,
    cls=Group,
    help="Talk to a language-model server.",
    epilog=EPILOG,
    rich_markup_mode=None,  # a screen's worth of plain lines, also in a pipe
    add_completion=False,  # see `_completion`
    pretty_exceptions_enable=False,
)

RAW = "Raw bytes are printed as they come, and not read: leave out one of them."
EXAMPLE = """\b
Example: git diff | svir ask -f - "Write a commit message." > message.txt"""


class Command(ShortEnd, TyperCommand):
    """One whose help does not spend a line on --help: whoever reads it knows."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option, which is not listed."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.hidden = True
        return option


def run() -> int:
    """Reads the command line, does what it says, and returns the exit code."""
    if not stand():
        say("svir: the output cannot be written: standard output is closed")
        return NO_OUTPUT
    code = finish(lambda: dispatch(sys.argv[1:]))
    settle()
    return code


def dispatch(args: list[str]) -> int:
    """Does what these words say; a command has ended by itself, as it should, when this goes on."""
    command = get_command(app)
    try:
        if completes():
            command(prog_name=NAME)
        # Not typer's own `main`, which would say things in its way: an exit code of 1 for a broken pipe, four
        # lines for a wrong option, and a traceback for a full disk.
        with writing(), command.make_context(NAME, [*args] or ["--help"]) as context:  # which takes them out
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code if args else USAGE
    except TyperException as error:
        path = getattr(getattr(error, "ctx", None), "command_path", NAME)
        say(f"svir: {plain(path, error.format_message())}", f"`{path} --help` lists the options.")
        return USAGE
    except SystemExit as end:  # of what completes
        return end.code if isinstance(end.code, int) else USAGE
    return 0


@app.callback(invoke_without_command=True)
def root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
    show_completion: Completion = None,
) -> None:
    if version:
        write(sys.stdout, f"svir {svir.__version__}\n")
        raise typer.Exit
    if show_completion is not None:
        write(sys.stdout, script(show_completion))
        raise typer.Exit


@app.command(cls=Command, epilog=EXAMPLE)
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
    header: Header = None,
    query: Query = None,
    path: ApiPath = None,
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
    """Ask a model. PROMPT left out, or -, is read from standard input."""
    if raw and json_schema is not None:
        raise RefusedError("--raw and --json-schema exclude each other", RAW)
    if raw and lenient:
        raise RefusedError("--raw and --lenient exclude each other", RAW)
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
    server = named_server(
        url=url,
        model=model,
        api_key_env=api_key_env,
        allow_http=allow_http,
        header=header,
        query=query,
        path=path,
        lenient=lenient,
        local=local,
        gguf=gguf,
    )
    raise typer.Exit(finish(lambda: _commands.ask(question, server), server=server))


app.command(cls=Command, epilog=_app_chat.EXAMPLE)(_app_chat.chat)


@app.command(cls=Command, epilog="Example: svir models --url http://localhost:1234")
def models(
    *,
    url: Url = None,
    api_key_env: KeyName = None,
    allow_http: AllowHttp = False,
    header: Header = None,
    query: Query = None,
    local: Local = False,
    gguf: Gguf = None,
) -> None:
    """List the server's models, one ID a line."""
    server = named_server(
        url=url,
        api_key_env=api_key_env,
        allow_http=allow_http,
        header=header,
        query=query,
        local=local,
        gguf=gguf,
    )
    raise typer.Exit(finish(lambda: _commands.list_models(server), server=server))


@app.command(cls=Command, epilog="Example: svir local --port 8080")
def local(
    *,
    gguf: Annotated[
        Path | None,
        typer.Option("--gguf", metavar="PATH", help="The model's file; a small one when left out."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            show_default=False,
            help="The loopback port; any free one when left out.",
        ),
    ] = 0,
) -> None:
    """Keep a local model server running, and print its URL and key."""
    raise typer.Exit(finish(lambda: _commands.run_local(gguf, port)))


app.command(cls=Command, epilog=_app_probe.EXAMPLE)(_app_probe.probe)
app.command(cls=Command, epilog=_app_decode.EXAMPLES)(_app_decode.decode)
