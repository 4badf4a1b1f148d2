"""Thousands of calls in bad weather: each is answered whole, or fails as what it is; nothing stays behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trio

import svir
from svir.layers import Retry, Timeout, Trace
from tests.support.storm import TEXT, WEATHER, Storm

KINDS = {"transport", "timeout", "rate_limited", "truncated_stream"}
WORKERS = 24
PATIENCE = 0.25
CALLS = {"sync": 2000, "asyncio": 2000, "trio": 500}


class Book:
    """Counts how calls ended, and the log lines about them."""

    def __init__(self):
        self.ended = Counter()
        self.lines = Counter()
        self.retries = 0
        self._lock = threading.Lock()

        class Lines(logging.Handler):
            def emit(handler, record):  # noqa: N805 (the book is self)
                self.lines[record.svir_outcome] += 1

        self.logger = logging.Logger("weather", logging.INFO)  # noqa: LOG001 (its handlers end with the test)
        self.logger.addHandler(Lines())

    def note(self, how):
        with self._lock:
            self.ended[how] += 1

    def retried(self, details):
        assert 1 <= details.attempt <= 4
        assert details.error.retryable
        with self._lock:
            self.retries += 1

    @property
    def layers(self):
        """One line a call; five tries in two seconds at most, each of which has little patience."""
        return [
            Trace(self.logger),
            Timeout.total(8 * PATIENCE),
            Retry.transient(4, on_retry=self.retried).backoff(
                0.004, jitter=True, random=random.Random(7).random
            ),
            Timeout.first_token(PATIENCE),
            Timeout.idle(PATIENCE),
        ]

    def failed(self, error):
        assert error.kind in KINDS, repr(error)
        assert error.__context__ is None
        if error.partial is not None:
            assert TEXT.startswith(error.partial.text)
        self.note("failed")


def plans(count, *, cancelling):
    """What each call is for: to be read, to be left after its first event, or to be cancelled."""
    drawn = random.Random(11)
    kinds = ["read"] * 18 + ["leave"] + ["cancel" if cancelling else "read"]
    return iter([drawn.choice(kinds) for _ in range(count)])


def blocking(url, book, count):
    client = svir.Client.openai(url, model="m", layers=book.layers)

    def one(plan):
        try:
            with client.stream("why?") as stream:
                if plan == "leave":
                    next(stream)
                    book.note("closed")
                else:
                    assert stream.complete().text == TEXT
                    book.note("completed")
        except svir.Error as error:
            book.failed(error)

    with client, ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, plans(count, cancelling=False)))


async def asked(client, book, plan):
    try:
        async with client.stream("why?") as stream:
            if plan == "leave":
                await anext(stream)
                book.note("closed")
            else:
                assert (await stream.complete()).text == TEXT
                book.note("completed")
    except svir.Error as error:
        book.failed(error)


async def under_asyncio(url, book, count):
    plan_of = plans(count, cancelling=True)

    async def worker():
        for plan in plan_of:
            if plan != "cancel":
                await asked(client, book, plan)
                continue
            task = asyncio.create_task(asked(client, book, plan))
            await asyncio.sleep(drawn.random() * 0.005)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    drawn = random.Random(13)
    async with svir.AsyncClient.openai(url, model="m", layers=book.layers) as client:
        await asyncio.gather(*[worker() for _ in range(WORKERS)])
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def under_trio(url, book, count):
    plan_of = plans(count, cancelling=True)

    async def worker():
        for plan in plan_of:
            with trio.move_on_after(drawn.random() * 0.005 if plan == "cancel" else 60):
                await asked(client, book, plan)

    drawn = random.Random(13)
    async with svir.AsyncClient.openai(url, model="m", layers=book.layers) as client:
        async with trio.open_nursery() as nursery:
            for _ in range(WORKERS):
                nursery.start_soon(worker)
        assert not nursery.child_tasks


def open_sockets():
    """How many sockets this process has open; None where that cannot be told."""
    files = Path("/proc/self/fd")
    if not files.is_dir():
        return None
    count = 0
    for file in files.iterdir():
        with contextlib.suppress(OSError):
            count += str(file.readlink()).startswith("socket:")
    return count


@pytest.mark.long
@pytest.mark.uncounted
@pytest.mark.parametrize("face", list(CALLS))
def test_every_call_is_answered_whole_or_fails_as_what_it_is_and_nothing_stays(face):
    gc.collect()
    sockets, threads = open_sockets(), set(threading.enumerate())
    book, count = Book(), CALLS[face]
    with Storm(seed=2026) as server:
        if face == "sync":
            blocking(server.url, book, count)
        elif face == "asyncio":
            asyncio.run(under_asyncio(server.url, book, count))
        else:
            trio.run(under_trio, server.url, book, count)
        until = time.monotonic() + 5
        while server.open and time.monotonic() < until:
            time.sleep(0.005)
        assert server.open == 0
    gc.collect()

    # One line a call, and each tells the truth; a call that was cancelled before it began has none, and one
    # that was cancelled after its end is not in the book.
    cancelled = sum(plan == "cancel" for plan in plans(count, cancelling=face != "sync"))
    for how in ("completed", "failed", "closed"):
        assert 0 <= book.lines[how] - book.ended[how] <= cancelled
    assert count - cancelled <= sum(book.lines.values()) <= count
    assert book.lines["dropped"] == 0
    assert bool(book.lines["interrupted"]) is (face != "sync")
    # The weather was bad, all of it was seen, and calls got through nevertheless: most, unless the machine is
    # so busy that deadlines pass.
    assert set(WEATHER) <= set(server.seen)
    assert book.ended["failed"] > count / 50
    assert book.ended["completed"] > count / 50
    assert book.retries > count / 10

    workers = {thread for thread in threading.enumerate() if not thread.name.startswith("Trio")}
    assert workers <= threads
    if sockets is not None:
        assert open_sockets() <= sockets
