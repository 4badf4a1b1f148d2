"""What all fuzzers share: their options, the loop, and the report of what was found."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time


def fuzz(doc, make, attempt):
    """Tries inputs until the time is over, or one of them breaks a promise.

    Args:
        doc: The fuzzer's own docstring, whose first line is its help.
        make: Makes an input out of a ``random.Random``.
        attempt: Tries it; a true result is counted as "accepted". Whatever it raises is a finding.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30, help="how long to look (%(default)s)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="to repeat a search")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    tried = accepted = 0
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        data = make(rng)
        tried += 1
        try:
            accepted += bool(attempt(data))
        except Exception as error:
            with tempfile.NamedTemporaryFile("w", prefix="svir-fuzz-", delete=False) as kept:
                kept.write(ascii(data))
            print(f"{type(error).__name__}: {error}\nseed {given.seed}: {ascii(data)[:2000]}")
            sys.exit(f"all of it is in {kept.name}")
    print(f"seed {given.seed}: {tried} inputs, {accepted} of them accepted, nothing found")


def no_longer_than(seconds, started):
    """Asserts that something begun at a ``thread_time`` took no longer: however busy the machine is."""
    taken = time.thread_time() - started
    assert taken < seconds, f"it took {taken:.2f} s"


def as_text(data):
    """Any bytes as a text of any characters."""
    return data.decode("utf-8", "surrogateescape")
