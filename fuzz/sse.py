"""Throws damaged streams at the framing of server-sent events, and compares it with a plain reading.

    PYTHONPATH=src:. python fuzz/sse.py [--seconds 30] [--seed N]

The reference below has all bytes at once and follows the HTML standard, 9.2.6, line by line. For every way to
cut the bytes the framing must give the same events at the same places, the same refusal, and no other
exception; and the limit on an event must hold at the very byte.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from _loop import fuzz, no_longer_than  # noqa: E402

from svir.codec._fault import Unfinished  # noqa: E402
from svir.codec._sse import Framing  # noqa: E402
from tests.support.streams import mutate, own_streams, random_cuts, recorded_streams, strides  # noqa: E402

LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n)")
FIELDS = {b"data", b"event", b"id", b"retry"}
STREAMS = [data[:6000] for data in (own_streams() | recorded_streams()).values() if data]
SLOWEST = 0.5
"""Seconds for one way to cut a few KiB."""


def reference(data, strict, limit):
    """The events of a stream: type, data, and where each begins; and whether a limit or a line ended it."""
    events, at = [], 0
    if data.startswith(b"\xef\xbb\xbf"):
        at = 3
    kind, lines, size, begun = b"", [], 0, None
    for line in LINE.finditer(data, at):
        text, start = line[1], line.start()
        if len(text) + size > limit:
            return events, start + limit - size
        if not text:
            if lines or kind:
                events.append((kind, b"\n".join(lines) if lines else None, begun))
            kind, lines, size, begun = b"", [], 0, None
        elif not text.startswith(b":"):
            begun = start if begun is None else begun
            name, _, value = text.partition(b":")
            value = value.removeprefix(b" ")
            if strict and (name not in FIELDS or not is_text(text)):
                return events, "refused"
            if name == b"data":
                size += len(value) + (1 if lines else 0)
                lines.append(value)
            elif name == b"event":
                kind = value
        at = line.end()
    if len(data) - at + size > limit:
        return events, at + limit - size
    return events, None


def is_text(line):
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def framed(chunks, strict, limit):
    """What the framing makes of the same, driven as the decoder drives it."""
    framing = Framing("strict" if strict else "lenient", limit)
    events = []
    try:
        for piece in chunks:
            if framing.pending and framing.keep(piece):
                continue
            data, pos = framing.take(piece), 0
            while pos < len(data):
                frame, pos = framing.next(data, pos)
                if frame is not None:
                    events.append((frame.type, frame.data, frame.at))
    except Unfinished as fault:
        return events, "refused" if fault.at is None else fault.at
    return events, None


def make(rng):
    """A damaged stream, a mode, a limit, and ways to cut it."""
    data = rng.choice(STREAMS)
    start = rng.choice((0, 0, rng.randrange(len(data))))
    data = mutate(data[start : start + rng.choice((40, 400, 3000))], rng)
    if rng.random() < 0.4:
        data = data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\r")))
    if rng.random() < 0.2:
        data = rng.choice((b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")) + data
    limit = rng.choice((1 << 20, 1 << 20, 8, 60, 500))
    return data, rng.random() < 0.5, limit, [[data], random_cuts(data, rng), strides(data, 1)]


def attempt(given):
    data, strict, limit, ways = given
    expected = reference(data, strict, limit)
    for chunks in ways:
        started = time.thread_time()
        got = framed(chunks, strict, limit)
        no_longer_than(SLOWEST, started)
        assert got == expected, f"{len(chunks)} pieces: {got} instead of {expected}"
    return expected[1] is None


if __name__ == "__main__":
    fuzz(__doc__, make, attempt)
