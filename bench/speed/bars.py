"""The bars: what was promised of svir's speed and memory, and what was measured."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING

from bench.speed.tables import LONG, SMALL, TABLES, median

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.speed.tables import Column, Found

MANY = next(column for table in TABLES for column in table.columns if column.part == "many")
IMAGE, IMAGE_CPU, *_ = next(table.columns for table in TABLES if table.key == "sending")
MIB = 1 << 20
GROWTH = re.compile(r"(.+), ([0-9,]+ events), 16 KiB reads")


def bars(found: Found) -> list[tuple[str, str, str, bool]]:
    """What is promised, the promise, what was measured, and whether it holds."""
    return [*_decoding(found["decode"]), *_streams(found), *_others(found)]


def _decoding(decode: dict[str, dict[str, float]]) -> Iterator[tuple[str, str, str, bool]]:
    for row, least in (("text, 16 KiB reads", 50), ("text, 1 event a read", 35)):
        ratio = decode[row]["openai"] / decode[row]["svir"]
        yield f"decode {row}, against openai", f"{least}x", f"{ratio:.0f}x", ratio >= least
    ratio = decode["text, 16 KiB reads"]["svir"] / decode["text, 16 KiB reads"]["floor"]
    yield "decode, against the floor", "at most 1.6x", f"{ratio:.2f}x", ratio <= 1.6
    for kind in ("text", "tool call"):
        found = {GROWTH.fullmatch(row): told["svir"] for row, told in decode.items()}
        costs = {match[2]: cost for match, cost in found.items() if match and match[1] == kind}
        first, *_, last = costs
        growth = costs[last] / costs[first]
        what = f"{kind}: cost of an event, {first} to {last}"
        told = f"{growth:.2f}x ({costs[first]:.2f} and {costs[last]:.2f} us)"
        yield what, "flat (at most 1.2x)", told, growth <= 1.2


def _streams(found: Found) -> Iterator[tuple[str, str, str, bool]]:
    promised: tuple[tuple[str, Column, str, str, float], ...] = (
        ("one long stream, CPU", LONG, "svir", "openai", 12),
        ("one long stream, CPU", LONG, "svir, async", "openai, async", 12),
        ("one long stream, CPU", LONG, "svir[aiohttp]", "openai, async", 20),
        ("200 streams at a time, CPU", MANY, "svir, async", "openai, async", 2.5),
        ("200 streams at a time, CPU", MANY, "svir[aiohttp]", "openai, async", 3.6),
        ("a small streamed request, CPU", SMALL[0], "svir", "openai", 8),
    )
    for what, column, ours, theirs, least in promised:
        mine, other = (found["runs"].get(name, {}).get(column.part) for name in (ours, theirs))
        if mine and other:
            ratio = median(column, other) / median(column, mine)
            yield f"{what}: {ours} against {theirs}", f"{least:g}x", f"{ratio:.1f}x", ratio >= least


def _others(found: Found) -> Iterator[tuple[str, str, str, bool]]:
    imports = found["imports"]
    ratio = imports["openai"]["cpu_ms"] / imports["svir"]["cpu_ms"]
    yield "import and a client, CPU, against openai", "8x", f"{ratio:.1f}x", ratio >= 8
    took, bare = imports["svir"]["cpu_ms"], imports["svir"]["bare_ms"]
    told = f"{took:.0f} (the interpreter alone: {bare:.0f})"
    yield "the same in milliseconds", "at most 45", told, took <= 45
    runs = found["runs"]
    if "image" not in runs.get("svir", {}) or "small" not in runs["svir"]:
        return
    extra = statistics.median(run["extra"] for run in runs["svir"]["image"])
    what = f"memory for an image of {found['image_mib']} MiB"
    yield what, "at most 16 MiB", f"{extra / MIB:.1f} MiB", extra <= 16 * MIB
    if "image" in runs.get("openai", {}):
        ratio = median(IMAGE_CPU, runs["openai"]["image"]) / median(IMAGE_CPU, runs["svir"]["image"])
        yield "CPU for a byte of it, against openai", "4x", f"{ratio:.1f}x", ratio >= 4
    connections = statistics.median(run["connections"] for run in runs["svir"]["small"])
    yield "connections for two clients and 203 calls in turn", "2", f"{connections:.0f}", connections == 2
