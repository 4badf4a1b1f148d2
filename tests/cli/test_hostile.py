"""What another user of the machine, or a reader of what a command printed, does not see."""

from __future__ import annotations

import pytest
import typer

from svir.cli._app import app
from svir.cli._exits import CODES
from svir.testing import MockServer


def options(command, path=()):
    """Every option of every command, with the command's name."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))
    yield from ((" ".join(path), option) for option in command.params)


def test_no_option_takes_a_key_since_command_lines_are_seen_by_all():
    found = [(name, option) for name, option in options(typer.main.get_command(app)) if "key" in option.name]
    assert {name for name, _ in found} >= {"ask", "chat", "models", "probe"}
    assert {option.name for _, option in found} == {"api_key_env"}


@pytest.mark.parametrize(
    "words", [["ask", "-m", "m", "hi"], ["chat", "-m", "m"], ["models"]], ids=lambda words: words[0]
)
def test_a_key_that_a_server_repeats_is_not_printed(words, command):
    with MockServer() as server:
        server.reply(status=401, body={"error": {"message": "Incorrect API key: sk-hidden-key, try another"}})
        done = command(
            *words, "--url", server.url, "--api-key-env", "KEY", stdin=b"hi\n", KEY=" sk-hidden-key "
        )
    assert done.returncode == CODES["authentication"]
    assert b'The server says: "Incorrect API key: <key>, try another"' in done.stderr
    assert b"hidden" not in done.stdout + done.stderr
