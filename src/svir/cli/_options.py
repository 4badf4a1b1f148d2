"""The options that several commands share, as typer reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import svir
from svir.cli._completion import variables
from svir.cli._gateway import Given, as_given

__all__ = [
    "AllowHttp",
    "ApiPath",
    "Effort",
    "Gguf",
    "Header",
    "KeyName",
    "Lenient",
    "Local",
    "MaxTokens",
    "Model",
    "Query",
    "System",
    "Url",
]

URL_HELP = "The server, as http://localhost:1234; or set SVIR_URL."
EFFORTS = ", ".join(svir.Effort)

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help=URL_HELP),
]
Model = Annotated[str, typer.Option("--model", "-m", metavar="ID", help="The model's ID: see `svir models`.")]
KeyName = Annotated[
    str | None,
    typer.Option(
        "--api-key-env",
        metavar="NAME",
        autocompletion=variables,
        help="The variable with the key; SVIR_KEY for SVIR_URL.",
    ),
]
AllowHttp = Annotated[
    bool, typer.Option("--allow-http", help="Send in the clear (also the key) to another host.")
]


def as_option(text: str) -> Given:
    """A header or a parameter of the query, as the parser wants it.

    Raises:
        typer.BadParameter: It is of another form; a ValueError would be told with the text, secret and all.
    """
    try:
        return as_given(text)
    except ValueError as error:
        problem = str(error)
    raise typer.BadParameter(problem)


Header = Annotated[
    list[Given] | None,
    typer.Option(
        "--header",
        metavar="NAME=...",
        parser=as_option,
        help="Add a header: its value, or env:VARIABLE with it.",
    ),
]
Query = Annotated[
    list[Given] | None,
    typer.Option(
        "--query",
        metavar="NAME=...",
        parser=as_option,
        help="Add to every URL: a value, or env:VARIABLE with it.",
    ),
]
ApiPath = Annotated[
    str | None,
    typer.Option("--path", metavar="PATH", help="Where to ask below the URL, as /chat/completions."),
]
Local = Annotated[bool, typer.Option("--local", help="Start a small model on this machine, and use it.")]
Gguf = Annotated[
    Path | None, typer.Option("--gguf", metavar="PATH", help="The local model's file; means --local.")
]
System = Annotated[str | None, typer.Option("--system", "-s", metavar="TEXT", help="The system prompt.")]
Effort = Annotated[
    svir.Effort | None, typer.Option("--effort", metavar="WORD", help=f"Reasoning: {EFFORTS}.")
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", metavar="N", min=1, help="Most tokens of the answer.")
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Read answers that stray from the protocol.")]
