"""One client of each face and one memory of what servers take, shared by many threads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

import svir
from tests.support.chat import answer
from tests.support.loopback import Act, Loopback, Peer, Request, chunked

THREADS = 24
CALLS = 25
MODELS = 6
REFUSED = b"HTTP/1.1 400 No\r\ncontent-length: 0\r\n\r\n"


def is_picky(model):
    return int(model[1:]) % 2 == 0


@dataclass
class Picky(Act):
    """Answers with the question; every second model takes no ``stream_options``."""

    refused: list[str] = field(default_factory=list)

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(ConnectionError):
            while first := peer.recv():
                peer.left_over = first
                Request().perform(peer)
                self.answer(peer, json.loads(peer.last.body))

    def answer(self, peer, body):
        if is_picky(body["model"]) and "stream_options" in body:
            self.refused.append(body["model"])
            peer.sock.sendall(REFUSED)
        else:
            peer.sock.sendall(chunked(answer(body["messages"][-1]["content"])))


@pytest.mark.uncounted
def test_threads_share_clients_and_what_is_learned(caplog):
    memory, server_side = svir.Compatibility(), Picky()
    start = threading.Barrier(THREADS + 1)
    seen = []

    def blocking(number):
        start.wait(10)
        for turn in range(CALLS):
            client = clients[(number + turn) % 2]
            model, question = f"m{(number + turn) % MODELS}", f"{number}-{turn}"
            assert client.complete(question, model=model).text == question
            seen.append(memory.learned)

    def concurrent():
        async def one(turn):
            question = f"task-{turn}"
            answered = await other.complete(question, model=f"m{turn % MODELS}")
            assert answered.text == question

        async def many():
            async with other:
                await asyncio.gather(*map(one, range(4 * CALLS)))

        start.wait(10)
        asyncio.run(many())

    with (
        caplog.at_level(logging.WARNING, "svir"),
        Loopback(repeat=[server_side]) as server,
        svir.Client.openai(server.url, compatibility=memory) as client,
        ThreadPoolExecutor(THREADS + 1) as pool,
    ):
        clients = (client, client.with_options(timeout=60))
        other = svir.AsyncClient.openai(server.url, compatibility=memory)
        for done in [pool.submit(concurrent), *(pool.submit(blocking, number) for number in range(THREADS))]:
            done.result(60)

    picky = {f"m{number}" for number in range(MODELS) if is_picky(f"m{number}")}
    assert {(one.model, one.fields) for one in memory.learned} == {
        (model, ("stream_options",)) for model in picky
    }
    # Each is learned once and said once; whoever asked before it was known was refused once himself.
    assert len([record for record in caplog.records if record.name == "svir"]) == len(picky)
    assert set(server_side.refused) == picky
    assert len(server.requests) == THREADS * CALLS + 4 * CALLS + len(server_side.refused)
    # What was learned is never half there, and never goes away.
    sizes = {len(learned) for learned in seen}
    assert sizes <= set(range(len(picky) + 1))
    assert seen[-1] == memory.learned
