"""``max_connections``: places for connections, and who waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
import threading
import time
import warnings

import pytest
import trio

import svir
from svir.http import Abort, Http11Backend, Origin, _pool
from svir.http._lease import Lease
from svir.http._net_sync import SyncBell, SyncNetwork, run
from svir.http._pool import Pool
from tests.http.faces import Face, Timed, assert_clean, post
from tests.support.loopback import Await, Gone, Loopback, Request, Send, Serve, Stall, chunked, ok

PART = chunked(b"a", end=False)


@pytest.mark.parametrize("most", [0, -1])
def test_less_than_one_is_a_config_error(face, most):
    with pytest.raises(svir.ConfigError, match="max_connections"):
        face.backend(max_connections=most)


@pytest.mark.parametrize("most", [True, 2.0, "2"])
def test_what_is_no_integer_is_refused_at_once(face, most):
    with pytest.raises(TypeError, match="max_connections must be an int or None"):
        face.backend(max_connections=most)


def test_waiting_for_a_place_counts_as_connecting_and_is_unsent(face):
    with Loopback([Request(), Send(PART), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            response = await face.send(backend, post(server))
            with pytest.raises(svir.RequestTimeoutError, match="no connection within") as caught, Timed(0.15):
                await face.send(backend, post(server), connect=0.15)
            assert caught.value.unsent
            assert_clean(caught.value)
            response.close()
            backend.close()

        face.run(main)
        assert server.opened == 1


def test_a_connection_that_becomes_idle_goes_to_who_waits(face):
    end = Await()
    with Loopback([Request(), Send(PART), end, Send(b"0\r\n\r\n"), Request(), Send(ok()), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            response = await face.send(backend, post(server))
            assert await face.read(response) == b"a"

            async def finish():
                end.event.set()
                assert await face.read(response) == b""

            second = await face.beside(lambda: face.send(backend, post(server)), finish)
            assert await face.rest(second) == b"ok"
            backend.close()

        face.run(main)
        assert server.opened == 1


def test_a_place_that_comes_free_goes_to_who_waits(face):
    with Loopback([Request(), Send(PART), Gone()], [Request(), Send(ok()), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            response = await face.send(backend, post(server))

            async def finish():
                response.close()

            second = await face.beside(lambda: face.send(backend, post(server)), finish)
            assert await face.rest(second) == b"ok"
            backend.close()

        face.run(main)


def test_an_idle_connection_to_another_server_gives_way(face):
    with Loopback([Request(), Send(ok()), Gone()]) as one, Loopback([Request(), Send(ok()), Gone()]) as other:

        async def main():
            backend = face.backend(max_connections=1)
            assert await face.exchange(backend, post(one)) == b"ok"
            assert await face.exchange(backend, post(other)) == b"ok"
            backend.close()

        face.run(main)


def test_failures_give_their_places_back(face):
    with Loopback([Stall()], [Request(), Send(ok()), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            for _ in range(3):
                with pytest.raises(svir.TransportError):
                    await face.send(backend, post(Origin("http", "127.0.0.1", 1)))
            with pytest.raises(svir.RequestTimeoutError):
                await face.send(backend, post(Origin("https", "127.0.0.1", server.port)), connect=0.05)
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)


def test_closing_wakes_who_waits(face):
    with Loopback([Request(), Send(PART), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            response = await face.send(backend, post(server))

            async def close():
                backend.close()

            error = await face.beside(lambda: face.send(backend, post(server)), close)
            assert "closed by this program" in str(error)
            assert error.unsent
            del response

        face.run(main)


def test_a_call_that_is_closed_no_longer_waits_for_a_place(face):
    with Loopback([Request(), Send(PART), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            response = await face.send(backend, post(server))
            abort = Abort()

            async def close():
                await face.call(lambda: time.sleep(0.05))  # until it waits
                await face.call(abort)  # from another thread on the async faces

            with Timed(0.05):
                error = await face.beside(lambda: face.send(backend, post(server), abort=abort), close)
            assert "closed by this program" in str(error)
            assert (error.unsent, error.retryable) == (True, False)
            assert_clean(error)
            response.close()
            backend.close()

        face.run(main)
        assert server.opened == 1


def test_a_call_that_is_closed_already_waits_for_nothing(face):
    with Loopback([Request(), Send(PART), Gone()]) as server:

        async def main():
            backend = face.backend(max_connections=1)
            response = await face.send(backend, post(server))
            (pool,) = backend._engine()._pools.values()
            abort = Abort()
            abort()
            assert await pool.room(None, abort)
            response.close()

        face.run(main)


def test_a_call_that_is_closed_no_longer_listens_to_a_new_connection(face, monkeypatch):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 60)
    with Loopback([Request(), Send(ok()), Gone()]) as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"ok"
            abort = Abort()

            async def close():
                await face.call(lambda: time.sleep(0.05))
                abort()

            with Timed(0.05):
                error = await face.beside(lambda: face.send(backend, post(server), abort=abort), close)
            assert "closed by this program" in str(error)
            assert error.unsent
            backend.close()

        face.run(main)
        assert server.opened == 1


def test_a_place_whose_holder_is_gone_is_free_again():
    pool = Pool(SyncNetwork(), 1)
    lease = pool.reserve()
    assert lease is not None
    assert pool.reserve() is None
    shut = []
    lease.hold(lambda: shut.append(True))
    del lease
    assert shut == [True]
    assert not pool.live
    assert pool.reserve() is not None


def test_one_given_back_is_free_once():
    pool = Pool(SyncNetwork(), 2)
    first, second = pool.reserve(), pool.reserve()
    first.end()
    first.end()
    assert len(pool.live) == 1
    third = pool.reserve()
    assert (third is None, pool.reserve()) == (False, None)
    del first
    assert len(pool.live) == 2
    second.end()


def test_what_comes_to_stand_in_a_place_that_was_shut_is_shut():
    lease, shut = Lease(set(), int), []
    lease.shut()
    lease.hold(lambda: shut.append(True))
    assert shut == [True]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals here")
def test_an_exception_of_a_signal_handler_costs_no_place_and_no_connection(monkeypatch):
    """It may come between any two steps of the blocking face."""
    # One that comes in a ``__del__`` is lost, as ever in Python; a hook that kept it would keep the trip.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    class Interrupt(BaseException):
        pass

    armed = False

    def interrupt(*_):
        if armed:
            raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    backend = Http11Backend(max_connections=2)
    face = Face("sync")
    chance = random.Random(3)
    try:
        with Loopback(repeat=[Tolerant((ok(), chunked(b"o", b"k")))]) as server, warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            face.run(lambda: face.exchange(backend, post(server)))  # imports are done
            (pool,) = backend._engine()._pools.values()
            for _ in range(400):
                try:
                    armed = True
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 1e-3))
                    face.run(lambda: face.exchange(backend, post(server)))
                    armed = False
                except Interrupt:
                    interrupted += 1
                finally:
                    armed = False
                assert len(pool.live) == len(pool._idle)
            assert face.run(lambda: face.exchange(backend, post(server))) == b"ok"
            assert interrupted > 50
            backend.close()
            assert not pool.live
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Tolerant(Serve):
    """Serves, whatever becomes of a connection."""

    def perform(self, peer):
        with contextlib.suppress(AssertionError, OSError):
            super().perform(peer)


def test_a_waiter_that_is_cancelled_leaves_its_turn_to_the_next(async_face):
    # The cancelled one may have connected already.
    with Loopback([Request(), Send(PART), Gone()], repeat=[Serve((ok(),))]) as server:

        async def main():
            backend = async_face.backend(max_connections=1)
            response = await async_face.send(backend, post(server))
            bodies = []

            async def wait():
                bodies.append(await async_face.exchange(backend, post(server)))

            if async_face.name == "asyncio":
                first, second = asyncio.create_task(wait()), asyncio.create_task(wait())
                await asyncio.sleep(0.02)
                response.close()
                first.cancel()
                await asyncio.wait_for(second, 5)
            else:
                async with trio.open_nursery() as nursery:
                    scope = trio.CancelScope()

                    async def cancellable():
                        with scope:
                            await wait()

                    nursery.start_soon(cancellable)
                    await trio.testing.wait_all_tasks_blocked()
                    nursery.start_soon(wait)
                    await trio.testing.wait_all_tasks_blocked()
                    response.close()
                    scope.cancel()
            assert bodies == [b"ok"]
            backend.close()

        async_face.run(main)


def test_many_threads_with_few_places():
    backend = Http11Backend(max_connections=2)
    outcomes = []
    with Loopback(repeat=[Serve((ok(b"a"), chunked(b"b")))]) as server:

        def work():
            for _ in range(20):
                response = backend.send(post(server), connect=10, read=5)
                while response.read(5):
                    pass
                outcomes.append(response.status)
                response.close()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        backend.close()
        assert outcomes == [200] * 160
        assert server.opened == 2


def test_many_tasks_with_few_places(async_face):
    with Loopback(repeat=[Serve((ok(b"a"), chunked(b"b")))]) as server:

        async def main():
            backend = async_face.backend(max_connections=3)
            bodies = []

            async def one():
                bodies.append(await async_face.exchange(backend, post(server)))

            if async_face.name == "asyncio":
                await asyncio.gather(*[one() for _ in range(60)])
            else:
                async with trio.open_nursery() as nursery:
                    for _ in range(60):
                        nursery.start_soon(one)
            assert sorted(set(bodies)) == [b"a", b"b"]
            assert len(bodies) == 60
            backend.close()

        async_face.run(main)
        assert server.opened == 3


def test_a_wait_whose_time_is_up_before_it_begins_ends():
    """However often a thread is held up between what it does: a queue of Python's would wait for ever."""
    backend = Http11Backend()

    def pauses():
        for _ in range(3000):
            backend.sleep(0.000_001, Abort())

    threads = [threading.Thread(target=pauses, daemon=True) for _ in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.000_001)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)


def test_a_bell_that_rings_twice_wakes_once():
    bell = SyncBell()
    for _ in range(2):
        bell.ring()
    run(bell.wait(None))
    before = time.monotonic()
    run(bell.wait(before + 0.01))
    assert time.monotonic() - before >= 0.009
