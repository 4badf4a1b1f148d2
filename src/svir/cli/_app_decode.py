"""`svir decode` and its options, as typer reads them. What it does is in `decode/`."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import svir
from svir.cli._exits import finish
from svir.cli._options import Lenient
from svir.cli._refused import RefusedError

__all__ = ["EXAMPLES", "decode"]

EXAMPLES = """\b
Examples:
  svir decode --every-cut answer.http
  curl -siN --json @ask.json localhost:1234/v1/chat/completions | svir decode -"""

LIMITS = svir.Limits().__struct_fields__
LIMIT = re.compile(rf"({'|'.join(LIMITS)})=([0-9]{{1,12}})")

CASE_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""What cases are called: the behaviour or the fault, in words."""


def limit_names(incomplete: str) -> list[str]:
    """What completes the name of a limit."""
    return [f"{name}=" for name in LIMITS if name.startswith(incomplete)]


class Think(StrEnum):
    """What becomes of think tags: a word of ``svir.Think``."""

    SPLIT = "split"
    KEEP = "keep"


def decode(
    file: Annotated[
        # Told above the options, as PROMPT of `svir ask`.
        str,  # a Path would make the same of ./- and of -
        typer.Argument(metavar="FILE", hidden=True),
    ],
    *,
    lenient: Lenient = False,
    think: Annotated[
        Think, typer.Option("--think", metavar="WORD", show_default=False, help="split or keep think tags.")
    ] = Think.SPLIT,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=N",
            autocompletion=limit_names,
            help=f"One of {', '.join(LIMITS)}.",
        ),
    ] = None,
    chunk: Annotated[
        int | None, typer.Option("--chunk", metavar="N", min=1, help="Bytes given to the decoder at a time.")
    ] = None,
    every_cut: Annotated[
        bool, typer.Option("--every-cut", help="Try every way to cut the bytes: is it all the same?")
    ] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Show neighbouring pieces of a text as one.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Show a JSON object a line.")] = False,
    to_case: Annotated[
        str | None, typer.Option("--to-case", metavar="NAME", help="Write a conformance case, to be judged.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="PATH", help="The case's file or folder.")
    ] = None,
) -> None:
    """Read a recorded answer again: its events, or where it fails.

    FILE is what `curl -i` writes, or the body of an event stream; - is standard input.
    """
    from svir.cli.decode import Reading, Task  # not loaded by the other commands
    from svir.cli.decode import decode as run

    given = [
        option
        for option, value in {
            "--lenient": lenient,
            "--chunk": chunk,
            "--every-cut": every_cut,
            "--merge": merge,
            "--json": as_json,
        }.items()
        if value
    ]
    if to_case is not None and CASE_NAME.fullmatch(to_case) is None:
        raise RefusedError("--to-case takes a name in small letters", "For example delta-key-unknown.")
    if to_case is not None and given:
        raise RefusedError(
            f"--to-case and {given[0]} exclude each other", "A case has both modes, and shows nothing."
        )
    if output is not None and to_case is None:
        raise RefusedError("--output is for --to-case", "The events go to standard output.")
    if every_cut and (chunk is not None or merge):
        raise RefusedError(
            f"--every-cut and {'--merge' if merge else '--chunk'} exclude each other",
            "--every-cut shows no events, and tries every chunk.",
        )
    task = Task(
        file=file,
        reading=Reading(lenient=lenient, think=think.value, limits=limits(limit or [])),
        chunk=chunk,
        every_cut=every_cut,
        merge=merge,
        as_json=as_json,
        case=to_case,
        output=output,
    )
    raise typer.Exit(finish(lambda: run(task), recorded=True))


def limits(given: list[str]) -> svir.Limits:
    """The limits, some of them changed.

    Raises:
        RefusedError: One is not of the form.
    """
    changed: dict[str, int] = {}
    for one in given:
        found = LIMIT.fullmatch(one)
        if found is None or not int(found[2]):
            raise RefusedError("--limit takes NAME=N, N at least 1", f"NAME is one of {', '.join(LIMITS)}.")
        changed[found[1]] = int(found[2])
    return svir.Limits(**changed)
