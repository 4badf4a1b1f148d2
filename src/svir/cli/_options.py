"""The options that several commands share, as typer reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import svir
from svir.cli._completion import variables

__all__ = [
    "AllowHttp",
    "Effort",
    "Gguf",
    "KeyName",
    "Lenient",
    "Local",
    "MaxTokens",
    "Model",
    "System",
    "Url",
]

URL_HELP = "The server, as http://localhost:1234; or set SVIR_URL."
EFFORTS = ", ".join(svir.Effort)

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", envvar="SVIR_URL", show_envvar=False, help=URL_HELP),
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
