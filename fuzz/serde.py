"""Throws damaged data at ``from_dict``: it gives a value or a ``ConfigError``, never anything else.

    PYTHONPATH=src:. python fuzz/serde.py [--seconds 30] [--seed N]

What is read is also written and read again, and must be equal. A failure prints the data and the seed.
"""

from __future__ import annotations

import copy
import random
import time

from _loop import fuzz, no_longer_than

from svir import ConfigError, Event, Message, Part
from svir.types import from_dict, to_dict
from svir.types._serde import FORMS
from tests.support.values import EXAMPLES

KINDS = [*FORMS, Part, Event, list[Message], tuple[Part, ...]]
STORED = [to_dict(value) for value in EXAMPLES.values()]
SLOWEST = 0.5
"""Seconds one reading may take; the data has a few thousand nodes at most."""


def nodes(data):
    """Every (container, key) of some data, without recursion: the data may be deep."""
    found, open_ = [], [data]
    while open_:
        node = open_.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], (dict, list)):
                open_.append(node[key])
    return found


def deep(chance, depth):
    around = chance.choice([lambda x: [x], lambda x: {"parts": x}, lambda x: {"x": x}])
    value = 1
    for _ in range(depth):
        value = around(value)
    return value


def anything(chance):
    return chance.choice(
        [
            lambda: None,
            lambda: chance.choice([True, False, 0, -1, 1, 2**64, 10**400, 0.5, float("nan"), float("inf")]),
            lambda: chance.choice(["", "x", "\ud800", "off", "stop", "length", "user", "YQ==", "a" * 5000]),
            lambda: chance.choice([[], {}, [[]], [{}], {"": None}, {"text": "x"}, {1: 2}, b"x", (1,), {1}]),
            lambda: copy.deepcopy(chance.choice(STORED)),
            lambda: deep(chance, chance.choice([5, 50, 200])),
        ]
    )()


def damage(chance, data):
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        places = nodes(data)
        if not places:
            break
        node, key = chance.choice(places)
        match chance.randrange(4):
            case 0:
                del node[key]
            case 1 if isinstance(node, dict):
                node[chance.choice(["text", "image", "path", "calls", "", "\ud800", str(key)])] = anything(
                    chance
                )
            case 2 if isinstance(node, dict):
                node[chance.choice(nodes(chance.choice(STORED)))[1]] = node.pop(key)
            case _:
                node[key] = anything(chance)
    return data


def attempt_one(kind, data) -> bool:
    """Whether the data was a value."""
    started, refusal = time.thread_time(), None
    try:
        value = from_dict(kind, data)
    except ConfigError as error:
        refusal = str(error)
    no_longer_than(SLOWEST, started)
    if refusal is not None:
        assert len(refusal.encode()) < 1000, "an error that quotes too much"
        return False
    again = from_dict(kind, to_dict(value))
    assert again == value or "nan" in repr(value), "not read back equal"
    return True


def make(chance):
    """Damaged data."""
    return damage(chance, copy.deepcopy(chance.choice(STORED)))


def attempt(data):
    """How many kinds of value the data is."""
    return sum([attempt_one(kind, data) for kind in KINDS])


if __name__ == "__main__":
    for depth in (1_000, 100_000):
        attempt(deep(random.Random(), depth))
    fuzz(__doc__, make, attempt)
