"""The help of every command, whichever there are: it fits a screen, and its examples can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import svir
from svir.cli._app import app
from svir.cli._exits import CODES
from svir.cli.probe._questions import GROUPS
from tests.support.shell import check_words

COMMANDS = get_command(app).commands
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
LINES, COLUMNS = 23, 80  # of a terminal of 24 lines, whose last one is the next prompt's


def words_of(text):
    """The command lines of a help's examples."""
    return [
        shlex.split(line) for line in text.splitlines() if re.search(r"^( |Examples?:).*\bsvir [a-z]", line)
    ]


def test_the_commands_are_all_there():
    assert {"ask", "chat", "models", "probe", "decode", "local"} <= set(COMMANDS)


@pytest.mark.parametrize("columns", ["80", "200", "20", "1"])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_a_screen(command, name, columns):
    done = command(*filter(None, [name]), "--help", COLUMNS=columns)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode("ascii").splitlines()
    if int(columns) >= COLUMNS:
        assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_has_an_example_that_can_be_typed(command, name):
    text = command(*filter(None, [name]), "--help").stdout.decode()
    examples = words_of(text[text.index("Example") :])
    assert examples
    for words in examples:
        assert not name or f"svir {name}" in shlex.join(words)
        check_words(words, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_tells_every_option(name):
    section = PAGE.read_text("ascii").split(f"\n## `svir {name}", 1)[1].split("\n## ", 1)[0]
    for option in COMMANDS[name].params:
        words = [word for word in option.opts if word.startswith("-") and word != "--help"]
        assert not words or any(f"`{word}" in section for word in words), words


def test_the_exit_codes_are_in_the_first_help_alone(command):
    told = command("--help").stdout.decode()
    assert "0 complete (how: last line); 2 usage" in told
    for kind, code in CODES.items():
        assert f"{code} {kind}" in told  # on one line
    for name in COMMANDS:
        assert "interrupted" not in command(name, "--help").stdout.decode()


def test_every_word_of_effort_is_told(command):
    told = command("ask", "--help").stdout.decode()
    assert all(effort in told for effort in svir.Effort)


def test_every_group_of_a_probe_is_told(command):
    told = command("probe", "--help").stdout.decode()
    assert f"Groups: {', '.join(GROUPS)}." in " ".join(told.split())


def test_what_to_do_with_what_completes_is_told(command):
    assert 'eval "$(svir --show-completion bash)"' in command("--help").stdout.decode()


def test_no_words_at_all_are_answered_with_the_help(command):
    done = command()
    assert (done.returncode, done.stderr) == (2, b"")
    assert done.stdout == command("--help").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["ask", "--nonsense"], "No such option: --nonsense"),
        (["nonsense"], "No such command 'nonsense'"),
        (["ask", "--effort", "wild", "x"], "svir: Invalid value for '--effort': 'wild' is not one of 'none'"),
        (["ask", "--max-tokens", "0", "x"], "'--max-tokens': it must be 1 or more"),
        (["ask", "--max-tokens", "many", "x"], "'--max-tokens': it must be a whole number"),
        (["decode"], "Missing argument 'FILE'"),
        (["models", "one", "two"], "svir: too many words: one two"),
        (["ask", "hi", "there"], "svir: too many words: there; put quotes around the prompt"),
        (["local", "--port", "70000"], "'--port': it must be 65535 or less"),
        (["--nonsense"], "No such option"),
        (["ask", "--model"], "requires an argument"),
        (["ask", "--\x1b[2J"], "No such option: --\\x1b[2J"),
    ],
)
def test_wrong_usage_is_two_lines_with_the_way_to_the_help(command, args, said):
    done = command(*args)
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("svir: ")
    assert said in first
    paths = {"svir", f"svir {args[0]}"} if args[0] in COMMANDS else {"svir"}
    assert second in {f"`{path} --help` lists the options." for path in paths}
    assert (done.returncode, done.stdout) == (2, b"")


def test_the_version_is_told(command):
    assert command("--version").stdout.decode() == f"svir {svir.__version__}\n"
