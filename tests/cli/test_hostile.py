"""What another user of the machine does not see."""

from __future__ import annotations

import typer

from svir.cli._app import app


def options(command, path=()):
    """Every option of every command, with the command's name."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))
    yield from ((" ".join(path), option) for option in command.params)


def test_no_option_takes_a_key_since_command_lines_are_seen_by_all():
    found = [(name, option) for name, option in options(typer.main.get_command(app)) if "key" in option.name]
    assert {name for name, _ in found} >= {"ask", "chat", "models", "probe"}
    assert {option.name for _, option in found} == {"api_key_env"}
