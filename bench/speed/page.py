"""``docs/benchmarks.md``, made of the stored results and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.speed.bars import bars
from bench.speed.subjects import CLIENTS, SUBJECTS
from bench.speed.tables import TABLES, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.speed.tables import Found

HEAD = """\
<!-- Written by `make bench` from bench/results/speed.json. A test holds it: do not edit. -->

# Benchmarks

What svir costs, beside other client libraries doing the same on the same machine. `make bench` measures all
of it again. Figures are medians of {rounds} rounds, in brackets what they range over; the machine has
{cores} cores, Python {python}, {system} ({machine}), {made}. Times of two machines cannot be compared;
ratios mostly can.

CPU time is that of the client's process, all threads. *floor* is no library: a raw socket, a split at line
ends, and each event's JSON parsed into a typed struct. Nothing is checked there, and nothing is kept.
"""

HOW = """\
## How it is measured

- Each library has a virtual environment of its own, and is called as its documents show, with its defaults:
  [harness.py](../bench/speed/clients/harness.py). Each run is a fresh process, after a few calls to warm
  up; all subjects take turns. A run of more than 20 seconds is not repeated.
- The load generator is a process of its own, on loopback. It sends prepared bytes, one event in a chunk of
  the transfer coding: [server.py](../bench/speed/server.py). The table below says how much of the time of a
  run it was busy: what is measured is the client, except where the generator is told to wait.
- Decoding is measured by [decode.py](../bench/decode.py) on bytes in memory. `openai` decodes the same bytes
  from a transport that makes no connection.
- Imports are compiled, and above the bare interpreter. An installation's bytes are those of its files,
  without compiled ones.
"""


def written(found: Found) -> str:
    """The page."""
    parts = [
        HEAD.format(**found),
        "## The bars\n",
        BARS,
        _table([["what", "promised", "measured", "holds"], *told_bars(found)]),
    ]
    for table in TABLES:
        text = table.text.format(image=found["image_mib"], text=found["text_mb"])
        picture = f"![{table.title}: {table.columns[0].title}](benchmarks-{table.key}.svg)\n"
        parts += [f"## {table.title}\n", f"{text}\n", picture, _table(rows(table, found))]
    parts += ["## Decoding\n", DECODING, _table(_decode(found))]
    parts += ["## Imports and installations\n", _table(_installed(found))]
    parts += [HOW, _table(_generator(found))]
    if missing := list(_missing(found)):
        parts += ["Not measured:\n", "\n".join(missing) + "\n"]
    return "\n".join(parts)


BARS = """\
svir was designed to hold these. A bar is missed where the last column says so.
"""

DECODING = """\
Microseconds of CPU an event, by how the bytes are cut.
"""


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = lines
    told = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in told) + "\n"


def told_bars(found: Found) -> list[list[str]]:
    """The bars in words."""
    return [[what, promise, seen, "yes" if holds else "**no**"] for what, promise, seen, holds in bars(found)]


def _decode(found: Found) -> list[list[str]]:
    told = [["stream, and its reads", "svir", "floor", "openai", "times faster than openai"]]
    for row, seen in found["decode"].items():
        theirs, floor = seen.get("openai"), seen.get("floor")
        told.append(
            [
                row,
                f"{seen['svir']:.2f}",
                f"{floor:.2f}" if floor else "",
                f"{theirs:.0f}" if theirs else "",
                f"{theirs / seen['svir']:.0f}" if theirs else "",
            ]
        )
    return told


def _installed(found: Found) -> list[list[str]]:
    told = [["library", "version", "packages", "MB", "import and a client, CPU ms", "memory, MB"]]
    for name, library in found["libraries"].items():
        packages = library["packages"]
        size = sum(taken for _, taken in packages.values()) / 1e6
        cost = found["imports"].get(name)
        costs = [f"{cost['cpu_ms']:,.0f}", f"{cost['peak_mb']:,.0f}"] if cost else ["", ""]
        extra = CLIENTS[name].extra
        shown = f"{CLIENTS[name].distribution}{extra}"
        told.append([shown, library["version"], str(len(packages)), f"{size:.1f}", *costs])
    return told


def _generator(found: Found) -> list[list[str]]:
    """How busy the generator was, at most of all rounds; by part, for the subjects that wait for it most."""
    told = [["the generator's CPU in 100 of a run's time", *GENERATED]]
    for name in ("floor", "svir", "floor, async", "svir, async", "svir[aiohttp]"):
        runs = found["runs"].get(name, {})
        told.append([name, *(_busy(runs.get(part)) for part in GENERATED)])
    return told


GENERATED = ("small", "long", "paced", "many", "thousand", "image", "text")


def _busy(runs: list[dict[str, float]] | None) -> str:
    if not runs:
        return "-"
    return f"{max(100 * run['generator_cpu'] / run['wall'] for run in runs):.0f}"


def _missing(found: Found) -> Iterable[str]:
    for subject in SUBJECTS:
        for part, why in found["failed"].get(subject, {}).items():
            yield f"- {subject}, {part}: {why}"
