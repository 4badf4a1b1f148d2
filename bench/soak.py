"""Thousands of calls in bad weather, for as long as it is told to: nothing may grow, and nothing may be lost.

    PYTHONPATH=src:. python -W error bench/soak.py [--seconds 300] [--seed N]

A server in a process of its own answers, stalls, cuts, resets, refuses and hides at random. Meanwhile, round
after round, one client of each face is shared by threads and tasks, which read answers, leave them, cancel
them, and close them from other threads; several event loops use one asynchronous client, at once and one
after the other; a fork makes calls of its own; and a whole client is closed while it is in use.

It fails when

- a call ends in another way than in the whole answer, a `svir.Error` of an expected kind, or its own
  cancellation; or when one is not accounted for;
- there are more descriptors, threads, tasks or connections at the server after a round than there may be;
- memory has grown from the end of the warm-up to the end;
- anything is warned about, or raised where nobody sees it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import multiprocessing
import os
import random
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import svir
from svir.layers import Retry, Timeout
from tests.support.storm import TEXT, Storm

KINDS = {"transport", "timeout", "rate_limited", "truncated_stream"}
PATIENCE = 0.25
"""Seconds after which a stalled answer is given up."""
WORKERS = 16
CALLS = 240
"""Calls of a round, on each face."""
AT_ONCE = 20
"""Calls at the same time in each loop that shares a client. The last one leaves its connections idle."""
IDLE = WORKERS + AT_ONCE
"""Most connections that may be open after a round: those of the blocking client, and those of that loop."""
WARM_UP = 4
"""Rounds after which nothing may grow any more."""
GROWTH = 6 << 20
"""Bytes by which resident memory may be larger at the end than after the warm-up."""


class Book:
    """Counts how calls ended; each has to end somehow."""

    def __init__(self):
        self.begun = 0
        self.ended = Counter()
        self.wrong = []
        self._lock = threading.Lock()

    def begin(self):
        with self._lock:
            self.begun += 1

    def end(self, how):
        with self._lock:
            self.ended[how] += 1

    def answered(self, text):
        if text != TEXT:
            self.wrong.append(f"an answer that is not what was sent: {text!r}")
        self.end("answered")

    def failed(self, error, *, closed=False):
        kinds = KINDS | ({"config"} if closed else set())
        if error.kind not in kinds or error.__context__ is not None:
            self.wrong.append(f"an unexpected error: {error!r}")
        if error.partial is not None and not TEXT.startswith(error.partial.text):
            self.wrong.append(f"a partial text that was never sent: {error.partial.text!r}")
        self.end(error.kind)


def layers():
    return [
        Timeout.total(8 * PATIENCE),
        Retry.transient(3).backoff(0.002, jitter=True),
        Timeout.first_token(PATIENCE),
        Timeout.idle(PATIENCE),
    ]


# ---- threads ----


def call(client, book, plan):
    """One call of the blocking face: read, left after its first event, or closed by another thread."""
    book.begin()
    try:
        with client.stream("why?") as stream:
            if plan == "leave":
                next(stream)
                book.end("left")
                return
            if plan == "close":
                closer = threading.Timer(random.random() * 0.003, stream.close)
                closer.start()
                try:
                    book.answered(stream.complete().text)
                finally:
                    closer.join()
            else:
                book.answered(stream.complete().text)
    except svir.Error as error:
        book.failed(error)


def in_threads(client, book, rng):
    plans = rng.choices(("read", "leave", "close"), (16, 1, 1), k=CALLS)
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(call, client, book, plan) for plan in plans]:
            done.result()


def closed_in_use(url, book):
    """A client is closed by another thread while eight threads use it."""
    client = svir.Client.openai(url, model="m", layers=layers())

    def use():
        for _ in range(20):
            book.begin()
            try:
                book.answered(client.complete("why?").text)
            except svir.Error as error:
                book.failed(error, closed=True)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    client.close()
    for thread in threads:
        thread.join()


# ---- tasks ----


async def acall(client, book, plan, rng):
    """One call of the asynchronous face."""
    book.begin()
    task = asyncio.current_task()
    if plan == "cancel":
        asyncio.get_running_loop().call_later(rng.random() * 0.004, task.cancel)
    try:
        async with client.stream("why?") as stream:
            if plan == "leave":
                await anext(stream)
                book.end("left")
            else:
                book.answered((await stream.complete()).text)
    except svir.Error as error:
        book.failed(error)
    except asyncio.CancelledError:
        book.end("cancelled")


async def in_tasks(client, book, rng, count):
    plans = iter(rng.choices(("read", "leave", "cancel"), (14, 1, 2), k=count))

    async def worker():
        for plan in plans:
            task = asyncio.ensure_future(acall(client, book, plan, rng))
            await asyncio.wait([task])
            if not task.cancelled():  # cancelled after its end was written down
                task.result()

    await asyncio.gather(*(worker() for _ in range(WORKERS)))
    await client.aclose()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        book.wrong.append(f"tasks that stay: {left}")


def in_loops(url, book, rng):
    """An event loop with a client of its own, which is closed in it."""
    client = svir.AsyncClient.openai(url, model="m", layers=layers())
    asyncio.run(in_tasks(client, book, rng, CALLS))


def in_shared_loops(client, book, seed):
    """One client in two loops at once, and in a third one after them: each opens connections of its own."""

    def loop(number):
        rng = random.Random(seed + number)

        async def some():
            await asyncio.gather(*(acall(client, book, "read", rng) for _ in range(AT_ONCE)))

        asyncio.run(some())

    threads = [threading.Thread(target=loop, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loop(2)


# ---- a fork ----


def in_a_fork(client, book):
    """A child makes calls with the client it was born with; how they ended comes back through a pipe."""
    gc.collect()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            own = Book()
            for _ in range(8):
                call(client, own, "read")
            os.write(writing, "\n".join([*own.wrong, f"{own.begun} {sum(own.ended.values())}"]).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, encoding="ascii") as pipe:
        *wrong, counts = pipe.read().splitlines() or ["", "0 1"]
    _, status = os.waitpid(child, 0)
    begun, ended = map(int, counts.split())
    book.wrong += [f"in a fork: {one}" for one in wrong]
    if status or begun != ended:
        book.wrong.append(f"a fork ended with {status}, with {ended} of {begun} calls")
    book.begun += begun
    book.ended["in a fork"] += ended


# ---- what may not grow ----


def descriptors():
    return len([*Path("/proc/self/fd").iterdir()])


def resident():
    return 4096 * int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])


def serve(seed, pipe):
    """The server's process: tells its URL, and then how many connections are open when it is asked."""
    with Storm(seed, pause_every=120) as storm:
        pipe.send(storm.url)
        while pipe.recv() == "open":
            pipe.send(storm.open)


def settle(pipe, wanted):
    """How many connections are still open at the server, once that does not change any more."""
    until = time.monotonic() + 5
    while True:
        pipe.send("open")
        left = pipe.recv()
        if left <= wanted or time.monotonic() > until:
            return left
        time.sleep(0.01)


def soak(url, pipe, seconds, seed):
    """Rounds until the time is over; what went wrong."""
    book, rng = Book(), random.Random(seed)
    threads, base = threading.active_count(), descriptors()
    client = svir.Client.openai(url, model="m", layers=layers())
    shared = svir.AsyncClient.openai(url, model="m", layers=layers())
    end, rounds, settled = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end or rounds <= WARM_UP:
        in_threads(client, book, rng)
        in_loops(url, book, rng)
        in_shared_loops(shared, book, rng.randrange(1 << 30))
        closed_in_use(url, book)
        in_a_fork(client, book)
        rounds += 1
        gc.collect()
        idle = settle(pipe, IDLE)
        if idle > IDLE:
            book.wrong.append(f"{idle} connections open at the server")
        if descriptors() > base + IDLE + 2:
            book.wrong.append(f"{descriptors()} descriptors, {base} at the beginning")
        if threading.active_count() > threads:
            book.wrong.append(f"threads that stay: {threading.enumerate()}")
        if rounds == WARM_UP:
            settled = resident()
        if book.wrong:
            break
    client.close()
    asyncio.run(shared.aclose())
    grown = resident() - settled
    if settled and grown > GROWTH:
        book.wrong.append(f"{grown} bytes more than after the warm-up")
    if (left := settle(pipe, 0)) > 0:
        book.wrong.append(f"{left} connections open after the end")
    if book.begun != sum(book.ended.values()):
        book.wrong.append(f"{book.begun} calls begun, {sum(book.ended.values())} ended")
    print(f"seed {seed}: {rounds} rounds, {book.begun} calls: {dict(book.ended.most_common())}")
    print(f"memory {grown / (1 << 20):+.1f} MiB since round {WARM_UP}, {descriptors() - base:+d} descriptors")
    return book.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="how long (%(default)s)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="to repeat the weather")
    given = parser.parse_args()
    wrong = []
    sys.unraisablehook = lambda one: wrong.append(f"unraisable: {one.exc_value!r} in {one.object!r}")
    threading.excepthook = lambda one: wrong.append(f"in a thread: {one.exc_value!r}")
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(given.seed, theirs), daemon=True)
    server.start()
    wrong += soak(ours.recv(), ours, given.seconds, given.seed)
    ours.send("end")
    server.join(10)
    gc.collect()
    for one in wrong[:20]:
        print(one)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
