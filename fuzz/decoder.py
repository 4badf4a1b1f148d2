"""Looks for input that breaks a promise of the decoder, for as long as it is told to.

    PYTHONPATH=src:. python fuzz/decoder.py [--seconds 60] [--seed N]

Streams (our own cases, and the recordings when they are beside the repository) are mutated and decoded, in
both modes. It stops when

- anything but a `svir.Error` comes out;
- the outcome depends on how the bytes were cut, or on whether the shortcuts are on;
- a stream takes longer than a time that grows with its length alone;
- the decoder holds more memory than a multiple of what it was given.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from _loop import fuzz  # noqa: E402

from svir import Limits  # noqa: E402
from tests.support.streams import (  # noqa: E402
    mutate,
    outcome,
    own_streams,
    random_cuts,
    recorded_streams,
    strides,
)

STREAMS = list((own_streams() | recorded_streams()).values())

SLOWEST = 60e-6
"""Seconds a byte may take, on a slow machine, when bytes come one by one."""
FIXED = 0.25
MEMORY = 400
"""Bytes held for each byte of input, at most; small pieces cost the most."""


def options(rng):
    """How to decode: mostly the defaults, sometimes with limits that are met."""
    given = {"think": rng.choice(("split", "split", "keep"))}
    if rng.random() < 0.2:
        given["limits"] = Limits(
            wire_bytes=rng.choice((64, 1000, 5000, 1 << 20)),
            event_bytes=rng.choice((40, 300, 1000, 10000)),
            tool_calls=rng.choice((1, 2, 64)),
        )
    return given


def cuts(data, rng):
    """The same bytes, cut in several ways."""
    yield [data]
    yield random_cuts(data, rng)
    yield strides(data, rng.randrange(1, 400))
    ends = [event + b"\n\n" for event in data.split(b"\n\n")]
    yield [*ends[:-1], ends[-1][:-2]]
    if len(data) < 3000:
        yield strides(data, 1)


def hostile(rng):
    """Input that is expensive for a careless reader: deep, endless, or of very many small parts."""
    size = rng.choice((1000, 10_000, 60_000))
    make = rng.choice(
        (
            lambda: b"data: " + b"[" * size + b"\n\n",
            lambda: b"data: " + b'{"a":' * size + b"\n\n",
            lambda: b'data: "' + b'\\"' * size,
            lambda: b"data: [" + b'"\\' * size + b"\n\n",
            lambda: b"data:\n" * size,
            lambda: b"\n" * size + b"\r" * size + b"\r\n" * size,
            lambda: b": x\n" * size,
            lambda: b"x" * size,
            lambda: b'data: {"choices":[{"delta":{"content":"' + b"<" * size + b'"}}]}\n\n',
            lambda: b'data: {"choices":[{"delta":{"content":"<"}}]}\n\n' * (size // 20),
            lambda: (
                b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"n"}}]}}]}\n\n'
                * (size // 40)
            ),
        )
    )
    return make()


def check(data, mode, given, rng):
    """What is wrong with the decoding of these bytes, or None."""
    expected = outcome([data], mode, shortcuts=False, **given)
    for chunks in cuts(data, rng):
        for shortcuts in (True, False):
            started = time.process_time()
            got = outcome(chunks, mode, shortcuts=shortcuts, **given)
            taken = time.process_time() - started
            if got != expected:
                return f"another outcome in {len(chunks)} pieces, shortcuts {shortcuts}: {got} / {expected}"
            if taken > FIXED + SLOWEST * len(data):
                return f"{taken:.2f} s for {len(data)} bytes in {len(chunks)} pieces"
    return None


def memory(data, mode, given):
    """Too much memory for these bytes, told in a sentence, or None."""
    tracemalloc.start()
    outcome(strides(data, 7), mode, **given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    if peak > (1 << 20) + MEMORY * len(data):
        return f"{peak} bytes held for {len(data)} bytes"
    return None


def make(rng):
    """A stream, the mode and options it is decoded with, and where chance goes on from."""
    data = mutate(rng.choice(STREAMS)[:20_000], rng) if rng.random() < 0.98 else hostile(rng)
    if rng.random() < 0.2:
        data = data.replace(b"\n", rng.choice((b"\r\n", b"\r")))
    return data, rng.choice(("strict", "lenient")), options(rng), rng.randrange(1 << 32)


def attempt(given):
    data, mode, how, seed = given
    wrong = check(data, mode, how, random.Random(seed))
    if wrong is None and seed % 200 == 0:
        wrong = memory(data, mode, how)
    assert wrong is None, wrong
    return outcome([data], mode, **how)[1] is None


if __name__ == "__main__":
    fuzz(__doc__, make, attempt)
