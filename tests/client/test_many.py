"""``complete_all``: many calls at once, their outcomes as they come, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import json
import sys
import threading
from dataclasses import dataclass, field

import pytest
import trio

import svir
from tests.support.chat import answer
from tests.support.faces import ASYNC_FACES, closing
from tests.support.loopback import Act, Loopback, Peer, Request, chunked


@dataclass
class Echo(Act):
    """Answers with the question; ``wait NAME`` waits for that event first, ``busy`` is a 429."""

    events: dict[str, threading.Event] = field(default_factory=dict)
    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def perform(self, peer: Peer) -> None:
        with contextlib.suppress(ConnectionError):  # a call that is shut may be in the middle of its answer
            self._serve(peer)

    def _serve(self, peer: Peer) -> None:
        while first := peer.recv():
            peer.left_over = first
            Request().perform(peer)
            asked = json.loads(peer.last.body)["messages"][-1]["content"]
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            if asked.startswith("wait "):
                self.events[asked[5:]].wait(5)
            with self.lock:
                self.now -= 1
            if asked == "busy":
                peer.sock.sendall(b"HTTP/1.1 429 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                return
            peer.sock.sendall(chunked(answer(asked)))


def threads_of_calls():
    """The threads in which calls are made; the watchdog of httpx2 outlives its work by design."""
    threads = [one for one in threading.enumerate() if one.name.startswith("svir")]
    return [one for one in threads if one.name != "svir watchdog"]


def run(face, echo, scenario):
    with Loopback(repeat=[echo]) as server:

        async def whole():
            async with closing(face.client(server.url, model="m")) as client:
                return await scenario(client)

        return face.run(whole)


def test_each_outcome_comes_with_the_number_of_its_request(face):
    async def scenario(client):
        async with client.complete_all(["a", "busy", svir.Request(messages=["c"])]) as outcomes:
            return {index: outcome async for index, outcome in outcomes}

    found = run(face, Echo(), scenario)
    assert sorted(found) == [0, 1, 2]
    assert (found[0].text, found[2].text) == ("a", "c")
    assert isinstance(found[1], svir.RateLimitError)


def test_outcomes_come_as_calls_end(face):
    echo = Echo({"x": threading.Event()})

    async def scenario(client):
        order = []
        async with client.complete_all(["wait x", "b"], concurrency=2) as outcomes:
            async for index, _ in outcomes:
                order.append(index)
                echo.events["x"].set()
        return order

    assert run(face, echo, scenario) == [1, 0]


def test_no_more_calls_than_asked_for_are_under_way(face):
    echo = Echo()

    async def scenario(client):
        async with client.complete_all(map(str, range(20)), concurrency=3, system="s") as outcomes:
            return [outcome.text async for _, outcome in outcomes]

    assert sorted(run(face, echo, scenario), key=int) == [str(n) for n in range(20)]
    assert 1 <= echo.most <= 3


def test_an_endless_iterator_of_requests_is_asked_only_for_what_is_needed(face):
    asked = []

    def endless():
        for n in itertools.count():
            asked.append(threading.current_thread())
            yield str(n)

    async def scenario(client):
        async with client.complete_all(endless(), concurrency=2) as outcomes:
            taken = 0
            async for _ in outcomes:
                taken += 1
                if taken == 5:
                    break

    run(face, Echo(), scenario)
    assert len(asked) <= 5 + 2
    assert set(asked) == {threading.current_thread()}


def test_leaving_the_block_shuts_what_is_under_way_and_waits_for_it(face):
    echo = Echo({"never": threading.Event()})

    async def scenario(client):
        async with client.complete_all(["a", *["wait never"] * 3], concurrency=4) as outcomes:
            async for _, outcome in outcomes:
                assert outcome.text == "a"
                break
        if face.name == "asyncio":
            assert asyncio.all_tasks() == {asyncio.current_task()}
        threads = threads_of_calls()
        assert threads == []
        echo.events["never"].set()

    run(face, echo, scenario)


def test_what_is_not_svirs_ends_it_all(face):
    async def broken(request, following):
        stream = await following(request)
        if request.messages[0].parts[0].text == "bad":
            raise ZeroDivisionError
        return stream

    async def scenario(client):
        client = client.with_options(layers=[face.layer(broken)])
        with pytest.raises(ZeroDivisionError):
            async with client.complete_all(["a", "bad", "c"], concurrency=1) as outcomes:
                async for _ in outcomes:
                    pass

    run(face, Echo(), scenario)


def test_a_fault_of_the_requests_iterator_comes_out(face):
    def faulty():
        yield "a"
        raise ZeroDivisionError

    async def scenario(client):
        async with client.complete_all(faulty(), concurrency=1) as outcomes:
            assert (await anext(outcomes))[0] == 0
            with pytest.raises(ZeroDivisionError):
                await anext(outcomes)

    run(face, Echo(), scenario)


@pytest.mark.parametrize("wrong", [0, -1])
def test_concurrency_is_at_least_one(face, wrong):
    async def scenario(client):
        with pytest.raises(svir.ConfigError, match="concurrency"):
            client.complete_all(["a"], concurrency=wrong)
        with pytest.raises(TypeError):
            client.complete_all(["a"], concurrency="2")

    run(face, Echo(), scenario)


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_the_async_face_wants_a_block(face):
    async def scenario(client):
        with pytest.raises(svir.ConfigError, match="async with"):
            await anext(client.complete_all(["a"]))

    run(face, Echo(), scenario)


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_cancelling_who_waits_leaves_nothing_running(face):
    echo = Echo({"never": threading.Event()})

    async def scenario(client):
        async def ask():
            async with client.complete_all(["wait never"] * 2) as outcomes:
                async for _ in outcomes:
                    pass

        if face.name == "trio":
            with trio.move_on_after(0.1) as scope:
                await ask()
            assert scope.cancelled_caught
        else:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await ask()
            assert asyncio.all_tasks() == {asyncio.current_task()}
        echo.events["never"].set()

    run(face, echo, scenario)


def test_outcomes_dropped_half_read_shut_their_calls():
    echo = Echo({"never": threading.Event()})
    with Loopback(repeat=[echo]) as server, svir.Client.openai(server.url, model="m") as client:
        outcomes = client.complete_all(["a", "wait never"], concurrency=2)
        assert next(outcomes)[1].text == "a"
        threads = threads_of_calls()
        del outcomes
        gc.collect()
        for thread in threads:
            thread.join(5)
            assert not thread.is_alive()
        echo.events["never"].set()


def test_ctrl_c_is_told_as_that_wherever_it_comes():
    """Also while a thread's start is waited for: the Condition in there then complains of its lock."""

    def interrupt(frame, event, argument):
        if frame.f_code.co_name == "_acquire_restore":
            sys.settrace(None)
            raise KeyboardInterrupt

    before = sys.gettrace()
    with Loopback(repeat=[Echo()]) as server, svir.Client.openai(server.url, model="m") as client:
        interrupted = False
        for _ in range(100):  # a thread that is very quick is not waited for
            outcomes = client.complete_all(["a", "b", "c"], concurrency=3)
            try:
                sys.settrace(interrupt)
                next(outcomes)
            except KeyboardInterrupt as error:
                interrupted = error.__context__ is None or error.__suppress_context__
                break
            finally:
                sys.settrace(before)
                outcomes.close()
        assert interrupted
        assert client.complete("after").text == "after"


@pytest.mark.parametrize(
    "one", ["hi", svir.Request("m"), {"a": 1}, svir.user("hi")], ids=lambda one: type(one).__name__
)
def test_one_request_alone_is_no_iterable_of_requests(face, one):
    async def scenario(client):
        with pytest.raises(TypeError, match="several requests"):
            client.complete_all(one)

    run(face, Echo(), scenario)


def test_a_cancellation_from_within_a_layer_leaves_nobody_waiting():
    async def layer(request, following):
        task = asyncio.create_task(asyncio.sleep(9))
        task.cancel()
        await task

    async def main():
        client = svir.AsyncClient.openai("http://127.0.0.1:9", model="m", layers=[layer])
        async with asyncio.timeout(5), client.complete_all(["a"]) as outcomes:
            return [outcome async for _, outcome in outcomes]

    (outcome,) = asyncio.run(main())
    assert isinstance(outcome, svir.TransportError)
    assert not outcome.retryable
