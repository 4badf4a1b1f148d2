"""What all clients share: the streams are read and timed. Only the standard library is used.

A client's module has some of these, each of which takes the base URL ``http://127.0.0.1:PORT/SCRIPT/v1``:

- ``blocking(url)`` makes a client and gives a function: called, it asks and iterates over pieces of text.
- ``concurrent(url)`` the same with asyncio: the function is an asynchronous generator.
- ``send_image(url, path)`` and ``send_text(url, path)`` send a file on the blocking face.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import sys
import time
from pathlib import Path

SMALL_CALLS = 200
MANY = 200
THOUSAND = 1000


def main(**faces) -> None:
    """Does the job that the arguments name, and prints what was measured."""
    part, face, url, path = sys.argv[1:5]
    make = faces[face]
    if part == "sent":
        print(json.dumps(sent(make, f"{url}/sent/v1", path)))
    elif face == "blocking":
        call = make(f"{url}/{part}/v1")
        print(json.dumps(in_sequence(part, call, make(f"{url}/small/v1"))))
    else:
        print(json.dumps(asyncio.run(on_a_loop(part, make, url))))


class Watch:
    """CPU and wall time, and what was read meanwhile."""

    def __init__(self) -> None:
        gc.collect()
        self.events = 0
        self.firsts: list[float] = []
        self.delays: list[float] = []
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def told(self, **more: float) -> dict[str, float]:
        cpu, wall = time.process_time() - self._cpu, time.perf_counter() - self._wall
        seen = {"cpu": cpu, "wall": wall, "events": self.events, **more}
        if self.firsts:
            seen["first"] = statistics.median(self.firsts)
        if self.delays:
            self.delays.sort()
            seen["delay"] = statistics.median(self.delays)
            seen["delay99"] = self.delays[len(self.delays) * 99 // 100]
        return seen

    def read(self, pieces, stamped: bool) -> None:
        """Reads an answer; a piece may say when it was sent."""
        started = time.perf_counter()
        got = 0
        for piece in pieces:
            if piece:
                if not got:
                    self.firsts.append(time.perf_counter() - started)
                got += 1
                if stamped:
                    self.delays.append(time.monotonic() - float(piece))
        self.events += got

    async def aread(self, pieces, stamped: bool) -> None:
        """The same of an asynchronous iterator."""
        started = time.perf_counter()
        got = 0
        async for piece in pieces:
            if piece:
                if not got:
                    self.firsts.append(time.perf_counter() - started)
                got += 1
                if stamped:
                    self.delays.append(time.monotonic() - float(piece))
        self.events += got


def in_sequence(part, call, warm) -> dict[str, float]:
    """The calls of a part, one after the other."""
    for _ in range(3):
        Watch().read(warm(), stamped=False)
    watch = Watch()
    for _ in range(SMALL_CALLS if part == "small" else 1):
        watch.read(call(), stamped=part == "paced")
    return watch.told()


async def on_a_loop(part, make, url) -> dict[str, float]:
    """The calls of a part, together where there are many."""
    warm, call = make(f"{url}/small/v1"), make(f"{url}/{part}/v1")
    for _ in range(3):
        await Watch().aread(warm(), stamped=False)
    before = resident()
    watch = Watch()
    stamped = part in {"paced", "thousand"}
    if part in {"many", "thousand"}:
        count = MANY if part == "many" else THOUSAND
        tasks = [asyncio.ensure_future(watch.aread(call(), stamped)) for _ in range(count)]
        if part == "thousand":
            peak = before
            while not all(task.done() for task in tasks):
                await asyncio.wait(tasks, timeout=0.5)
                peak = max(peak, resident())
            await asyncio.gather(*tasks)
            return watch.told(stream_bytes=(peak - before) / count)
        await asyncio.gather(*tasks)
    else:
        for _ in range(SMALL_CALLS if part == "small" else 1):
            await watch.aread(call(), stamped)
    return watch.told()


def sent(send, url, path) -> dict[str, float]:
    """A file is sent, after a small one."""
    small = Path(path).with_name("small" + Path(path).suffix)
    send(url, str(small))
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    watch = Watch()
    send(url, path)
    told = watch.told()
    return told | {"extra": peak() - before}


def resident() -> int:
    """The process's resident memory in bytes."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


def peak() -> int:
    """The peak of it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
