"""Completion: the script for each shell, and the words that shells are told."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest

import svir
from svir.cli.probe._questions import GROUPS
from tests.cli.test_help import COMMANDS

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_printed(command, tmp_path, shell):
    done = command("--show-completion", shell)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"_SVIR_COMPLETE=complete_{shell}" in done.stdout.decode()
    last = done.stdout.decode().splitlines()[-1]
    assert last.startswith("# For every new shell")
    assert f"svir --show-completion {shell}" in last
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_bytes(done.stdout)
        assert subprocess.run([shell, "-n", path], capture_output=True, check=True).stderr == b""


def test_another_shell_is_refused(command):
    assert command("--show-completion", "tcsh").returncode == 2


# How each of them asks: the words so far, and the one to be completed.
ASKING = {
    "bash": lambda words: {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)},
    "zsh": lambda words: {"_TYPER_COMPLETE_ARGS": " ".join(words)},
    "fish": lambda words: {
        "_TYPER_COMPLETE_ARGS": " ".join(words),
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["svir", ""], set(COMMANDS)),
        (["svir", "as"], {"ask"}),
        (["svir", "ask", "--eff"], {"--effort"}),
        (["svir", "ask", "--effort", ""], set(svir.Effort)),
        (["svir", "chat", "--effort", "m"], {"minimal", "medium", "max"}),
        (["svir", "decode", "--think", ""], {"split", "keep"}),
        (["svir", "decode", "--limit", "w"], {"wire_bytes="}),
        (["svir", "ask", "--api-key-env", "MY_OWN_K"], {"MY_OWN_KEY"}),
        (["svir", "probe", "--only", ""], set(GROUPS)),
        (["svir", "probe", "--only", "tools,f"], {"tools,finish", "tools,format", "tools,fields"}),
        (["svir", "probe", "--only", "tools,to"], set()),
        (["svir", "--show-completion", ""], set(SHELLS)),
        (["svir", "decode", "answer"], set()),  # a file: the shell's own matter
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words_are_completed(command, shell, words, wanted):
    done = command(MY_OWN_KEY="x", _SVIR_COMPLETE=f"complete_{shell}", **ASKING[shell](words))
    assert (done.returncode, done.stderr) == (0, b"")
    told = done.stdout.decode()
    found = {word for word in wanted if word in told}
    assert found == wanted
    if shell == "bash":
        assert set(told.split()) == wanted
    if not wanted:
        assert told.strip() in {"", "_files"}


def test_bash_completes(environment, command, tmp_path):
    """The real shell, with the script that is printed for it."""
    (tmp_path / "svir").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m svir "$@"\n')
    (tmp_path / "svir").chmod(0o755)
    script = command("--show-completion", "bash").stdout.decode()
    lines = [
        script,
        'complete -p svir | grep -q -- "-o default" || exit 3',
        'COMP_WORDS=(svir as) COMP_CWORD=1; _svir_completion svir; echo "${COMPREPLY[*]}"',
        'COMP_WORDS=(svir ask --effort "h") COMP_CWORD=3; _svir_completion svir; echo "${COMPREPLY[*]}"',
    ]
    path = os.pathsep.join([str(tmp_path), environment["PATH"]])
    done = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)],
        env={**environment, "PATH": path},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"ask\nhigh\n", b"")
