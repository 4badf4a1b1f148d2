"""What happens to a request on its way: whether it was sent, early answers, and what is sent again."""

from __future__ import annotations

import contextlib
import resource
import socket
import ssl
import threading

import pytest

import svir
from svir.http import Origin
from tests.http.faces import Bytes, Timed, assert_clean, post
from tests.support.loopback import (
    Await,
    Call,
    Cut,
    Flood,
    Gone,
    Loopback,
    Pause,
    Request,
    Reset,
    Send,
    Signal,
    Stall,
    Take,
    chunked,
    ok,
)

BIG = Bytes(*[bytes(1_000_000)] * 32)
CHUNKS = len(chunked(end=False))
TOO_LARGE = b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig"


def fails(face, request, *, options=None, **times):
    """The error of a request that fails."""
    caught = []

    async def main():
        backend = face.backend(**(options or {}))
        with pytest.raises(svir.Error) as info:
            await face.send(backend, request, **times)
        caught.append(info.value)
        backend.close()

    face.run(main)
    assert_clean(caught[0])
    return caught[0]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def resolved(monkeypatch):
    """What every name leads to."""
    addresses = []

    def resolve(host, *args, flags=0, **options):
        if flags == socket.AI_NUMERICHOST:
            raise socket.gaierror
        return [
            (socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM, 0, "", address)
            for address in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return addresses


class TestLocalhost:
    """RFC 6761, 6.3: what is sent there in plain text stays here, whatever the resolver says."""

    @pytest.mark.parametrize("host", ["localhost", "LocalHost.", "app.localhost"])
    def test_an_address_of_another_machine_is_not_used(self, face, resolved, host):
        resolved += [("192.0.2.1", 9), ("2001:db8::1", 9, 0, 0), ("::12", 9, 0, 0)]
        error = fails(face, post(Origin("http", host, 9)), connect=5)
        assert (error.kind, error.unsent) == ("transport", True)
        assert "this machine" in str(error)

    def test_one_of_this_machine_is(self, face, resolved):
        with Loopback([Request(), Send(ok()), Gone()]) as server:
            resolved += [("192.0.2.1", server.port), ("127.0.0.1", server.port)]

            async def main():
                backend = face.backend()
                with Timed(0):
                    body = await face.exchange(backend, post(Origin("http", "localhost", server.port)))
                assert body == b"ok"
                backend.close()

            face.run(main)

    @pytest.mark.parametrize("address", ["::1", "::ffff:127.0.0.1", "127.8.9.1"])
    def test_every_loopback_address_counts(self, face, resolved, address):
        resolved.append((address, free_port(), 0, 0) if ":" in address else (address, free_port()))
        error = fails(face, post(Origin("http", "localhost", 9)), connect=5)
        assert "this machine" not in str(error)

    def test_over_tls_the_certificate_says_who_it_is(self, face, resolved, server_tls, ca_file):
        resolved.append(("192.0.2.1", 9))
        error = fails(face, post(Origin("https", "localhost", 9)), connect=0.05)
        assert "this machine" not in str(error)

    def test_other_names_lead_where_they_lead(self, face, resolved):
        resolved.append(("192.0.2.1", 9))
        error = fails(face, post(Origin("http", "notlocalhost", 9)), connect=0.05)
        assert "this machine" not in str(error)


class TestUnsent:
    def test_a_refused_connection(self, face):
        error = fails(face, post(Origin("http", "127.0.0.1", free_port())))
        assert error.kind == "transport"
        assert error.unsent
        assert error.retryable
        assert "nothing accepts connections" in str(error)

    def test_an_unknown_name(self, face):
        error = fails(face, post(Origin("http", "nothing.invalid", 80)))
        assert (error.kind, error.unsent) == ("transport", True)
        assert "name was not found" in str(error)

    @pytest.mark.parametrize("host", ["a" * 70 + ".invalid", "x..y", "-"])
    def test_a_name_that_cannot_be(self, face, host):
        error = fails(face, post(Origin("http", host, 80)))
        assert (error.kind, error.unsent) == ("transport", True)

    def test_a_bad_header(self, face):
        error = fails(face, post(Origin("http", "127.0.0.1", 9), x="a\nb"))
        assert (error.kind, error.unsent) == ("config", True)

    def test_no_socket_to_be_had(self, face):
        backend_made = threading.Event()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

        async def main():
            backend = face.backend()
            with Loopback([Request(), Send(ok()), Gone()]) as server:
                await face.exchange(backend, post(server))  # imports are done
                backend.close()
            backend = face.backend()
            backend._engine()
            backend_made.set()
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
            try:
                with pytest.raises(svir.TransportError) as caught:
                    await face.send(backend, post(Origin("http", "127.0.0.1", 9)))
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert caught.value.unsent
            assert_clean(caught.value)

        face.run(main)

    @pytest.mark.parametrize("end", [Cut, Reset])
    def test_a_server_that_takes_the_request_and_ends(self, face, wire, end):
        tls, options = wire
        with Loopback([Request(), end()], **tls) as server:
            error = fails(face, post(server), options=options)
        assert (error.kind, error.unsent, error.retryable) == ("transport", False, True)

    def test_a_server_that_ends_inside_the_head(self, face):
        with Loopback([Request(), Send(b"HTTP/1.1 200 OK\r\nevil: "), Cut()]) as server:
            error = fails(face, post(server))
        assert (error.kind, error.unsent) == ("transport", False)

    def test_a_server_that_breaks_while_the_body_is_sent(self, face, wire):
        tls, options = wire
        with Loopback([Take(100_000), Reset()], **tls) as server:
            error = fails(face, post(server, BIG), options=options)
        assert (error.kind, error.unsent) == ("transport", False)

    def test_a_body_that_cannot_be_read_before_anything_was_sent(self, face):
        class Vanished(Bytes):
            def __iter__(self):
                raise svir.AttachmentError("a.png vanished")
                yield

        for in_memory in (True, False):
            with Loopback([Gone()]) as server:
                error = fails(face, post(server, Vanished(b"12", in_memory=in_memory)))
            assert (error.kind, error.unsent, str(error)[-8:]) == ("attachment", True, "vanished")

    @pytest.mark.parametrize("in_memory", [True, False])
    def test_a_body_that_fails_half_way_ends_the_connection(self, face, in_memory):
        class Half(Bytes):
            def __iter__(self):
                yield bytes(100_000)
                raise svir.AttachmentError("a.png changed")

        body = Half(bytes(200_000), in_memory=in_memory)
        with Loopback([Take(100_000), Gone()]) as server:
            error = fails(face, post(server, body))
        assert server.opened == 1
        assert (error.kind, error.unsent) == ("attachment", False)

    @pytest.mark.parametrize("blocks", [(b"1", b"2"), (b"123", b"4")])
    def test_a_body_of_another_length_than_announced_is_never_completed(self, face, blocks):
        class Wrong(Bytes):
            def __len__(self):
                return 3

        with Loopback([Gone()]) as server:
            assert fails(face, post(server, Wrong(*blocks))).kind == "attachment"


class TestEarlyAnswers:
    @pytest.mark.parametrize("in_memory", [True, False])
    @pytest.mark.parametrize("end", [Gone, Cut, Reset, Stall])
    def test_an_error_that_comes_while_the_body_is_sent_is_read(self, face, wire, end, in_memory):
        tls, options = wire
        body = Bytes(*BIG.blocks, in_memory=in_memory)

        class StopsReading(Stall):
            def perform(self, peer):
                peer.server.ended.wait(10)

        last = StopsReading() if end is Stall else end()
        with Loopback([Request(body=False), Send(TOO_LARGE), last], **tls) as server:

            async def main():
                backend = face.backend(**options)
                response = await face.send(backend, post(server, body))
                assert response.status == 413
                if end in {Gone, Stall}:
                    assert await face.rest(response) == b"big"
                response.close()
                backend.close()

            face.run(main)
            assert server.opened == 1

    def test_the_answer_is_read_though_the_reset_came_first(self, face):
        for _ in range(10):
            self.answered_and_reset(face)

    def answered_and_reset(self, face):
        sent = Signal()
        with Loopback([Request(body=False), Send(TOO_LARGE), Reset(), sent]) as server:

            class Waits(Bytes):
                def __iter__(self):
                    for number, block in enumerate(self.blocks):
                        if number == 1:
                            assert sent.event.wait(5)
                        yield block

            async def main():
                body = Waits(*BIG.blocks, in_memory=False)
                response = await face.send(face.backend(), post(server, body))
                assert response.status == 413
                response.close()

            face.run(main)

    @pytest.mark.uncounted
    def test_an_interim_answer_does_not_stop_the_body(self, face, wire):
        tls, options = wire
        acts = [
            Send(b"HTTP/1.1 100 Continue\r\n\r\n"),
            Pause(0.05),
            Call(rest_of_the_body),
            Send(ok()),
            Gone(),
        ]
        with Loopback([Request(body=False), *acts], **tls) as server:

            async def main():
                backend = face.backend(**options)
                assert await face.exchange(backend, post(server, BIG)) == b"ok"
                backend.close()

            face.run(main)

    @pytest.mark.uncounted
    def test_a_server_that_begins_its_answer_early_still_gets_the_whole_body(self, face, wire):
        tls, options = wire
        acts = [
            Send(chunked(b"a", end=False)),
            Pause(0.05),
            Call(rest_of_the_body),
            Send(b"0\r\n\r\n"),
            Gone(),
        ]
        with Loopback([Request(body=False), *acts], **tls) as server:

            async def main():
                backend = face.backend(**options)
                assert await face.exchange(backend, post(server, BIG)) == b"a"
                backend.close()

            face.run(main)

    @pytest.mark.parametrize("in_memory", [True, False])
    @pytest.mark.parametrize("parts", [[ok(b"early")], [chunked(b"ear", end=False), chunked(b"ly")[CHUNKS:]]])
    def test_a_whole_answer_ends_the_sending(self, face, wire, parts, in_memory):
        """The server reads no more: to wait for it would be to wait for ever."""
        tls, options = wire
        acts = [Request(body=False), *map(Send, parts), hold := Await(), Gone()]
        with Loopback(acts, [Request(), Send(ok()), Gone()], **tls) as server:

            async def main():
                backend = face.backend(**options)
                body = Bytes(*BIG.blocks, in_memory=in_memory)
                with Timed(0):
                    response = await face.send(backend, post(server, body))
                    assert await face.rest(response) == b"early"
                hold.event.set()
                assert await face.exchange(backend, post(server)) == b"ok"  # on a connection of its own
                backend.close()

            face.run(main)

    @pytest.mark.parametrize("head", [b"content-length: 9\r\n", b""])
    def test_an_answer_that_ends_with_its_connection_ends_the_sending(self, face, wire, head):
        tls, options = wire
        acts = [Request(body=False), Send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\nearly")]
        ends, hold = threading.Event(), Await()

        class HalfClose(Stall):
            """Says that no more will come, and goes on reading nothing."""

            def perform(self, peer):
                sock = peer.sock
                if isinstance(sock, ssl.SSLSocket):
                    sock.settimeout(0)
                    with contextlib.suppress(ssl.SSLError, OSError):
                        sock.unwrap()  # says so, and does not wait for the reply
                    sock.settimeout(10)
                else:
                    sock.shutdown(socket.SHUT_WR)
                ends.set()

        with Loopback([*acts, HalfClose(), hold], **tls) as server:

            async def main():
                backend = face.backend(**options)
                with Timed(0):
                    response = await face.send(backend, post(server, BIG))
                    assert await face.read(response) == b"early"
                    if head:
                        with pytest.raises(svir.TruncatedStreamError):
                            await face.read(response)
                    else:
                        assert await face.read(response) == b""
                response.close()
                hold.event.set()
                backend.close()

            face.run(main)
        assert ends.is_set()

    def test_an_early_answer_without_end_is_taken_up_to_a_limit(self, face, wire):
        """What comes is kept for the reader, who has not got the response yet."""
        tls, options = wire
        flood = Flood(b"%x\r\n%s\r\n" % (100_000, bytes(100_000)))
        with Loopback([Request(body=False), Send(chunked(end=False)), flood], **tls) as server:

            async def main():
                backend = face.backend(**options)
                response = await face.send(backend, post(server, BIG), read=0.3)
                kept = await face.read(response)
                assert 0 < len(kept) < 1_000_000
                response.close()
                backend.close()

            face.run(main)

    def test_a_connection_with_an_early_error_is_not_reused(self, face):
        with Loopback(
            [Request(body=False), Send(TOO_LARGE), Gone()], [Request(), Send(ok()), Gone()]
        ) as server:

            async def main():
                backend = face.backend()
                assert await face.exchange(backend, post(server, BIG)) == b"big"
                assert await face.exchange(backend, post(server)) == b"ok"
                backend.close()

            face.run(main)


def rest_of_the_body(peer):
    """Reads what ``Request(body=False)`` left of BIG."""
    (request,) = peer.server.requests
    have = len(request.body)
    while have < len(BIG):
        data = peer.recv()
        assert data
        have += len(data)
    assert have == len(BIG)


class TestBodies:
    @pytest.mark.uncounted
    @pytest.mark.parametrize("in_memory", [True, False])
    def test_every_byte_arrives_in_order(self, face, wire, in_memory):
        tls, options = wire
        blocks = [bytes([n % 251]) * (1 + n * 7919 % 300_000) for n in range(40)] + [b"", b"x"]
        with Loopback([Request(), Send(ok()), Gone()], **tls) as server:

            async def main():
                backend = face.backend(**options)
                assert (
                    await face.exchange(backend, post(server, Bytes(*blocks, in_memory=in_memory))) == b"ok"
                )
                backend.close()

            face.run(main)
        assert server.requests[0].body == b"".join(blocks)

    def test_disk_blocks_are_fetched_in_a_worker_thread_on_the_async_faces(self, face):
        where = set()

        class Noted(Bytes):
            def __iter__(self):
                for block in self.blocks:
                    where.add(threading.get_ident())
                    yield block

        with Loopback([Request(), Send(ok()), Gone()]) as server:

            async def main():
                backend = face.backend()
                await face.exchange(backend, post(server, Noted(b"a" * 70_000, b"b", in_memory=False)))
                backend.close()
                assert (threading.get_ident() in where) != face.is_async

            face.run(main)


class TestSentAgain:
    def test_a_reused_connection_that_fails_unsent_is_replaced_once(self, face):
        """The connection is found quiet, and is gone when the request is written."""
        with Loopback([Request(), Send(ok(b"one")), Gone()], [Request(), Send(ok(b"two")), Gone()]) as server:

            async def main():
                backend = face.backend()
                assert await face.exchange(backend, post(server)) == b"one"

                class Breaks(Bytes):
                    """Its first block breaks the idle connection between the check and the write."""

                    broken = False

                    def __iter__(self):
                        (pool,) = backend._engine()._pools.values()
                        if not self.broken:
                            self.broken = True
                            (lease,) = pool.live
                            lease()._shut.__self__.sock.shutdown(socket.SHUT_RDWR)
                        return iter(self.blocks)

                assert await face.exchange(backend, post(server, Breaks(b"{}"))) == b"two"
                backend.close()

            face.run(main)
        assert [request.connection for request in server.requests] == [0, 1]

    @pytest.mark.parametrize("end", [Cut, Reset])
    def test_a_request_that_may_have_been_read_is_never_sent_twice(self, face, wire, end):
        tls, options = wire
        with Loopback([Request(), Send(ok(b"one")), Request(), end()], **tls) as server:

            async def main():
                backend = face.backend(**options)
                assert await face.exchange(backend, post(server)) == b"one"
                with pytest.raises(svir.TransportError) as caught:
                    await face.send(backend, post(server))
                assert not caught.value.unsent
                assert_clean(caught.value)
                backend.close()

            face.run(main)
            assert server.opened == 1
            assert len(server.requests) == 2

    def test_a_fresh_connection_that_fails_is_not_replaced(self, face):
        with Loopback([Request(), Cut()]) as server:
            error = fails(face, post(server))
            assert server.opened == 1
        assert not error.unsent

    def test_a_time_out_on_a_reused_connection_is_not_tried_again(self, face):
        with Loopback([Request(), Send(ok()), Request(), Stall()]) as server:

            async def main():
                backend = face.backend()
                await face.exchange(backend, post(server))
                with pytest.raises(svir.RequestTimeoutError):
                    await face.send(backend, post(server), read=0.1)
                backend.close()

            face.run(main)
            assert server.opened == 1


def test_an_await_holds_its_script():
    """The server's own promise: a script that is not let go fails the test."""
    hold = Await()
    hold.event.set()
    with Loopback([hold, Gone()]) as server:
        socket.create_connection((server.host, server.port)).close()
