"""Streams to decode, how to cut them, and everything that can be seen of a decoding."""

from __future__ import annotations

import copy
import itertools
import json
import random
from pathlib import Path

import svir
from svir.openai.chat import Decoder

CASES = Path(__file__).resolve().parents[1] / "conformance" / "decoder"
RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "recordings"


def chunk(delta=None, finish=None, **more):
    """The bytes of one event with one choice."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return event({"id": "c", "model": "m", "choices": [choice]} | more)


def event(value):
    """The bytes of one event with this JSON."""
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
STOP = chunk({}, "stop")


def outcome(chunks, mode="strict", *, shortcuts=True, **options):
    """All that can be seen of a decoding: the events, and the error as plain data (or None)."""
    decoder = Decoder(mode, clock=lambda: 1.0, **options)
    if not shortcuts:
        decoder._look = 0
    events = []
    try:
        for data in chunks:
            for one in decoder.push(data):
                events.append(one)  # noqa: PERF402 (an iterator that raises would keep what came before)
        events += decoder.flush()
        decoder.finish()
    except svir.Error as error:
        return events, seen(error)
    return events, None


def seen(error):
    """An error as plain data, checked for what no error may carry."""
    assert error.__cause__ is None
    assert error.__context__ is None
    return {
        "kind": error.kind,
        "detail": error.detail,
        "place": error.place,
        "code": error.code,
        "message": error.server_message,
        "partial": (error.partial.text, error.partial.reasoning),
    }


def cut(data, places):
    """The pieces of the data between these places."""
    edges = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def strides(data, size):
    """Pieces of one size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def own_streams():
    """The input of each of our own conformance cases."""
    return {path.stem: whole(path) for path in sorted(CASES.glob("*.json"))}


def recorded_streams():
    """The event streams of the recordings, when these are beside the repository."""
    found = {}
    for path in sorted(RECORDINGS.glob("*/*.http")):
        _, media_type, body = recorded_response(path)
        if "event-stream" in media_type:
            found[f"{path.parent.name}/{path.stem}"] = body
    return found


def recorded_response(path):
    """Status, media type and body of a recorded response, without the chunks of HTTP."""
    head, _, body = path.read_bytes().partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = dechunk(body)
    return int(first.split()[1]), headers.get("content-type", ""), body


def dechunk(body):
    """A body without the chunks of HTTP; it may be cut."""
    whole = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        whole.append(body[:length])
        body = body[length + 2 :] if length else b""
    return b"".join(whole)


def whole(path):
    """The input of a case as one piece of bytes."""
    case = json.loads(path.read_text("ascii"))
    if "file" not in case:
        return b"".join(piece(one) for one in case["chunks"])
    text = (path.parent / case["file"]).read_bytes().decode()
    for old, new in case.get("replace", []):
        text = text.replace(old, new)
    return text.partition(case["cut_before"])[0].encode() if "cut_before" in case else text.encode()


def piece(one):
    """A piece of a case's input: a text, or bytes in hexadecimal."""
    return bytes.fromhex(one["hex"]) if isinstance(one, dict) else one.encode()


SPLICES = (
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b'"',
    b"\\",
    b"\\ud800",
    b"\\u00e9",
    b"\xc3\xa9",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x00",
    b"null",
    b"{}",
    b"[]",
    b"[" * 130 + b"]" * 130,
    b"1e999",
    b"9" * 40,
    b"9" * 700,
    b'"index":1e999,',
    b'"created":1e999,',
    b",",
    b":",
    b": note\n",
    b"event: error\n",
    b"event: x\n",
    b"data: ",
    b"data:",
    b"data: [DONE]\n\n",
    b"<think>",
    b"</think>",
    b"<",
    b'"content":"x",',
    b'"content":"x","content":"',
    b'"refusal":"no",',
    b'"finish_reason":"stop",',
    b'"finish_reason":"length",',
    b'"usage":{"prompt_tokens":1,"completion_tokens":2},',
    b'"error":{"message":"boom","code":"b"},',
    b'"content_filter_results":{"a":{"filtered":true}},',
    b'"content_filter_offsets":{},',
    b'"index":1,',
    b'"id":"other",',
    b'"audio":{},',
)


VALUES = (
    None,
    True,
    0,
    1,
    -1,
    1.5,
    10**20,
    "",
    "x",
    "<think>",
    "stop",
    [],
    {},
    [None],
    {"index": 0},
    "\ud800",
)
KEYS = (
    *("id", "model", "choices", "usage", "error", "delta", "index", "finish_reason", "content", "reasoning"),
    *("reasoning_content", "refusal", "tool_calls", "role", "function", "name", "arguments", "type", "audio"),
    *("content_filter_results", "content_filter_offsets", "prompt_filter_results", "filtered", "message"),
)


def mutate_json(data, rng: random.Random):
    """One event's data with one value replaced, taken away, added or moved to another key."""
    events = data.split(b"\n\n")
    at = rng.randrange(len(events))
    try:
        value = json.loads(events[at].removeprefix(b"data:"))
    except (ValueError, RecursionError):
        return data
    nodes = [value] if isinstance(value, dict | list) else []
    for node in nodes:
        nodes += [
            one for one in (node.values() if isinstance(node, dict) else node) if isinstance(one, dict | list)
        ]
    if not nodes:
        return data
    node = rng.choice(nodes)
    key = rng.choice([*node, *KEYS]) if isinstance(node, dict) else rng.randrange(len(node) + 1)
    match rng.randrange(3):
        case 0 if key in node if isinstance(node, dict) else key < len(node):
            del node[key]
        case 1 if isinstance(node, dict) and key in node:
            node[rng.choice(KEYS)] = node.pop(key)
        case _ if isinstance(node, dict):
            node[key] = copy.deepcopy(rng.choice(VALUES))
        case _:
            node.insert(key, copy.deepcopy(rng.choice([*VALUES, *node])))
    events[at] = b"data: " + json.dumps(value, separators=(",", ":")).encode()
    return b"\n\n".join(events)


def mutate(data, rng: random.Random):
    """The data with a few changes: bytes changed, parts lost, doubled, moved, or foreign ones put in."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((1, 2, 5, 20, 200)))
        match rng.randrange(9):
            case 0:
                data = data[:at] + rng.choice(SPLICES) + data[at:]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:at] + data[at:to] + data[at:]
            case 3:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 4:  # whole events change places
                events = data.split(b"\n\n")
                rng.shuffle(events)
                data = b"\n\n".join(events)
            case 5 | 6 | 7:
                data = mutate_json(data, rng)
            case _:  # the same event many times, so that a run of one pattern begins
                events = data.split(b"\n\n")
                one = rng.randrange(len(events))
                events[one:one] = [events[one]] * rng.randrange(1, 6)
                data = b"\n\n".join(events)
    return data


def random_cuts(data, rng: random.Random):
    """The data in pieces of random sizes."""
    count = rng.choice((0, 1, 2, 5, 20))
    return cut(data, [rng.randrange(len(data) + 1) for _ in range(count)])
