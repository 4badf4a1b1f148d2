"""Fixtures for whole commands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import svir
from tests.cli.scripted import Script


@pytest.fixture
def script() -> Iterator[Callable[..., Script]]:
    """Starts scripted servers; each must have been asked for all of its responses."""
    started: list[Script] = []

    def start(*responses) -> Script:
        started.append(Script(list(responses)))
        return started[-1]

    yield start
    for one in started:
        one.finish()


@pytest.fixture
def environment(monkeypatch) -> dict[str, str]:
    """An environment in which only what a test sets reaches the command."""
    home = str(Path(svir.__file__).parents[1])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVIR", "COV"))}
    return {**kept, "PYTHONPATH": home, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}


@pytest.fixture
def command(environment):
    """Runs `python -m svir` as a process of its own."""

    def run(*args: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "svir", *args],
            input=stdin,
            capture_output=True,
            env={**environment, **more},
            timeout=30,
            check=False,
        )

    return run
