"""`svir chat` and its options, as typer reads them. What it does is in `chat/`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svir.cli._connect import named_server
from svir.cli._exits import finish
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

__all__ = ["EXAMPLE", "chat"]

EXAMPLE = 'Example: svir chat --local --system "Answer in one sentence."'


def chat(
    *,
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
    load: Annotated[
        Path | None, typer.Option("--load", metavar="FILE", help="Go on with a stored conversation.")
    ] = None,
    no_history: Annotated[bool, typer.Option("--no-history", help="Do not keep what is typed.")] = False,
    lenient: Lenient = False,
) -> None:
    """Talk with a model; /help lists what can be typed. A line of a pipe is a message."""
    from svir.cli.chat._chat import Settings
    from svir.cli.chat._chat import chat as hold

    settings = Settings(
        system=system, effort=effort, max_tokens=max_tokens, load=load, history=not no_history
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
    raise typer.Exit(finish(lambda: hold(settings, server), server=server))
