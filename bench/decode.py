"""How fast a stream is decoded: svir, the `openai` package on the same bytes, and the floor.

    python bench/decode.py [--rounds N] [--events N] [--only text,growth,...]

The floor is what any decoder in Python has to do at least: split on blank lines, and parse each event's JSON
into a typed struct of the fields an answer is made of: its texts, its calls, its finish reason, ID, model and
usage. Everything runs interleaved in one process; a figure is the median of the rounds, in microseconds of
CPU time an event. Without `openai` installed its column is left out.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from pathlib import Path

import msgspec

from svir import Limits
from svir.openai.chat import Decoder

RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings"
READ = 16 * 1024
WORDS = (
    " the",
    " river",
    " turns",
    ", and",
    " the",
    " bank",
    ".\n\n",
    " It",
    " moves",
    " slow",
    "ly",
    " 4",
    " \u00e9t\u00e9",
)


# ---- the streams -------------------------------------------------------------------------


def event(delta, finish=None):
    chunk = {
        "id": "chatcmpl-7f3a9c51d2e84b06",
        "object": "chat.completion.chunk",
        "created": 1796035131,
        "model": "qwen3-27b",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


def deltas(kind, count):
    for n in range(count):
        word = WORDS[n % len(WORDS)]
        if kind == "tool call":
            yield {"tool_calls": [{"index": 0, "function": {"arguments": word}}]}
        else:
            yield {{"text": "content", "reasoning": "reasoning_content"}[kind]: word}


def ends(kind):
    head = {"role": "assistant", "content": ""}
    if kind == "tool call":
        first = {
            "index": 0,
            "id": "call-1",
            "type": "function",
            "function": {"name": "look", "arguments": ""},
        }
        head = {"role": "assistant", "content": None, "tool_calls": [first]}
    finish = "tool_calls" if kind == "tool call" else "stop"
    return event(head), event({}, finish) + b"data: [DONE]\n\n"


def stream(kind, count):
    """All events of a stream, the first and the last ones included."""
    head, tail = ends(kind)
    return [head, *(event(delta) for delta in deltas(kind, count)), tail]


def by_events(events, count):
    return [b"".join(events[start : start + count]) for start in range(0, len(events), count)]


def by_bytes(events, size):
    data = b"".join(events)
    return [data[start : start + size] for start in range(0, len(data), size)]


# ---- the subjects ------------------------------------------------------------------------


def decode_svir(reads, limits=Limits(wire_bytes=1 << 40)):  # noqa: B008 (frozen)
    decoder = Decoder(limits=limits)
    count = 0
    for data in reads:
        for _ in decoder.push(data):
            count += 1
    decoder.finish()
    return count


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class _Piece(msgspec.Struct, gc=False):
    index: int
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct, gc=False):
    role: str | None = None
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_Piece] | None = None


class _Choice(msgspec.Struct, gc=False):
    delta: _Delta
    index: int = 0
    finish_reason: str | None = None


class _Usage(msgspec.Struct, gc=False):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice]
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


_parse = msgspec.json.Decoder(_Chunk).decode


def decode_floor(reads):
    tail, parse, count = b"", _parse, 0
    blank = b"\r\n\r\n" if b"\r\n" in reads[0][:2000] else b"\n\n"
    for data in reads:
        *events, tail = (tail + data).split(blank)
        for one in events:
            if one.startswith(b"data: {"):
                parse(one[6:])
                count += 1
    return count


def openai_subject():
    """The `openai` package decoding the bytes of a transport that makes no connection; None without it."""
    try:
        import openai
    except ImportError:
        return None
    try:
        import httpx2 as httpx  # what it stands on since its version 3
    except ImportError:
        import httpx

    class Body(httpx.SyncByteStream):
        def __init__(self, reads):
            self.reads = reads

        def __iter__(self):
            return iter(self.reads)

    class Transport(httpx.BaseTransport):
        reads = ()

        def handle_request(self, request):  # noqa: ARG002 (the interface)
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body(self.reads))

    transport = Transport()
    client = openai.OpenAI(
        api_key="none", base_url="http://localhost/v1", http_client=httpx.Client(transport=transport)
    )

    def decode(reads):
        transport.reads = reads
        count = 0
        messages = [{"role": "user", "content": "hi"}]
        for _ in client.chat.completions.create(model="m", messages=messages, stream=True):
            count += 1
        return count

    decode.version = openai.__version__
    return decode


# ---- measuring ---------------------------------------------------------------------------


def interleaved(subjects, reads, events, rounds, repeat=1):
    """Microseconds of CPU an event, by subject: medians of rounds that take turns."""
    taken = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            started = time.process_time()
            for _ in range(repeat):
                run(reads)
            taken[name].append((time.process_time() - started) / repeat / events * 1e6)
    return {name: statistics.median(times) for name, times in taken.items()}


ROWS: dict[str, dict[str, float]] = {}


def show(row, figures):
    ROWS[row] = figures
    ours = figures["svir"]
    line = f"{row:44} {ours:8.3f}"
    line += f" {figures['floor']:8.3f} {ours / figures['floor']:7.2f}x" if "floor" in figures else " " * 18
    if "openai" in figures:
        line += f" {figures['openai']:9.2f} {figures['openai'] / ours:7.1f}x"
    print(line, flush=True)


def compare(kind, subjects, count, rounds):
    events = stream(kind, count)
    cuts = [(f"{n} event{'s' * (n > 1)} a read", by_events(events, n)) for n in (1, 8, 50)]
    cuts += [("16 KiB reads", by_bytes(events, READ)), ("100-byte reads", by_bytes(events, 100))]
    for label, reads in cuts:
        show(f"{kind}, {label}", interleaved(subjects, reads, count, rounds))


def growth(kind, rounds):
    """Streams of all lengths take turns, for as many events each: a machine is not always equally fast."""
    head, tail = ends(kind)
    block = by_bytes([event(delta) for delta in deltas(kind, 1000)], READ)
    sizes = (1, 10, 100, 1000) if kind == "text" else (1, 10, 100)
    taken = {size: [] for size in sizes}
    for _ in range(rounds):
        for size, times in taken.items():
            reads, repeat = [head, *block * size, tail], sizes[-1] // size
            found = interleaved({"svir": decode_svir}, reads, size * 1000, 1, repeat=repeat)
            times.append(found["svir"])
    for size, times in taken.items():
        show(f"{kind}, {size * 1000:,} events, 16 KiB reads", {"svir": statistics.median(times)})


def recordings(subjects, rounds):
    """Each recorded answer as it is, and as long as 500 events, by repeating what comes before its finish."""
    paths = sorted(RECORDINGS.glob("*/*.http"))
    if not paths:
        print("the recordings are not beside the repository")
    both = {name: subjects[name] for name in ("svir", "floor")}
    ratios = {"as it is": [], "of 500 events": []}
    for path in paths:
        head, _, body = path.read_bytes().partition(b"\r\n\r\n")
        wanted = path.with_name(path.name.removesuffix(".http") + ".expect.json").read_text("ascii")
        if b"text/event-stream" not in head or "completion" not in json.loads(wanted)["strict"]:
            continue
        if b"chunked" in head.lower():
            body = dechunk(body)
        name = f"{path.parent.name}/{path.stem}"
        for label, data in (("as it is", body), ("of 500 events", longer(body, 500))):
            if data is None:
                continue
            reads = [data[start : start + READ] for start in range(0, len(data), READ)]
            count = data.count(b"data: {")
            figures = interleaved(both, reads, count, rounds, repeat=max(1, 600 // count))
            ratios[label].append((figures["svir"] / figures["floor"], name))
            show(f"{name}, {count}", figures)
    for label, found in ratios.items():
        if found:
            middle = statistics.median(ratio for ratio, _ in found)
            print(f"{label}: worst {max(found)[0]:.2f}x ({max(found)[1]}), median {middle:.2f}x of the floor")


def longer(body, count):
    """A stream with the events between the first and the finish repeated; None when there are none."""
    blank = b"\r\n\r\n" if b"\r\n" in body else b"\n\n"
    events = body.split(blank)
    finish = next(n for n, one in enumerate(events) if re.search(rb'"finish_reason": ?"', one))
    first, *middle = [one for one in events[:finish] if one.startswith(b"data: {")] or [b""]
    if not middle:
        return None
    return blank.join([first, *middle * -(-count // len(middle)), *events[finish:]])


def dechunk(body):
    whole = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        whole.append(body[:length])
        body = body[length + 2 :] if length else b""
    return b"".join(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--only", default="text,reasoning,tool call,growth,recordings")
    parser.add_argument("--json", type=Path, help="a file that is given the figures as well")
    given = parser.parse_args()
    subjects = {"svir": decode_svir, "floor": decode_floor}
    if (peer := openai_subject()) is not None:
        subjects["openai"] = peer
        print(f"openai {peer.version}, ", end="")
    print(f"Python {sys.version.split()[0]}, {given.rounds} rounds; microseconds of CPU an event")
    print(f"{'':44} {'svir':>8} {'floor':>8} {'of it':>8} {'openai':>9} {'faster':>8}")
    only = given.only.split(",")
    for kind in ("text", "reasoning", "tool call"):
        if kind in only:
            compare(kind, subjects, given.events, given.rounds)
    if "growth" in only:
        growth("text", given.rounds)
        growth("tool call", given.rounds)
    if "recordings" in only:
        recordings(subjects, given.rounds)
    if given.json:
        given.json.write_text(json.dumps(ROWS, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
