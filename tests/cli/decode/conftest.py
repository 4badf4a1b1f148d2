"""Fixtures for `svir decode` without a process of its own."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from svir.cli.decode import Reading, Task, decode


class Shown(NamedTuple):
    """What a command did."""

    code: int
    lines: list[dict]
    out: bytes
    err: str

    @property
    def events(self):
        return [line for line in self.lines if "error" not in line]

    @property
    def failure(self):
        return self.lines[-1].get("error")


@pytest.fixture
def show(capfdbinary, tmp_path):
    """Decodes bytes as a file: ``show(data, chunk=1)``; in JSON unless told otherwise."""

    def run(data, *, as_json=True, lenient=False, think="split", limits=None, **options):
        path = tmp_path / "recording"
        path.write_bytes(data)
        reading = {"lenient": lenient, "think": think} | ({} if limits is None else {"limits": limits})
        task = Task(file=str(path), reading=Reading(**reading), as_json=as_json, **options)
        code = decode(task)
        out, err = capfdbinary.readouterr()
        lines = [json.loads(line) for line in out.splitlines()] if as_json else []
        return Shown(code, lines, out, err.decode())

    return run
