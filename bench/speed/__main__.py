"""Runs the benchmarks, and writes ``bench/results/speed.json``, ``docs/benchmarks.md`` and its pictures."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.peers.libraries import LIBRARIES, ROOT, Library, install
from bench.peers.measure import imports
from bench.speed import page
from bench.speed.run import RunError, measure
from bench.speed.subjects import CLIENTS, PARTS, SUBJECTS
from bench.speed.tables import TABLES, median, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.peers.libraries import Environment

RESULTS = ROOT / "bench" / "results" / "speed.json"
DOCS = ROOT / "docs"
PLOTS = Library("matplotlib", "3.11.1", "")
IMPORTS = 5
"""Processes an import is measured in, beside one that does not count."""
SLOW = 20.0
"""Seconds; a run that took longer is not repeated."""
TEXT = b'The river bends where its banks are soft, and the bend grows. "It turns," he said.\n'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    add = parser.add_argument
    add(
        "--cache", type=Path, default=ROOT / ".venv-peers", help="where libraries are installed (%(default)s)"
    )
    add("--rounds", type=int, default=3, help="runs of each part of each subject (%(default)s)")
    add("--only", default="", help="the subjects to measure again, by semicolon; the rest stays as it is")
    add("--parts", default="", help=f"the parts: {', '.join(PARTS)}, decode, imports; likewise")
    add("--image-mib", type=int, default=1024, help="the image that is sent (%(default)s)")
    add("--text-mb", type=int, default=100, help="the text file that is sent (%(default)s)")
    add("--page", action="store_true", help="only write the page and its pictures, from the stored results")
    given = parser.parse_args()
    only = {*given.only.split(";")} - {""} or {*SUBJECTS}
    parts = {*given.parts.split(",")} - {""} or {*PARTS, "decode", "imports"}
    if unknown := only - {*SUBJECTS} | parts - {*PARTS, "decode", "imports"}:
        parser.error(f"no such subject or part: {', '.join(sorted(unknown))}")
    cache = given.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    if not given.page:
        whole = not (given.only or given.parts)
        found = {} if whole or not RESULTS.exists() else json.loads(RESULTS.read_text("ascii"))
        found |= {"image_mib": given.image_mib, "text_mb": given.text_mb, "rounds": given.rounds}
        for _ in everything(found, cache, only, parts):
            RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="ascii")
    found = json.loads(RESULTS.read_text("ascii"))
    (DOCS / "benchmarks.md").write_text(page.written(found), encoding="ascii")
    draw(found, cache)
    show(found)


def everything(found: dict[str, Any], cache: Path, only: set[str], parts: set[str]) -> Iterator[None]:
    """Adds what is wanted to what is known; what is there can be kept after each step."""
    found |= {
        "made": dt.datetime.now(dt.UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    for key in ("libraries", "imports", "runs", "failed", "decode"):
        found.setdefault(key, {})
    environments = dict(installed(found, cache, {SUBJECTS[name].library for name in only}))
    if "imports" in parts:
        print("imports", flush=True)
        known = {name: one for name, one in environments.items() if name in LIBRARIES}
        found["imports"] |= imports(known, IMPORTS)
        yield
    if "decode" in parts and {"svir", "openai"} <= {*environments}:
        found["decode"] = decoding(environments)
        yield
    yield from runs(found, environments, only, parts)


def installed(found: dict[str, Any], cache: Path, wanted: set[str]) -> Iterator[tuple[str, Environment]]:
    """The environments."""
    for name in wanted:
        one = install(name, cache, again=not CLIENTS[name].version, library=CLIENTS[name])
        found["libraries"][name] = {"version": one.version, "packages": one.packages}
        yield name, one


def runs(
    found: dict[str, Any], environments: dict[str, Environment], only: set[str], parts: set[str]
) -> Iterator[None]:
    """Runs all subjects in turn, round after round."""
    subjects = {name: how for name, how in SUBJECTS.items() if name in only}
    for name, how in subjects.items():
        for part in parts & {*how.parts}:
            found["runs"].setdefault(name, {})[part] = []
            found["failed"].get(name, {}).pop(part, None)
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(Path(folder), found, parts)
        for number in range(found["rounds"]):
            for part in filter(parts.__contains__, PARTS):
                for name, how in subjects.items():
                    if part not in how.parts or part in found["failed"].get(name, {}):
                        continue
                    if any(run["wall"] > SLOW for run in found["runs"][name][part]):
                        continue
                    print(f"round {number + 1}: {part}, {name}", flush=True)
                    try:
                        told = measure(name, part, environments[how.library].python, files.get(part))
                    except RunError as failed:
                        found["failed"].setdefault(name, {})[part] = str(failed)
                    else:
                        found["runs"][name][part].append({key: round(told[key], 7) for key in told})
                yield


def make_files(folder: Path, found: dict[str, Any], parts: set[str]) -> dict[str, Path]:
    """The files that are sent, and small ones beside them."""
    files = {"image": folder / "large.png", "text": folder / "large.txt"}
    block = os.urandom(1 << 20)
    folder.joinpath("small.png").write_bytes(block)
    folder.joinpath("small.txt").write_bytes(TEXT)
    with files["image"].open("wb") as image:
        for _ in range(found["image_mib"] if "image" in parts else 0):
            image.write(block)
    with files["text"].open("wb") as text:
        for _ in range(found["text_mb"] * 10 if "text" in parts else 0):
            text.write(TEXT * (100_000 // len(TEXT)))
    return files


def decoding(environments: dict[str, Environment]) -> dict[str, Any]:
    """What ``bench/decode.py`` says, run where ``openai`` is installed, with svir beside it."""
    with tempfile.TemporaryDirectory() as folder:
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        ran = subprocess.run([environments["svir"].python, "-c", code], capture_output=True, check=True)
        out = Path(folder, "decode.json")
        subprocess.run(
            [
                environments["openai"].python,
                ROOT / "bench" / "decode.py",
                *("--only", "text,reasoning,tool call,growth", "--json", out),
            ],
            env={"PYTHONPATH": ran.stdout.decode().strip(), "PATH": "/usr/bin:/bin"},
            check=True,
        )
        told: dict[str, Any] = json.loads(out.read_text("ascii"))
    return {row: {name: round(value, 3) for name, value in seen.items()} for row, seen in told.items()}


def draw(found: dict[str, Any], cache: Path) -> None:
    """Writes the pictures."""
    pictures = {}
    for table in TABLES:
        column = table.columns[0]
        known = {name: found["runs"].get(name, {}).get(column.part) for name in table.subjects}
        bars = {name: round(median(column, seen), 3) for name, seen in known.items() if seen}
        if bars:
            pictures[table.key] = {"title": column.title, "bars": bars}
    python = install("plots", cache, again=False, library=PLOTS).python
    command = [python, Path(__file__).with_name("plots.py"), DOCS]
    subprocess.run(command, input=json.dumps(pictures), text=True, check=True)


def show(found: dict[str, Any]) -> None:
    """Prints the tables."""
    tables = [rows(table, found) for table in TABLES]
    tables.append([["bars", "promised", "measured", "holds"], *page.told_bars(found)])
    for lines in tables:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        sys.stdout.write("\n")
        for line in lines:
            cells = (text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))
            print("  ".join((line[0].ljust(widths[0]), *cells)))


if __name__ == "__main__":
    main()
