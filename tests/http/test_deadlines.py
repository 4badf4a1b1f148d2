"""Every wait ends in time, whatever the server does."""

from __future__ import annotations

import socket
import ssl
import time

import pytest

import svir
from svir.http import Origin
from tests.http.faces import Bytes, Timed, assert_clean, post
from tests.support.loopback import Await, Gone, Loopback, Pause, Request, Send, Stall, Trickle, chunked, ok

CHUNK = b"6\r\nabcdef\r\n"


class Deaf(Stall):
    """Reads nothing until the test ends."""

    def perform(self, peer):
        peer.server.ended.wait(10)


@pytest.fixture
def full():
    """The origin of a listener whose queue is full: connecting to it hangs."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = []
    for _ in range(8):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(listener.getsockname())
        waiting.append(sock)
    time.sleep(0.05)
    yield Origin("http", "127.0.0.1", listener.getsockname()[1])
    for sock in waiting:
        sock.close()
    listener.close()


def timed_out(face, seconds, request, match, *, unsent, options=None, **times):
    async def main():
        backend = face.backend(**(options or {}))
        with pytest.raises(svir.RequestTimeoutError, match=match) as caught, Timed(seconds):
            await face.send(backend, request, **times)
        assert caught.value.unsent == unsent
        assert caught.value.retryable
        assert isinstance(caught.value, TimeoutError)
        assert_clean(caught.value)
        backend.close()

    face.run(main)


def test_connecting(face, full):
    timed_out(face, 0.2, post(full), "no connection within 0.2 s", unsent=True, connect=0.2)


def test_connecting_within_the_total(face, full):
    timed_out(face, 0.2, post(full), r"no answer within 0.2 s \(timeout\)", unsent=True, connect=5, total=0.2)


def test_all_addresses_together_get_the_time_of_one(face, full, monkeypatch):
    address = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", full.port))
    real = socket.getaddrinfo

    def three(host, *args, **options):
        if host in {b"three.invalid", "three.invalid"}:
            if options.get("flags") == socket.AI_NUMERICHOST:
                raise socket.gaierror
            return [address] * 3
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", three)
    origin = Origin("http", "three.invalid", full.port)
    timed_out(face, 0.3, post(origin), "no connection", unsent=True, connect=0.3)


def test_a_dead_address_leaves_time_for_the_next(face, full, monkeypatch):
    with Loopback([Request(), Send(ok()), Gone()]) as server:
        addresses = [
            (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", p)) for p in (full.port, server.port)
        ]

        def both(host, *args, **options):
            if options.get("flags") == socket.AI_NUMERICHOST:
                raise socket.gaierror
            return addresses

        monkeypatch.setattr(socket, "getaddrinfo", both)

        async def main():
            backend = face.backend()
            with Timed(0.2):
                response = await face.send(backend, post(Origin("http", "two.invalid", 80)), connect=0.4)
            assert await face.rest(response) == b"ok"
            backend.close()

        face.run(main)


def test_a_slow_name_lookup(async_face, monkeypatch):
    def slow(host, *args, **options):
        if not options.get("flags"):
            time.sleep(0.5)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    async def main():
        with pytest.raises(svir.RequestTimeoutError) as caught, Timed(0.1):
            await async_face.send(async_face.backend(), post(Origin("http", "slow.invalid", 80)), connect=0.1)
        assert caught.value.unsent

    async_face.run(main)


@pytest.mark.parametrize("act", [Stall(), Trickle(b"\x16\x03\x03\x40\x00" + bytes(500), every=0.01)])
def test_a_tls_handshake_that_hangs_or_trickles(face, act):
    with Loopback([act]) as server:
        origin = Origin("https", "127.0.0.1", server.port)
        # The trust store is not looked at here, since that counts, and takes its time.
        quick = {} if face.library else {"ssl_context": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
        missed = "connection" if face.library else "TLS handshake"
        timed_out(
            face, 0.2, post(origin), f"no {missed} within 0.2 s", unsent=True, connect=0.2, options=quick
        )


def test_a_server_that_does_not_take_the_body(face, wire):
    tls, options = wire
    body = Bytes(*[bytes(1024 * 1024)] * 64, in_memory=not tls)
    with Loopback([Deaf()], **tls) as server:
        timed_out(
            face,
            0.3,
            post(server, body),
            "silent for 0.3 s",
            unsent=False,
            options=options,
            read=0.3,
            connect=2,
        )


def test_a_server_that_takes_the_body_slowly_but_steadily_is_not_silent(face):

    class Sip(Request):
        def perform(self, peer):
            have = 0
            # It answers before the end, since the kernel's buffers take the last megabytes at once.
            while have < 16_000_000:
                have += len(peer.recv())
                time.sleep(0.002)
            peer.sock.sendall(ok())

    # Long enough for many gaps within one limit, which is wide enough for one gap of a busy machine.
    body = Bytes(*[bytes(1_000_000)] * 20)
    with Loopback([Sip(), Gone()]) as server:

        async def main():
            backend = face.backend()
            begin = time.monotonic()
            response = await face.send(backend, post(server, body), read=0.5)
            assert await face.rest(response) == b"ok"
            response.close()
            assert time.monotonic() - begin > 0.5  # else nothing was shown
            backend.close()

        face.run(main)


def test_a_silent_server_before_the_head(face, wire):
    tls, options = wire
    with Loopback([Request(), Stall()], **tls) as server:
        timed_out(
            face,
            0.2,
            post(server),
            r"silent for 0.2 s \(idle_timeout\)",
            unsent=False,
            options=options,
            read=0.2,
        )


def test_a_head_that_trickles_is_not_silent_but_ends_with_the_total(face, wire):
    tls, options = wire
    with Loopback([Request(), Trickle(b"HTTP/1.1 200 OK\r\nx: " + b"a" * 500)], **tls) as server:
        timed_out(
            face,
            0.3,
            post(server),
            r"no answer within 0.3 s",
            unsent=False,
            options=options,
            read=0.15,
            total=0.3,
        )


def test_the_total_covers_the_wait_for_the_head(face):
    with Loopback([Request(), Stall()]) as server:
        timed_out(face, 0.2, post(server), "no answer within 0.2 s", unsent=False, read=None, total=0.2)


@pytest.mark.parametrize("seconds", [0.15, 0.0, -1.0])
def test_a_read_ends_in_time_and_may_be_repeated(face, wire, seconds):
    tls, options = wire
    more = Await()
    acts = [Send(chunked(end=False)), more, Send(CHUNK + b"0\r\n\r\n")]
    with Loopback([Request(), *acts, Gone()], **tls) as server:

        async def main():
            backend = face.backend(**options)
            response = await face.send(backend, post(server))
            with (
                pytest.raises(svir.RequestTimeoutError, match="silent for") as caught,
                Timed(max(0.0, seconds)),
            ):
                await face.read(response, seconds)
            assert not caught.value.unsent
            assert_clean(caught.value)
            more.event.set()
            assert await face.rest(response) == b"abcdef"
            response.close()
            backend.close()

        face.run(main)
        assert server.opened == 1


def test_a_read_that_may_not_wait_gives_what_is_there(face):
    with Loopback([Request(), Send(chunked(b"a", end=False) + CHUNK), Stall()]) as server:

        async def main():
            response = await face.send(face.backend(), post(server))
            assert await face.read(response, 0) == b"aabcdef"
            response.close()

        face.run(main)


def test_a_read_ends_in_time_when_only_framing_trickles(face, wire):
    tls, options = wire
    head = chunked(end=False)
    with Loopback([Request(), Send(head), Trickle(b"5;" + b"e" * 500)], **tls) as server:

        async def main():
            response = await face.send(face.backend(**options), post(server))
            with pytest.raises(svir.RequestTimeoutError), Timed(0.2):
                await face.read(response, 0.2)
            response.close()

        face.run(main)


def test_deadlines_may_move_closer_and_farther(face):
    acts = [Send(chunked(end=False)), Pause(0.15), Send(CHUNK), Pause(0.15), Send(CHUNK), Stall()]
    with Loopback([Request(), *acts]) as server:

        async def main():
            response = await face.send(face.backend(), post(server), read=60)
            assert await face.read(response, 30) == b"abcdef"
            assert await face.read(response, 0.4) == b"abcdef"
            with pytest.raises(svir.RequestTimeoutError), Timed(0.1):
                await face.read(response, 0.1)
            with pytest.raises(svir.RequestTimeoutError), Timed(0.2):
                await face.read(response, 0.2)
            response.close()

        face.run(main)


def test_no_deadline_at_all(face):
    with Loopback(
        [Request(), Pause(0.1), Send(chunked(end=False)), Pause(0.1), Send(CHUNK + b"0\r\n\r\n"), Gone()]
    ) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server), connect=None, read=None)
            assert await face.rest(response, None) == b"abcdef"
            backend.close()

        face.run(main)


def test_disk_reads_are_within_the_total_on_the_async_faces(async_face):
    class Slow(Bytes):
        def __iter__(self):
            time.sleep(0.5)
            yield b"{}"

    with Loopback([Stall()]) as server:
        timed_out(
            async_face,
            0.1,
            post(server, Slow(b"{}", in_memory=False)),
            "no answer within",
            unsent=True,
            total=0.1,
        )
