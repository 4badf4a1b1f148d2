"""The tables: what is read out of the stored runs, and how it is written."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.speed.subjects import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Callable

Run = dict[str, float]
Found = dict[str, Any]
"""What is in ``bench/results/speed.json``."""

CALLS = 200
"""Calls of the parts ``small`` and ``many``."""


@dataclass(frozen=True)
class Column:
    """One figure of a part.

    Attributes:
        part: The part it is read from.
        title: What stands above it, with its unit.
        figure: Reads it out of a run.
        digits: After the point.
    """

    part: str
    title: str
    figure: Callable[[Run], float]
    digits: int = 1


@dataclass(frozen=True)
class Table:
    """Figures of several subjects.

    Attributes:
        key: Its name, and its picture's.
        title: Its heading.
        text: What was done.
        subjects: Its rows.
        columns: The first one is drawn.
    """

    key: str
    title: str
    text: str
    subjects: tuple[str, ...]
    columns: tuple[Column, ...]


def per_event(run: Run) -> float:
    """Microseconds of CPU."""
    return run["cpu"] / run["events"] * 1e6


def per_call(run: Run) -> float:
    """Microseconds of CPU for a small answer."""
    return run["cpu"] / CALLS * 1e6


def first_ms(run: Run) -> float:
    """Milliseconds from the call to the first piece of text."""
    return run["first"] * 1e3


LONG = Column("long", "one long answer, CPU us an event", per_event, 2)
SMALL = (
    Column("small", "a small answer, CPU us", per_call, 0),
    Column("small", "to its first text, ms", first_ms, 2),
    Column("small", "connections for 203 calls", lambda run: run["connections"], 0),
)
PACED = (
    Column("paced", "paced, CPU us an event", per_event, 0),
    Column("paced", "from sending to reading, us", lambda run: run["delay"] * 1e6, 0),
)
SENT = (
    Column("image", "memory for the image, MB", lambda run: run["extra"] / 1e6, 0),
    Column("image", "CPU ns a byte", lambda run: run["cpu"] / run["received"] * 1e9, 2),
    Column("image", "MB/s", lambda run: run["received"] / run["wall"] / 1e6, 0),
    Column("text", "memory for the text, MB", lambda run: run["extra"] / 1e6, 0),
    Column("text", "CPU ns a byte", lambda run: run["cpu"] / run["received"] * 1e9, 2),
    Column("text", "MB/s", lambda run: run["received"] / run["wall"] / 1e6, 0),
)

BLOCKING = tuple(name for name, how in SUBJECTS.items() if how.face == "blocking")
CONCURRENT = tuple(name for name, how in SUBJECTS.items() if how.face != "blocking")

TABLES = (
    Table(
        "blocking",
        "Streams, one after the other",
        "A long answer of 20,000 events that come as fast as they are read; 200 small ones of 20 events,\n"
        "one after the other; and one of 200 events that are sent two milliseconds apart. Three calls of\n"
        "another client of the same library come first, to warm up.",
        BLOCKING,
        (LONG, *SMALL, *PACED),
    ),
    Table(
        "asyncio",
        "The same with asyncio",
        "As above, on an event loop.",
        CONCURRENT,
        (LONG, *SMALL, *PACED),
    ),
    Table(
        "many",
        "Many streams at a time",
        "200 streams of 200 events that begin together, and come as fast as they are read; and 1,000\n"
        "streams of 20 events each, a quarter of a second apart. The gap is that between the sending of an\n"
        "event, of which each tells the time, and its delivery to the application; it holds the beginning,\n"
        "when a thousand connections are opened at once.",
        CONCURRENT,
        (
            Column("many", "200 streams, CPU us an event", per_event, 2),
            Column("many", "all read in, s", lambda run: run["wall"], 2),
            Column("thousand", "1,000 streams, CPU us an event", per_event, 0),
            Column("thousand", "memory a stream, kB", lambda run: run["stream_bytes"] / 1e3, 0),
            Column("thousand", "gap, ms", lambda run: run["delay"] * 1e3),
            Column("thousand", "gap, 99 of 100, ms", lambda run: run["delay99"] * 1e3, 0),
        ),
    ),
    Table(
        "sending",
        "Files that are sent",
        "An image of {image} MiB, and a text file of {text} MB. Memory is the growth of the peak of\n"
        "resident memory, after a small file was sent. A byte is one of the request as it was sent.",
        tuple(name for name, how in SUBJECTS.items() if how.sends),
        SENT,
    ),
)


def figures(column: Column, runs: list[Run]) -> list[float]:
    """What each run says."""
    return [column.figure(run) for run in runs]


def median(column: Column, runs: list[Run]) -> float:
    """The middle of what the runs say."""
    return statistics.median(figures(column, runs))


def cell(column: Column, found: Found, subject: str) -> str:
    """The median, and what the runs range over when they differ."""
    runs = found["runs"].get(subject, {}).get(column.part)
    if not runs:
        return "-"
    seen = figures(column, runs)
    middle, least, most = (
        f"{value:,.{column.digits}f}" for value in (statistics.median(seen), min(seen), max(seen))
    )
    return middle if least == most else f"{middle} ({least}-{most})"


def rows(table: Table, found: Found) -> list[list[str]]:
    """The table's cells; a subject that did nothing of it is left out."""
    told = [
        [name, *(cell(column, found, name) for column in table.columns)]
        for name in table.subjects
        if any(found["runs"].get(name, {}).get(column.part) for column in table.columns)
    ]
    return [[table.title, *(column.title for column in table.columns)], *told]
