"""Throws damaged files at the reader of cassettes: it gives exchanges or a ``ConfigError``, nothing else.

    PYTHONPATH=src:. python fuzz/cassette.py [--seconds 30] [--seed N]

What is read is also written and read again, and must be equal. A failure prints the data and the seed.
"""

from __future__ import annotations

import copy
import json
import time

from _loop import fuzz, no_longer_than

from svir import ConfigError
from svir.testing._tape import Answer, Exchange, asked, read_tape, write_tape

SLOWEST = 0.5
"""Seconds one reading may take; the files have a few KiB."""

STORED = [
    Exchange(
        asked(
            "POST", "/v1/chat/completions", b'{"model":"m","messages":[{"role":"user","content":"\xc3\xa9"}]}'
        ),
        Answer(200, (("content-type", "text/event-stream"),), b'data: {"choices":[]}\n\ndata: [DONE]\n\n'),
    ),
    Exchange(asked("GET", "/v1/models", b""), Answer(429, (("retry-after", "1"),), b"\xff\x00", "cut")),
    Exchange(asked("POST", "/v1/chat/completions", b"no JSON"), Answer(503, (), b"", "left")),
    Exchange(asked("POST", "/x", b'{"temperature":0.5,"seed":-1,"stop":["a",null,true]}'), Answer(200)),
]
FILE = write_tape(STORED)

SPLICES = (
    *(b'"', b"\\", b"\\ud800", b"\\u0000", b"\xff", b"\xc3\xa9", b"\x00", b"\n", b",", b":"),
    *(b"[", b"]", b"{", b"}", b"null", b"true", b"1e999", b"-1", b"9" * 40, b"NaN", b'"x"', b"{}", b"[]"),
    *(
        b"[" * 200,
        b'{"a":' * 200,
        b"[" * 130 + b"]" * 130,
        b'"base64":"@",',
        b'"text":[1],',
        b'"sha256":"x",',
    ),
)
VALUES = (
    None,
    True,
    0,
    1,
    2,
    -1,
    200,
    99,
    1.0,
    0.5,
    10**30,
    "",
    "x",
    "whole",
    "left",
    "YQ==",
    "\ud800",
    [],
    {},
    [[]],
)
KEYS = ("svir_cassette", "exchanges", "request", "response", "method", "path", "body", "sha256", "status")
KEYS += ("headers", "end", "text", "base64", "x")


def nodes(value):
    """Every object and list of some JSON."""
    found = [value]
    for node in found:
        inner = node.values() if isinstance(node, dict) else node
        found += [one for one in inner if isinstance(one, dict | list)]
    return found


def damage_json(chance, data):
    """The file with values replaced, taken away, added, or moved to another key."""
    value = json.loads(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        node = chance.choice(nodes(value))
        key = chance.choice([*node, *KEYS]) if isinstance(node, dict) else chance.randrange(len(node) + 1)
        match chance.randrange(3):
            case 0 if key in node if isinstance(node, dict) else key < len(node):
                del node[key]
            case 1 if isinstance(node, dict) and key in node:
                node[chance.choice(KEYS)] = node.pop(key)
            case _ if isinstance(node, dict):
                node[key] = copy.deepcopy(chance.choice(VALUES))
            case _:
                node.insert(key, copy.deepcopy(chance.choice([*VALUES, node])))
    return json.dumps(value).encode()


def damage_bytes(chance, data):
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((0, 1, 2, 20, 200)))
        data = data[:at] + chance.choice(SPLICES) + data[to:]
    return data


def attempt(data) -> bool:
    """Whether the data was a cassette."""
    started, refusal = time.thread_time(), None
    try:
        exchanges = read_tape(data)
    except ConfigError as error:
        refusal = error
    no_longer_than(SLOWEST, started)
    if refusal is not None:
        assert refusal.__context__ is None, "an error that hangs on a foreign one"
        assert len(str(refusal)) < 500, "an error that quotes too much"
        return False
    written = write_tape(exchanges)
    assert written.isascii(), "not ASCII"
    again = read_tape(written)
    assert [one.response for one in again] == [one.response for one in exchanges], "not read back equal"
    assert [one.request.key for one in again] == [one.request.key for one in exchanges], (
        "not the same request"
    )
    return True


def make(chance):
    """A damaged file."""
    data = damage_json(chance, FILE) if chance.random() < 0.7 else FILE
    return damage_bytes(chance, data) if data is FILE or chance.random() < 0.2 else data


if __name__ == "__main__":
    assert attempt(FILE)
    fuzz(__doc__, make, attempt)
