"""Completion of a command line, by bash, zsh or fish.

typer's own `--install-completion` writes into the user's files; here the script is printed, and where it goes
is the user's to say.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

# Private, since typer takes no shell's name but guesses it from the process above. A test holds what they do.
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script

__all__ = ["NAME", "Completion", "completes", "script", "variables"]

NAME = "svir"
VARIABLE = "_SVIR_COMPLETE"
"""What a shell sets to be told words, in the place of running a command."""


class Shell(StrEnum):
    """A shell that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


WHERE = {
    Shell.BASH: 'For every new shell, in ~/.bashrc: eval "$(svir --show-completion bash)"',
    Shell.ZSH: 'For every new shell, in ~/.zshrc, after compinit: eval "$(svir --show-completion zsh)"',
    Shell.FISH: "For every new shell: svir --show-completion fish > ~/.config/fish/completions/svir.fish",
}
"""What to do with what is printed."""

Completion = Annotated[
    Shell | None,
    typer.Option(
        "--show-completion",
        metavar="SHELL",
        is_eager=True,
        help="Print what makes bash, zsh or fish complete words.",
    ),
]


def completes() -> bool:
    """Whether a shell asks for words; typer is then made ready to tell them."""
    if VARIABLE not in os.environ:
        return False
    completion_init()
    return True


def script(shell: Shell) -> str:
    """What a shell is to run, to complete the words of `svir`."""
    completion_init()
    done = get_completion_script(prog_name=NAME, complete_var=VARIABLE, shell=shell.value)
    return f"{done}\n# {WHERE[shell]}\n"


def variables(incomplete: str) -> list[str]:
    """The names of environment variables that begin so."""
    return sorted(name for name in os.environ if name.startswith(incomplete))
