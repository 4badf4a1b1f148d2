"""Runs a program of ``examples/`` as its docstring says: in a process of its own, with arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import svir

FOLDER = Path(__file__).parents[2] / "examples"
PATIENCE = 60


@dataclass
class Ran:
    """What a program printed, and how it ended."""

    out: str
    err: str
    code: int


KEY = "svir-key-of-examples"


def environment() -> dict[str, str]:
    """Ours, with the svir that is being tested, and a key for the server."""
    source = str(Path(svir.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "PYTHONUTF8": "1", "SVIR_KEY": KEY}


def command(name: str, *arguments: object) -> list[str]:
    """How a program is started, with warnings as errors."""
    return [sys.executable, "-W", "error", str(FOLDER / f"{name}.py"), *map(str, arguments)]


def run(name: str, *arguments: object, given: str = "", folder: Path | None = None) -> Ran:
    """Runs a program to its end, with the text given on its standard input."""
    ran = subprocess.run(
        command(name, *arguments),
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(),
        cwd=folder,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(ran.stdout, ran.stderr, ran.returncode)
