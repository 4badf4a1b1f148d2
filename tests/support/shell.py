"""The commands that pages show, run as a reader would type them, or checked where that cannot be.

``svir`` runs for real, against the page's scripted server; what the page shows below a command is what it
must print, standard output and error as they come. Of ``svir local`` and of ``--local``, which need a model,
and of ``svir chat``, which needs a terminal, the words are checked alone. So are those of ``pip`` and
``make``: the extras and the targets they name must be there.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import svir

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(svir.__file__).parents[1]
NEEDS_A_MODEL = re.compile(r"\bsvir (local|chat)\b|--local\b|--gguf\b")
VARIES = re.compile(r"; \d+\.\d tokens/s|\b\d+(\.\d+)?(?= m?s\b)|(?<=127\.0\.0\.1:)\d+")
"""What is another each time: times, ports, and a speed, which a quick answer has not at all."""
PLAIN = {"cat", "echo", "export", "head", "printf", "svir", "wc"}
"""Programs that every reader has, and that do no harm."""


class Shell:
    """A shell in a folder.

    Args:
        folder: Where commands run.
        url: The server that ``svir`` asks.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._programs = folder / ".bin"
        self._known = set(PLAIN)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVIR", "COV"))}
        self._environment = {
            **kept,
            "PATH": os.pathsep.join([str(self._programs), kept["PATH"]]),
            "PYTHONPATH": str(SOURCE),
            "SVIR_URL": url,
            "COLUMNS": "110",
            "TERM": "dumb",
            "NO_COLOR": "1",
        }
        self._write("svir", f'exec {shlex.quote(sys.executable)} -W error -m svir "$@"')

    def stand_in(self, name: str, prints: str) -> None:
        """Puts a program in the place of one that readers have: it prints this, whatever it is asked."""
        self._write(name, f"printf %s {shlex.quote(prints)}")
        self._known.add(name)

    def follow(self, block: str, where: str) -> str:
        """Does what a block shows.

        Returns:
            What the last command printed.
        """
        printed = ""
        for command, shown in commands(block):
            printed = self._do(command, shown, where)
        return printed

    def _do(self, command: str, shown: str, where: str) -> str:
        words = shlex.split(command, comments=True)
        if words[:2] == ["pip", "install"]:
            return check_install(words[2:], where)
        if words[0] == "make":
            return check_make(words[1:], where)
        if NEEDS_A_MODEL.search(command):
            return check_words(words, where)
        unknown = programs(command) - self._known
        assert not unknown, f"{where}: {', '.join(sorted(unknown))}: skip the block, or stand in for it"
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self._environment[name] = value
            return ""
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        if shown:
            expected, got = VARIES.sub("", shown), VARIES.sub("", ran.stdout)
            same = doctest.OutputChecker().check_output(expected, got, doctest.ELLIPSIS)
            assert same, f"{where}: {command}\n{ran.stdout}"
        else:
            assert ran.returncode == 0, f"{where}: {command}\n{ran.stdout}"
        return ran.stdout

    def _write(self, name: str, script: str) -> None:
        self._programs.mkdir(exist_ok=True)
        path = self._programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the lines that are shown below it."""
    joined = re.sub(r"\\\n(?:> )?\s*", "", block)
    parts = re.split(r"^\$ ", joined, flags=re.MULTILINE)
    assert not parts[0].strip(), f"a console block begins with a command: {parts[0]}"
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts[1:])]


def programs(command: str) -> set[str]:
    """The programs that a line runs: the first word of each of its parts."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found, first = set(), True
    for word in lexer:
        if first and "=" not in word:
            found.add(word)
            first = False
        first = first or word in {"|", "||", "&&", ";", "&"}
    return found


def check_install(words: list[str], where: str) -> str:
    """Finds the extras of svir that ``pip install`` is to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for word in words:
        name, _, extras = word.partition("[")
        if name == "svir" and extras:
            for extra in extras.rstrip("]").split(","):
                assert extra in project["optional-dependencies"], f"{where}: no extra {extra}"
    assert words, where
    return ""


def check_make(words: list[str], where: str) -> str:
    """Finds the targets, which are phony, and the variables that are given."""
    makefiles = "\n".join(path.read_text() for path in [ROOT / "Makefile", *(ROOT / "make").glob("*.mk")])
    targets = set(re.findall(r"^([\w-]+):", makefiles, re.MULTILINE))
    variables = set(re.findall(r"^(\w+) *[?:]?=", makefiles, re.MULTILINE))
    for word in words:
        name, given, _ = word.partition("=")
        assert name in (variables if given else targets), f"{where}: make knows no {name}"
    return ""


def check_words(words: list[str], where: str) -> str:
    """Reads a command line with the program's own parser, and runs nothing."""
    pytest.importorskip("typer")
    from typer.main import get_command

    from svir.cli._app import app

    while words[0] != "svir":
        words = words[1:]  # what comes before, in a pipe
    end = next((n for n, word in enumerate(words) if word in {"|", ">", ">>", "2>", "&"}), len(words))
    command, name = get_command(app), "svir"
    rest = words[1:end]
    while hasattr(command, "commands"):
        name, *rest = rest
        assert name in command.commands, f"{where}: svir has no command {name}"
        command = command.commands[name]
    command.make_context(name, rest)
    return ""
