"""Fixtures for whole commands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile

import pytest

import svir
from tests.cli.scripted import served
from tests.cli.stand_in import STAND_IN
from tests.support.loopback import Loopback


def pytest_itemcollected(item):
    """Coverage leaves the command line out, and the rest of svir has tests of its own: see ``uncounted``."""
    item.add_marker(pytest.mark.uncounted)


@pytest.fixture
def script() -> Iterator[Callable[..., Loopback]]:
    """Starts loopback servers that answer one connection after the other with the next of these responses.

    A response is bytes, or the acts of the whole connection.
    """
    with ExitStack() as stack:
        yield lambda *responses: stack.enter_context(
            Loopback(*(served(one) if isinstance(one, bytes) else one for one in responses))
        )


TERMINAL = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}


@pytest.fixture
def environment(monkeypatch) -> dict[str, str]:
    """An environment in which only what a test sets reaches the command."""
    home = str(Path(svir.__file__).parents[1])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVIR", "COV"))}
    return {**kept, "PYTHONPATH": home, **TERMINAL}


@pytest.fixture
def process(environment):
    """Runs `python -m svir` as a process of its own, for what only that shows."""

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


@pytest.fixture
def command(monkeypatch, capfdbinary):
    """Runs a command as typed at a prompt, in this process: a tenth of what one of its own costs."""
    from svir.cli import _app

    def run(*args: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
        with monkeypatch.context() as patch, TemporaryFile() as file, TextIOWrapper(file) as text:
            file.write(stdin)
            file.seek(0)
            for name in os.environ:
                if name.startswith("SVIR"):
                    patch.delenv(name)
            for name, value in {**TERMINAL, **more}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["svir", *args])
            patch.setattr(sys, "stdin", text)
            capfdbinary.readouterr()
            code = _app.run()
            return subprocess.CompletedProcess(args, code, *capfdbinary.readouterr())

    return run


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts the stand-in where this process and its child import from."""

    def put(source: str = STAND_IN) -> None:
        folder = tmp_path / "site"
        folder.mkdir()
        (folder / "xllamacpp.py").write_text(source)
        home = str(Path(svir.__file__).parents[1])
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), home]))
        monkeypatch.syspath_prepend(str(folder))

    return put


@pytest.fixture
def gguf(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "tiny.gguf"
        path.write_text(text)
        return path

    return write
