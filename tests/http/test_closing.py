"""Closing from anywhere, cancellation, dropped responses, forks, second loops and exit."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import trio

import svir
from svir.http import Abort, AsyncHttp11Backend, Http11Backend, Origin, _engine, _net, _pool
from svir.http._idle import IdleList
from tests.http.faces import Bytes, Face, Timed, assert_clean, post
from tests.support.loopback import Await, Gone, Loopback, Pause, Request, Send, Signal, Stall, chunked, ok

PART = chunked(b"a", end=False)


def closed_by_this_program(error, *, unsent):
    assert isinstance(error, svir.TransportError)
    assert "closed by this program" in str(error)
    assert not error.retryable
    assert error.unsent == unsent
    assert_clean(error)


class TestClosingWakes:
    @pytest.mark.parametrize("what", ["response", "backend"])
    def test_a_reader_of_the_body(self, face, wire, what):
        tls, options = wire
        gone = Gone()
        with Loopback([Request(), Send(PART), gone], **tls) as server:

            async def main():
                backend = face.backend(**options)
                response = await face.send(backend, post(server))
                assert await face.read(response) == b"a"

                async def close():
                    (response if what == "response" else backend).close()

                begin = time.monotonic()
                closed_by_this_program(await face.beside(lambda: face.read(response), close), unsent=False)
                assert time.monotonic() - begin < 1
                assert gone.event.wait(5)

            face.run(main)

    def test_a_sender_that_waits_for_the_head(self, face, wire):
        tls, options = wire
        came, gone = Signal(), Gone()
        with Loopback([Request(), came, gone], **tls) as server:

            async def main():
                backend = face.backend(**options)

                async def close():
                    await face.call(lambda: came.event.wait(5))
                    backend.close()

                error = await face.beside(lambda: face.send(backend, post(server)), close)
                closed_by_this_program(error, unsent=False)
                assert gone.event.wait(5)

            face.run(main)

    def test_a_sender_whose_request_was_just_taken(self, face, wire, monkeypatch):
        tls, options = wire
        give, made = _net.Tcp.give, []

        def give_and_close(tcp, data):
            taken = give(tcp, data)
            while made:
                made.pop().close()
            return taken

        monkeypatch.setattr(_net.Tcp, "give", give_and_close)
        with Loopback([Request(), Send(ok()), Gone()], **tls) as server:

            async def main():
                backend = face.backend(**options)
                assert await face.exchange(backend, post(server)) == b"ok"
                made.append(backend)
                with pytest.raises(svir.TransportError) as caught:
                    await face.send(backend, post(server))
                closed_by_this_program(caught.value, unsent=False)

            face.run(main)

    def test_a_sender_whose_body_is_not_taken(self, face):
        with Loopback([Await(done := threading.Event()), Gone()]) as server:

            async def main():
                backend = face.backend()

                async def close():
                    await face.call(lambda: time.sleep(0.1))  # until the kernel's buffers are full
                    backend.close()

                body = Bytes(*[bytes(1_000_000)] * 64)
                error = await face.beside(lambda: face.send(backend, post(server, body)), close)
                closed_by_this_program(error, unsent=False)
                done.set()

            face.run(main)

    @pytest.mark.parametrize("what", ["call", "backend"])
    def test_a_name_lookup(self, async_face, monkeypatch, what):
        looking, let_go = threading.Event(), threading.Event()

        def slow(host, *args, flags=0, **options):
            if not flags:
                looking.set()
                let_go.wait(5)
            raise socket.gaierror

        monkeypatch.setattr(socket, "getaddrinfo", slow)

        async def main():
            backend, abort = async_face.backend(), Abort()
            request = post(Origin("http", "slow.invalid", 80))

            async def close():
                await async_face.call(lambda: looking.wait(5))
                await async_face.call(abort if what == "call" else backend.close)

            with Timed(0):
                error = await async_face.beside(lambda: async_face.send(backend, request, abort=abort), close)
            closed_by_this_program(error, unsent=True)
            assert not async_face.open(backend)
            let_go.set()

        async_face.run(main)

    def test_a_tls_handshake(self, face):
        came = Signal()
        with Loopback([came, Gone()]) as server:

            async def main():
                backend = face.backend()
                request = post(Origin("https", "127.0.0.1", server.port))

                async def close():
                    await face.call(lambda: came.event.wait(5))
                    backend.close()

                closed_by_this_program(
                    await face.beside(lambda: face.send(backend, request), close), unsent=True
                )

            face.run(main)

    def test_from_another_thread_on_the_async_faces(self, async_face, wire):
        tls, options = wire
        gone = Gone()
        with Loopback([Request(), Send(PART), gone], **tls) as server:

            async def main():
                backend = async_face.backend(**options)
                response = await async_face.send(backend, post(server))
                assert await async_face.read(response) == b"a"

                async def close():
                    await async_face.call(response.close)

                error = await async_face.beside(lambda: async_face.read(response), close)
                closed_by_this_program(error, unsent=False)
                assert gone.event.wait(5)

            async_face.run(main)

    def test_from_another_thread_while_nobody_reads(self, async_face):
        gone = Gone()
        with Loopback([Request(), Send(PART), gone]) as server:

            async def main():
                response = await async_face.send(async_face.backend(), post(server))
                assert await async_face.read(response) == b"a"
                await async_face.call(response.close)
                assert await async_face.call(lambda: gone.event.wait(5))

            async_face.run(main)


class TestClosedBackend:
    def test_idle_connections_are_shut_and_requests_refused(self, face):
        with Loopback([Request(), Send(ok()), Gone()]) as server:

            async def main():
                backend = face.backend()
                await face.exchange(backend, post(server))
                backend.close()
                backend.close()
                with pytest.raises(svir.TransportError) as caught:
                    await face.send(backend, post(server))
                closed_by_this_program(caught.value, unsent=True)

            face.run(main)

    def test_closing_one_that_was_never_used_costs_no_import(self):
        code = (
            "import sys, svir.http; "
            "svir.http.Http11Backend().close(); svir.http.AsyncHttp11Backend().close(); "
            "print('ssl' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"

    def test_idle_connections_of_a_loop_that_is_gone_are_closed_from_any_thread(self, async_face):
        backend, gone = AsyncHttp11Backend(), Gone()
        with Loopback([Request(), Send(ok()), gone]) as server:
            thread = threading.Thread(
                target=lambda: async_face.run(lambda: async_face.exchange(backend, post(server)))
            )
            thread.start()
            thread.join(5)
            (pool,) = backend._engine()._pools.values()
            ((_, _, stream),) = pool._idle._waiting
            backend.close()
            assert gone.event.wait(5)
            assert stream.watch.sock.fileno() == -1


class TestClosingInASignalHandler:
    """It runs between any two steps of the main thread, which may hold a lock just then."""

    @pytest.mark.parametrize("where", ["Engine", "Pool"])
    def test_while_the_first_request_is_prepared(self, where, monkeypatch):
        backend = Http11Backend()
        module = {"Engine": _engine, "Pool": _pool}[where]
        real = getattr(module, where)

        def interrupted(*args):
            signal.raise_signal(signal.SIGINT)
            return real(*args)

        monkeypatch.setattr(_engine, where, interrupted)
        self.closed(backend, Origin("http", "127.0.0.1", 9))

    def test_while_idle_connections_are_looked_through(self, monkeypatch):
        with Loopback([Request(), Send(ok()), Gone()]) as server:
            backend = Http11Backend()
            Face("sync").run(lambda: Face("sync").exchange(backend, post(server)))
            real = IdleList._outdated

            def interrupted(idle, now):
                signal.raise_signal(signal.SIGINT)
                return real(idle, now)

            monkeypatch.setattr(IdleList, "_outdated", interrupted)
            self.closed(backend, server.origin)

    def closed(self, backend, origin):
        faulthandler.dump_traceback_later(20, exit=True)  # a deadlock cannot be interrupted otherwise
        before = signal.signal(signal.SIGINT, lambda *_: backend.close())
        try:
            with pytest.raises(svir.TransportError) as caught:
                backend.send(post(origin), connect=5, read=5)
        finally:
            signal.signal(signal.SIGINT, before)
            faulthandler.cancel_dump_traceback_later()
        closed_by_this_program(caught.value, unsent=True)
        (pool,) = backend._engine()._pools.values()
        assert not pool.live


class TestCancellation:
    """A cancelled call shuts its connection before it is over."""

    async def cancelled(self, face, begin, started):
        if face.name == "asyncio":
            task = asyncio.create_task(begin())
            await asyncio.to_thread(started.wait, 5)
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(begin)
                    await trio.to_thread.run_sync(started.wait, 5)
                    await trio.sleep(0.02)
                    scope.cancel()
            assert scope.cancelled_caught

    def test_while_connecting_over_tls(self, async_face):
        connected, gone = Signal(), Gone()
        with Loopback([connected, gone]) as server:

            async def main():
                backend = async_face.backend()
                request = post(Origin("https", "127.0.0.1", server.port))
                await self.cancelled(async_face, lambda: async_face.send(backend, request), connected.event)
                assert gone.event.wait(5)
                assert not async_face.open(backend)

            async_face.run(main)

    def test_while_the_body_is_sent(self, async_face, wire):
        tls, options = wire
        connected, hold, gone = Signal(), Await(), Gone()
        with Loopback([connected, hold, gone], **tls) as server:

            async def main():
                backend = async_face.backend(**options)
                request = post(server, Bytes(*[bytes(1_000_000)] * 64))
                await self.cancelled(async_face, lambda: async_face.send(backend, request), connected.event)
                hold.event.set()
                assert gone.event.wait(5)
                assert not async_face.open(backend)

            async_face.run(main)

    def test_while_a_block_is_read_from_disk(self, async_face):
        reading, gone, let_go = threading.Event(), Gone(), threading.Event()

        class Slow(Bytes):
            def __iter__(self):
                reading.set()
                let_go.wait(5)
                yield b"{}"

        with Loopback([gone]) as server:

            async def main():
                backend = async_face.backend()
                request = post(server, Slow(b"{}", in_memory=False))
                await self.cancelled(async_face, lambda: async_face.send(backend, request), reading)
                assert gone.event.wait(5)
                let_go.set()

            async_face.run(main)

    def test_while_waiting_for_the_head(self, async_face, wire):
        tls, options = wire
        came, gone = Signal(), Gone()
        with Loopback([Request(), came, gone], **tls) as server:

            async def main():
                backend = async_face.backend(**options)
                await self.cancelled(async_face, lambda: async_face.send(backend, post(server)), came.event)
                assert gone.event.wait(5)

            async_face.run(main)

    def test_while_reading(self, async_face, wire):
        tls, options = wire
        gone = Gone()
        with Loopback([Request(), Send(PART), gone], [Request(), Send(ok()), Gone()], **tls) as server:

            async def main():
                backend = async_face.backend(**options)
                response = await async_face.send(backend, post(server))
                assert await async_face.read(response) == b"a"
                ready = threading.Event()
                ready.set()
                await self.cancelled(async_face, lambda: async_face.read(response, 60), ready)
                assert gone.event.wait(5)
                response.close()
                assert await async_face.exchange(backend, post(server)) == b"ok"
                backend.close()

            async_face.run(main)

    def test_an_interrupt_of_the_blocking_face_shuts_the_connection(self):
        gone = Gone()
        with Loopback([Request(), Send(PART), gone]) as server:
            response = Http11Backend().send(post(server), connect=5, read=5)
            assert response.read(5) == b"a"
            watch = response._trip._stream.watch
            real, watch.until = watch.until, None

            async def interrupted(*args, **options):
                raise KeyboardInterrupt

            watch.until = interrupted
            with pytest.raises(KeyboardInterrupt):
                response.read(5)
            watch.until = real
            assert gone.event.wait(5)


class TestDropped:
    def test_an_unfinished_response_shuts_its_connection_and_warns(self, face, wire):
        tls, options = wire
        gone = Gone()
        with Loopback([Request(), Send(PART), gone], **tls) as server:

            async def main():
                backend = face.backend(**options)
                response = await face.send(backend, post(server))
                assert await face.read(response) == b"a"
                with pytest.warns(ResourceWarning, match="dropped unfinished"):  # noqa: PT031
                    del response
                    gc.collect()
                assert await face.call(lambda: gone.event.wait(5))
                assert not face.open(backend)

            face.run(main)

    def test_one_that_was_never_read_too(self, face):
        gone = Gone()
        with Loopback([Request(), Send(PART), gone]) as server:

            async def main():
                backend = face.backend()
                with pytest.warns(ResourceWarning):  # noqa: PT031
                    await face.send(backend, post(server))
                    gc.collect()
                assert await face.call(lambda: gone.event.wait(5))

            face.run(main)

    def test_one_that_outlives_its_loop(self, async_face):
        gone = Gone()
        with Loopback([Request(), Send(PART), gone]) as server:
            kept = []

            async def main():
                response = await async_face.send(async_face.backend(), post(server))
                assert await async_face.read(response) == b"a"
                kept.append(response)

            async_face.run(main)
            with pytest.warns(ResourceWarning):  # noqa: PT031
                kept.clear()
                gc.collect()
            assert gone.event.wait(5)

    def test_one_dropped_in_another_thread(self, async_face):
        gone = Gone()
        with Loopback([Request(), Send(PART), gone]) as server:

            async def main():
                response = await async_face.send(async_face.backend(), post(server))
                assert await async_face.read(response) == b"a"
                kept = [response]
                del response
                with pytest.warns(ResourceWarning):
                    await async_face.call(kept.clear)
                assert await async_face.call(lambda: gone.event.wait(5))

            async_face.run(main)

    def test_a_complete_one_is_silent(self, face):
        with Loopback([Request(), Send(ok()), Gone()]) as server:

            async def main():
                backend = face.backend()
                response = await face.send(backend, post(server))
                del response
                gc.collect()

            face.run(main)

    def test_a_dropped_backend_shuts_its_idle_connections(self, face):
        gone = Gone()
        with Loopback([Request(), Send(ok()), gone]) as server:

            async def main():
                backend = face.backend()
                await face.exchange(backend, post(server))
                del backend
                gc.collect()
                assert await face.until(gone.event)

            face.run(main)


class TestLoops:
    def test_one_loop_after_the_other(self, async_face):
        backend = AsyncHttp11Backend()
        for _ in range(3):
            with Loopback([Request(), Send(ok()), Request(), Send(ok()), Gone()]) as server:

                async def main(server=server):
                    assert await async_face.exchange(backend, post(server)) == b"ok"
                    assert await async_face.exchange(backend, post(server)) == b"ok"

                async_face.run(main)
                gc.collect()
                assert server.opened == 1
                async_face.run(lambda: async_face.call(lambda: None))  # unrelated
                self.next_loop_clears(async_face, backend)
        assert len(backend._engine()._pools) <= 1

    def next_loop_clears(self, face, backend):
        async def main():
            backend._pool()

        face.run(main)

    def test_two_loops_at_once(self):
        backend = AsyncHttp11Backend()
        outcomes = []
        with Loopback(*[[Request(), Send(ok()), Request(), Send(ok()), Gone()]] * 2) as server:
            both = threading.Barrier(2)

            def work(name):
                face = Face(name)

                async def main():
                    for _ in range(2):
                        await face.call(both.wait)
                        outcomes.append(await face.exchange(backend, post(server)))
                    await face.call(both.wait)

                face.run(main)

            threads = [threading.Thread(target=work, args=(name,)) for name in ("asyncio", "trio")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
            backend.close()
        assert outcomes == [b"ok"] * 4

    @pytest.mark.parametrize("second", ["asyncio", "trio"])
    def test_a_response_under_another_loop_is_a_config_error(self, async_face, second):
        with Loopback([Request(), Send(PART), Gone()]) as server:
            responses = []

            async def begin():
                responses.append(await async_face.send(async_face.backend(), post(server)))

            async def go_on():
                with pytest.raises(svir.ConfigError, match="event loop") as caught:
                    await responses[0].read(1)
                assert_clean(caught.value)

            async_face.run(begin)
            Face(second).run(go_on)
            responses[0].close()

    def test_a_loop_that_cannot_watch_sockets_is_a_config_error(self):
        class Deaf(asyncio.SelectorEventLoop):
            def add_reader(self, fd, callback, *args):
                raise NotImplementedError

            def add_writer(self, fd, callback, *args):
                raise NotImplementedError

        async def main(server):
            with pytest.raises(svir.ConfigError, match="SelectorEventLoop") as caught:
                await AsyncHttp11Backend().send(post(server), connect=5, read=5)
            assert_clean(caught.value)

        with Loopback([Gone()]) as server:
            loop = Deaf()
            loop.run_until_complete(main(server))
            loop.close()

    def test_a_loop_that_does_not_tell_of_everything_is_helped_by_the_clock(self):
        """uvloop is one: it never calls back for a socket that was reset."""

        class Forgetful(asyncio.selector_events.BaseSelectorEventLoop):
            def add_reader(self, fd, callback, *args):
                pass

        async def main(server):
            backend = AsyncHttp11Backend()
            response = await backend.send(post(server), connect=5, read=5)
            assert await response.read(5) == b"ok"
            response.close()
            backend.close()

        with Loopback([Request(), Pause(0.05), Send(ok()), Gone()]) as server:
            loop = Forgetful()
            loop.run_until_complete(main(server))
            loop.close()

    def test_nothing_spins_while_data_waits_and_nobody_reads(self):
        with Loopback([Request(), Send(PART + b"1\r\nb\r\n"), Send(b"1\r\nc\r\n" * 1000), Stall()]) as server:

            async def main():
                response = await AsyncHttp11Backend().send(post(server), connect=5, read=5)
                await response.read(5)
                turns = time.process_time()
                await asyncio.sleep(0.2)
                assert time.process_time() - turns < 0.1
                response.close()

            asyncio.run(main())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
class TestFork:
    def child(self, work):
        """Runs work in a child process; its exit code."""
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # 3.12: the test's server has threads
    def test_a_child_uses_its_own_connections_and_leaves_the_parents_alone(self, face):
        with Loopback(
            *[[Request(), Send(ok(b"%d" % n)), Request(), Send(ok(b"%d" % n)), Gone()] for n in range(2)]
        ) as server:
            backend = face.backend()
            results = []

            async def once():
                results.append(await face.exchange(backend, post(server)))

            async def parent():
                await once()
                return await face.call(lambda: None)

            if face.is_async:
                code = self.under_a_loop(face, backend, server, results)
            else:
                face.run(once)
                code = self.child(
                    lambda: (face.run(once), face.run(once), backend.close(), expect(results, b"1"))
                )
                face.run(once)
            assert code == 0
            assert results == [b"0", b"0"]
            backend.close()
            assert server.opened == 2

    def under_a_loop(self, face, backend, server, results):
        """Forks while a loop runs: the child's loop is another one."""
        codes = []

        async def main():
            results.append(await face.exchange(backend, post(server)))
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    # A child cannot go on with the parent's loop; it begins its own, in a fresh thread.
                    done: list[bytes] = []

                    def fresh():
                        async def twice():
                            for _ in range(2):
                                done.append(await face.exchange(backend, post(server)))  # noqa: PERF401
                            backend.close()

                        face.run(twice)

                    thread = threading.Thread(target=fresh)
                    thread.start()
                    thread.join(10)
                    code = 0 if done == [b"1", b"1"] else 2
                finally:
                    os._exit(code)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))  # noqa: ASYNC222 (short)
            results.append(await face.exchange(backend, post(server)))

        face.run(main)
        return codes[0]

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_child_that_drops_an_open_response_does_not_end_it(self, face):
        more = Await()
        with Loopback([Request(), Send(PART), more, Send(b"1\r\nb\r\n0\r\n\r\n"), Gone()]) as server:

            async def main():
                backend = face.backend()
                response = await face.send(backend, post(server))
                assert await face.read(response) == b"a"
                assert self.child(response.close) == 0
                more.event.set()
                assert await face.rest(response) == b"b"
                backend.close()

            face.run(main)


def expect(results, value):
    assert results[1:] == [value, value]


@pytest.mark.parametrize("name", ["sync", "asyncio", "trio"])
@pytest.mark.parametrize("finish", ["idle", "closed"])
def test_a_program_ends_without_a_warning(name, finish):
    code = f"""
import sys
from tests.http.faces import Face, post
from svir.http import Origin
face = Face({name!r})
backend = face.backend()
async def main():
    assert await face.exchange(backend, post(Origin("http", "127.0.0.1", int(sys.argv[1])))) == b"ok"
    if {finish!r} == "closed":
        backend.close()
face.run(main)
"""
    with Loopback([Request(), Send(ok()), Gone()]) as server:
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", code, str(server.port)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", "."), "."])},
        )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert "Traceback" not in done.stderr
