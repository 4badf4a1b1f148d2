"""Runs one part of one subject: a client in a fresh process, and the load generator beside it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.run import environment
from bench.speed.subjects import SENDING, SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent

LONGEST = 900.0
"""Seconds one run may take."""


class RunError(Exception):
    """A client did not do what it was asked; the text is the last line it wrote."""


@contextmanager
def generator() -> Iterator[str]:
    """The URL of a load generator, which lives as long as the block."""
    command = [sys.executable, str(HERE / "server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.communicate()


def stats(url: str) -> dict[str, float]:
    """What the generator counted so far: its CPU seconds, connections, requests and bytes."""
    with urllib.request.urlopen(f"{url}/stats") as response:
        told: dict[str, float] = json.load(response)
    return told


def measure(name: str, part: str, python: Path, path: Path | None = None, **added: str) -> dict[str, float]:
    """What a client measured, and beside it what its generator did meanwhile.

    Args:
        name: The subject.
        part: What it is to do.
        python: The interpreter of its environment.
        path: The file that is to be sent.
        **added: Environment variables beside those that every child is given.

    Raises:
        RunError: The client raised, or took too long.
    """
    subject = SUBJECTS[name]
    wanted, face = ("sent", f"send_{part}") if part in SENDING else (part, subject.face)
    with tempfile.TemporaryDirectory() as folder, generator() as url:
        before = stats(url)
        try:
            ran = subprocess.run(
                [python, HERE / "clients" / f"{subject.client}.py", wanted, face, url, str(path)],
                cwd=folder,
                env=environment(folder) | added,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RunError(f"not done in {LONGEST:.0f} s") from None
        after = stats(url)
    if ran.returncode:
        raise RunError(ran.stderr.strip().rpartition("\n")[2][:200])
    told: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    told["generator_cpu"] = after["cpu"] - before["cpu"]
    told["connections"] = after["connections"] - before["connections"] - 1
    told["received"] = after["received"] - before["received"]
    return told
