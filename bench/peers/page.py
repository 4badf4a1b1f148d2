"""``docs/peers.md``, made of the stored results and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.peers.adapters.harness import DEEPEST
from bench.peers.cases import CASES
from bench.peers.libraries import LIBRARIES, SUBJECTS
from bench.peers.tables import TABLES, NotRun, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.peers.libraries import Subject
    from bench.peers.tables import Table

Found = dict[str, Any]
"""What is in ``bench/results/peers.json``."""

HEAD = """\
<!-- Written by `python -m bench.peers` from bench/results/peers.json. A test holds it: do not edit. -->

# Peers

What svir and other client libraries do when a server misbehaves, and what they cost, seen from outside.
Each was asked by a small program written as its documents show, against the same scripted server. No cell
is written by hand: what was seen is in [peers.json](../bench/results/peers.json), and the words for it are
chosen by [tables.py](../bench/peers/tables.py).

Libraries have different aims, and much of this is a choice and no fault: a server that never sends `[DONE]`
is served by a library that does not ask for it, and somebody behind a proxy is glad of one that finds it.
The tables say what happens, so that you can choose. A *Name* is an exception that reached the application;
"an answer" is a normal end, after which the application holds the text.
"""

HOW = """\
## How it was measured

`make peers` does all of it again. Python {python} on {system} ({machine}), {made}.

- Each library has a virtual environment of its own, with the version below and whatever its requirements
  brought on that day. svir is built from the source tree, and asked in just the same way.
- Each case is a fresh process with a server of its own on loopback. Everything is left at its default,
  retries included. From its first request on, a process has 60 seconds, 120 where the server does not stop,
  and 180 for the image. Its environment has `PATH`, `HOME` and `LANG`, and a switch that keeps LiteLLM from
  fetching a list of prices while it is imported.
- A call's arguments are shown as the application got them. What a server sent is counted as the network
  took it.
- Memory is resident memory. For the image it is the growth of the peak, after a small image was sent.
- "key within reach" follows the attributes of the error, of its cause and of its context, {deepest} steps
  deep.
- What is imported is compiled. CPU time and peak memory of an import are above those of the bare
  interpreter, medians of {runs} processes that took turns with those of the other libraries. Times are of
  one machine: compare them with each other.
- The bytes of an installation are those of its files, without compiled ones.

A row "with options" is the same library with options that its documents name: no retries, no redirects, and
no look at the environment.
"""


def cases_of(how: Subject) -> tuple[str, ...]:
    """The cases that a subject is asked: those of its tables, and the controls."""
    wanted = {"plain", "call"} | {
        name
        for table in TABLES
        if not how.tables or table.key in how.tables
        for column in table.columns
        for name in column.cases
    }
    return tuple(name for name in CASES if name in wanted)


def written(found: Found) -> str:
    """The page."""
    topics = [told(table, found) for table in TABLES]
    how = HOW.format(**found, deepest=DEEPEST)
    return "\n".join([HEAD, *topics, costs(found), how, versions(found)])


def told(table: Table, found: Found) -> str:
    """One topic: its question, its table, and what the server did."""
    notes: dict[str, list[str]] = {}
    rows = []
    for subject, how in SUBJECTS.items():
        if how.tables and table.key not in how.tables:
            continue
        cells = []
        for column in table.columns:
            try:
                if how.library in found["missing"]:
                    raise NotRun(found["missing"][how.library])
                cells.append(cell(column, found["observed"].get(subject, {})))
            except NotRun as reason:
                cells.append("not run")
                if subject not in (subjects := notes.setdefault(str(reason), [])):
                    subjects.append(subject)
        rows.append([named(subject), *cells])
    head = ["", *(column.title for column in table.columns)]
    lines = [f"## {table.title}", "", table.intro, "", *grid(head, rows), ""]
    lines += [f"- *{c.title}*: the server {CASES[c.cases[0]].says}." for c in table.columns]
    lines += [f"- *not run* ({', '.join(subjects)}): {reason}." for reason, subjects in notes.items()]
    return "\n".join([*lines, ""])


def costs(found: Found) -> str:
    """What a library costs before the first call."""
    having, beginning = [], []
    for name in LIBRARIES:
        packages = found["libraries"].get(name, {}).get("packages", {}).values()
        size = f"{sum(size for _, size in packages) / 1e6:.1f} MB"
        having.append([named(name), *([str(len(packages)), size] if packages else ["not run"] * 2)])
        if (cost := found["imports"].get(name)) is None:
            beginning.append([named(name), "not run", "not run"])
        else:
            times = cost["cpu_ms"] / found["imports"]["svir"]["cpu_ms"]
            spent = f"{cost['cpu_ms']:.0f} ms ({times:.1f}x)"
            beginning.append([named(name), spent, f"{cost['peak_mb']:.0f} MB"])
    return "\n".join(
        [
            "## What it costs to have",
            "",
            *grid(["", "packages", "files"], having),
            "",
            "## What it costs to begin",
            "",
            "To import what is needed, and build a client if there is one; in parentheses, times svir's.",
            "",
            *grid(["", "CPU", "memory"], beginning),
            "",
        ]
    )


def versions(found: Found) -> str:
    """What was asked, and by which program."""
    rows = []
    for subject, how in SUBJECTS.items():
        library = LIBRARIES[how.library]
        version = found["libraries"].get(how.library, {}).get("version", "not run")
        link = f"[{how.adapter}.py](../bench/peers/adapters/{how.adapter}.py)"
        rows.append([named(subject), f"{library.distribution} {version}", link])
    return "\n".join([*grid(["", "version", "asked by"], rows), ""])


def named(subject: str) -> str:
    """A row's first cell."""
    return f"**{subject}**" if subject == "svir" else subject


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines]
