"""What the httpx2 backends do otherwise than the built-in ones, and what is their own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import subprocess
import sys
import threading
import time
import warnings

import httpx2
import pytest

import svir
from svir.http import Abort, AsyncHttpx2Backend, HttpRequest, Httpx2Backend, Origin
from tests.http.faces import Bytes, Face, Timed, assert_clean, post
from tests.support.loopback import (
    Call,
    Cut,
    Gone,
    Loopback,
    Pause,
    Request,
    Reset,
    Send,
    Stall,
    chunked,
    ok,
)

FACES = ("sync:httpx2", "asyncio:httpx2", "trio:httpx2")
PART = chunked(b"a", end=False)


@pytest.fixture(params=FACES)
def any_face(request):
    return Face(request.param)


def failing(face, request, kind, **times):
    """The error of a request that fails, clean of all that is secret."""
    caught = []

    async def main():
        with pytest.raises(svir.Error) as info:
            await face.send(face.backend(), request, **times)
        caught.append(info.value)

    face.run(main)
    assert caught[0].kind == kind
    assert_clean(caught[0])
    return caught[0]


def two(face, script, *bodies):
    """Exchanges on one backend."""
    with Loopback(*script) as server:

        async def main():
            backend = face.backend()
            assert [await face.exchange(backend, post(server)) for _ in bodies] == list(bodies)

        face.run(main)
        return server


def test_a_body_that_cannot_be_read_costs_no_connection(any_face):
    class Vanished(Bytes):
        def __iter__(self):
            raise svir.AttachmentError("a.png vanished")
            yield

    for in_memory in (True, False):
        with Loopback() as server:
            request = post(server, Vanished(b"12", in_memory=in_memory))
            assert failing(any_face, request, "attachment").unsent
        assert server.opened == 0


INTERIM = b"HTTP/1.1 102 Processing\r\n\r\n"


def trickled(part, times):
    """Sends something again and again, ten times a second."""

    def send(peer):
        with contextlib.suppress(OSError):
            for _ in range(times):
                peer.sock.sendall(part)
                time.sleep(0.1)

    return Call(send)


@pytest.mark.uncounted
def test_interim_answers_are_silence(any_face):
    for acts in ([Send(INTERIM * 1000), Stall()], [trickled(INTERIM, 20), Gone()]):
        with Loopback([Request(), *acts]) as server, Timed(0.3):
            error = failing(any_face, post(server), "timeout", read=0.3)
        assert "silent for 0.3 s" in str(error)


def test_a_head_that_trickles_is_silence(any_face):
    with Loopback([Request(), trickled(b"x", 20), Gone()]) as server, Timed(0.3):
        error = failing(any_face, post(server), "timeout", read=0.3)
    assert "silent for 0.3 s" in str(error)


def test_a_blocking_call_on_a_reused_connection_takes_interim_answers_as_long_as_they_come():
    """Which socket it is, httpx2 says only with the head: nothing can be shut before."""
    acts = [Request(), Send(ok()), Request(), trickled(INTERIM, 8), Send(ok(b"late")), Gone()]
    with Loopback(acts) as server, httpx2.Client(trust_env=False) as client:
        backend = Httpx2Backend(client)
        response = backend.send(post(server), connect=5, read=5)
        assert response.read(5) + response.read(5) == b"ok"
        with pytest.raises(svir.RequestTimeoutError, match=r"silent for 0\.2 s"), Timed(0.8):
            backend.send(post(server), connect=5, read=0.2)


def closed_meanwhile(backend, request, seconds, **times):
    """The error of a blocking request, when its backend is closed a moment after it began."""
    closing = threading.Timer(0.1, backend.close)
    closing.start()
    with pytest.raises(svir.TransportError, match="closed by this program") as caught, Timed(seconds):
        backend.send(request, **times)
    closing.join()
    assert_clean(caught.value)
    return caught.value


def test_closing_wakes_a_tls_handshake():
    with Loopback([Stall()]) as server, httpx2.Client(trust_env=False) as client:
        origin = Origin("https", "127.0.0.1", server.origin.port)
        assert closed_meanwhile(Httpx2Backend(client), post(origin), 0.1, connect=5, read=5).unsent


def test_closing_is_late_where_httpx2_does_not_say_what_it_waits_on():
    """For a place in the pool, and for the head on a connection that was used before."""
    limits = httpx2.Limits(max_connections=1)
    acts = [Request(), Send(ok()), Request(), Stall()]
    with Loopback(acts) as server, httpx2.Client(trust_env=False, limits=limits) as client:
        backend = Httpx2Backend(client)
        response = backend.send(post(server), connect=5, read=5)
        assert response.read(5) == b"ok"
        waits = Httpx2Backend(client)
        assert closed_meanwhile(waits, post(server), 1.5, connect=1.5, read=5).unsent
        assert response.read(5) == b""
        assert not closed_meanwhile(backend, post(server), 1.5, connect=5, read=1.5).unsent


@pytest.mark.parametrize("how", ["total", "close"])
def test_an_upload_on_a_reused_connection_ends_at_its_next_block(how):
    def sip(peer):
        with contextlib.suppress(OSError):
            while peer.sock.recv(65536):
                time.sleep(0.01)

    body = Bytes(*[bytes(1_000_000)] * 64)
    acts = [Request(), Send(ok()), Request(body=False), Call(sip)]
    with Loopback(acts) as server, httpx2.Client(trust_env=False) as client:
        backend = Httpx2Backend(client)
        response = backend.send(post(server), connect=5, read=5)
        assert response.read(5) + response.read(5) == b"ok"
        if how == "close":
            closed_meanwhile(backend, post(server, body), 0.1, connect=5, read=5)
        else:
            with pytest.raises(svir.RequestTimeoutError, match=r"within 0\.3 s"), Timed(0.3):
                backend.send(post(server, body), connect=5, read=5, total=0.3)


def test_cookies_of_answers_stay_out_of_the_clients_jar(any_face):
    cookies = b"set-cookie: a=b; path=/\r\nSet-Cookie: c=d; path=/\r\n"
    with Loopback([Request(), Send(ok(head=cookies)), Gone()]) as server:

        async def main():
            backend = any_face.backend()
            assert await any_face.exchange(backend, post(server)) == b"ok"
            assert not list(backend._client.cookies.jar)

        any_face.run(main)


def test_the_query_of_a_request_is_not_logged(any_face, caplog):
    """A key may be in it. What the client itself is asked for is logged as ever."""
    caplog.set_level(logging.DEBUG)
    two(any_face, [[Request(), Send(ok()), Gone()]], b"ok")
    lines = [record.getMessage() for record in caplog.records if record.name == "httpx2"]
    assert any("/v1/chat " in line for line in lines)
    assert "sk-query" not in caplog.text
    assert "sk-secret" not in caplog.text


def test_the_log_has_what_the_server_says(caplog):
    caplog.set_level(logging.DEBUG)
    answer = b"HTTP/1.1 200 Reason\r\nx-own: echoed\r\ncontent-length: 2\r\n\r\nok"
    two(Face("sync:httpx2"), [[Request(), Send(answer), Gone()]], b"ok")
    assert "200 Reason" in caplog.text
    assert "echoed" in caplog.text


def test_a_path_is_sent_as_it_is(any_face):
    with Loopback(repeat=[Request(), Send(ok()), Gone()]) as server:
        for target in ("/a/../b", "/a%2fb%7E/./c?x=%41&y='z'", "//x/y"):
            plain = post(server)
            request = HttpRequest(
                method="POST", origin=plain.origin, target=target, headers=plain.headers, body=plain.body
            )

            async def main(request=request):
                assert await any_face.exchange(any_face.backend(), request) == b"ok"

            any_face.run(main)
            assert server.requests[-1].line == f"POST {target} HTTP/1.1"


def test_an_answer_is_looked_for_when_the_body_was_sent(any_face):
    """A server that answers and takes no more is waited for."""

    class Deaf(Stall):
        def perform(self, peer):
            peer.server.ended.wait(10)

    body = Bytes(*[bytes(1_000_000)] * 32)
    early = b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig"
    with Loopback([Request(body=False), Send(early), Deaf()]) as server:
        assert not failing(any_face, post(server, body), "timeout", read=0.2).unsent


def test_an_answer_behind_an_answer_is_the_next_one(any_face):
    """It is the library's own. Who does not trust a server makes the client without keep-alive."""
    two(any_face, [[Request(), Send(ok(b"one") + ok(b"evil")), Request(), Gone()]], b"one", b"evil")


def test_a_head_and_what_follows_a_body_may_each_have_100_kib(any_face):
    """And what came with the last read, which is up to 64 KiB."""
    half = ok(b"one", head=b"x: " + b"a" * 95_000 + b"\r\n")
    long = b"x: " + b"a" * 190_000 + b"\r\n"
    two(any_face, [[Request(), Send(half), Gone()]], b"one")
    with Loopback([Request(), Send(ok(head=long)), Gone()]) as server:
        assert "no valid HTTP" in str(failing(any_face, post(server), "protocol"))
    with Loopback([Request(), Send(chunked(b"a", end=False) + b"0\r\n" + long), Gone()]) as server:

        async def main():
            response = await any_face.send(any_face.backend(), post(server))
            assert await any_face.read(response) == b"a"
            with pytest.raises(svir.ProtocolError):
                await any_face.read(response)

        any_face.run(main)


def test_without_keep_alive_nothing_behind_an_answer_is_seen():
    limits = httpx2.Limits(max_keepalive_connections=0)
    scripts = [[Request(), Send(ok(body) + ok(b"evil")), Gone()] for body in (b"one", b"two")]
    with Loopback(*scripts) as server, httpx2.Client(limits=limits, trust_env=False) as client:
        backend = Httpx2Backend(client)
        for body in (b"one", b"two"):
            response = backend.send(post(server), connect=5, read=5)
            assert response.read(5) == body
            assert response.read(5) == b""


def test_a_size_that_was_cut_is_a_cut_body(any_face):
    with Loopback([Request(), Send(PART + b"1"), Cut()]) as server:

        async def main():
            response = await any_face.send(any_face.backend(), post(server))
            assert await any_face.read(response) == b"a"
            with pytest.raises(svir.TruncatedStreamError):
                await any_face.read(response)

        any_face.run(main)


def test_a_name_too_long_to_be_one_is_not_found(any_face):
    error = failing(any_face, post(Origin("http", "a" * 70 + ".invalid", 80)), "transport")
    assert error.unsent
    assert "name was not found" in str(error)


def test_a_hang_up_after_an_answer_may_cost_the_next_request(any_face):
    """It is never sent twice: the server may have read it."""
    with Loopback(repeat=[Request(), Send(ok()), Pause(0.001), Cut()]) as server:

        async def main():
            backend = any_face.backend()
            for _ in range(5):
                outcome = None
                try:
                    outcome = await any_face.exchange(backend, post(server))
                except svir.TransportError as error:
                    outcome = (error.unsent, error.retryable)
                assert outcome in {b"ok", (False, True)}

        any_face.run(main)
        assert len(server.requests) <= 5


def test_nothing_is_sent_again(any_face):
    with Loopback([Request(), Send(ok()), Request(), Reset()]) as server:

        async def main():
            backend = any_face.backend()
            assert await any_face.exchange(backend, post(server)) == b"ok"
            with pytest.raises(svir.TransportError) as caught:
                await any_face.send(backend, post(server))
            assert not caught.value.unsent

        any_face.run(main)
        assert len(server.requests) == 2


def test_after_a_time_out_a_response_is_over(any_face):
    with Loopback([Request(), Send(PART), Gone()]) as server:

        async def main():
            response = await any_face.send(any_face.backend(), post(server))
            assert await any_face.read(response) == b"a"
            for seconds in (0.2, 0.0):
                with pytest.raises(svir.RequestTimeoutError) as caught, Timed(seconds):
                    await any_face.read(response, 0.2)
                assert_clean(caught.value)

        any_face.run(main)


def test_a_read_gives_one_chunk(any_face):
    with Loopback([Request(), Send(chunked(b"a", b"b", b"c")), Gone()]) as server:

        async def main():
            response = await any_face.send(any_face.backend(), post(server))
            assert [await any_face.read(response) for _ in range(4)] == [b"a", b"b", b"c", b""]

        any_face.run(main)


def test_an_answer_closed_before_its_end_was_read_costs_its_connection(any_face):
    with Loopback([Request(), Send(chunked(b"a")), Gone()], [Request(), Send(ok(b"b")), Gone()]) as server:

        async def main():
            backend = any_face.backend()
            response = await any_face.send(backend, post(server))
            assert await any_face.read(response) == b"a"
            response.close()
            assert await any_face.exchange(backend, post(server)) == b"b"

        any_face.run(main)


def test_each_address_has_the_whole_time(monkeypatch):
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("192.0.2.1", 9))] * 2
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    tried = []

    def connect(sock, address):
        tried.append(sock.gettimeout())
        raise TimeoutError

    monkeypatch.setattr(socket.socket, "connect", connect)
    failing(Face("sync:httpx2"), post(Origin("http", "two.invalid", 80)), "timeout", connect=0.3)
    assert tried == [0.3, 0.3]


def test_a_lookup_is_waited_for_under_trio(monkeypatch):
    def slow(*args, **options):
        time.sleep(0.3)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with Timed(0.3):
        assert failing(
            Face("trio:httpx2"), post(Origin("http", "slow.invalid", 80)), "transport", connect=0.1
        ).unsent


def test_localhost_leads_where_the_resolver_says(monkeypatch):
    address = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("192.0.2.1", 9))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [address])
    asked = []

    def connect(sock, address):
        asked.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    failing(Face("sync:httpx2"), post(Origin("http", "localhost", 80)), "transport")
    assert asked == ["192.0.2.1"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_is_refused():
    with httpx2.Client(trust_env=False) as client:
        backend = Httpx2Backend(client)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                backend.send(post(Origin("http", "127.0.0.1", 9)), connect=1, read=1)
            except svir.ConfigError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_second_event_loop_is_refused():
    async def once(backend, server):
        response = await backend.send(post(server), connect=5, read=5)
        assert await response.read(5) == b"ok"
        assert await response.read(5) == b""

    with Loopback([Request(), Send(ok(head=b"connection: close\r\n")), Gone()]) as server:
        backend = AsyncHttpx2Backend(httpx2.AsyncClient(trust_env=False))
        asyncio.run(once(backend, server))
        with pytest.raises(svir.ConfigError, match="event loop") as caught:
            asyncio.run(once(backend, server))
        assert caught.value.unsent


def test_the_client_stays_open():
    script = [Request(), Send(ok()), Request(), Send(ok()), Gone()]
    with Loopback(script) as server, httpx2.Client(trust_env=False) as client:
        backend = Httpx2Backend(client)
        response = backend.send(post(server), connect=5, read=5)
        assert response.read(5) + response.read(5) == b"ok"
        backend.close()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            backend.send(post(server), connect=5, read=5)
        assert caught.value.unsent
        assert client.get(server.url).text == "ok"


def test_a_dropped_response_shuts_its_connection(any_face):
    gone = Gone()
    with Loopback([Request(), Send(PART), gone]) as server, warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")

        async def main():
            backend = any_face.backend()
            response = await any_face.send(backend, post(server))
            assert await any_face.read(response) == b"a"
            del response
            assert await any_face.call(lambda: gone.event.wait(5))

        any_face.run(main)
    assert any("dropped unfinished" in str(one.message) for one in noted)


@pytest.mark.parametrize("name", FACES[1:])
@pytest.mark.parametrize("how", ["dropped", "dropped half-read", "closed", "backend closed"])
def test_a_client_gets_its_connection_back_without_an_await(name, how):
    """Its pool has one place only, and it is the caller's: whoever comes next must find it free."""
    face = Face(name)
    with Loopback(repeat=[Request(), Send(PART), Gone()]) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)

        async def main():
            client = httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_connections=1))
            for _ in range(3):
                backend = AsyncHttpx2Backend(client)
                response = await backend.send(post(server), connect=1, read=5)
                if how == "dropped half-read":
                    assert await response.read(5) == b"a"
                if how == "closed":
                    response.close()
                if how == "backend closed":
                    backend.close()
                del response
            await client.aclose()

        face.run(main)


@pytest.mark.parametrize("name", FACES[1:])
def test_a_flood_of_little_chunks_is_ended_in_time_and_lets_the_loop_run(name):
    """Whatever the kernel holds, nothing more of it is taken in once the response is over."""
    face = Face(name)

    def flood(peer):
        peer.sock.settimeout(0.2)
        with contextlib.suppress(OSError):
            while True:
                peer.sock.sendall(b"1\r\na\r\n" * 8000)

    with Loopback([Request(), Send(chunked(end=False)), Call(flood), Gone()]) as server:

        async def main():
            response = await face.send(face.backend(), post(server))
            assert await face.read(response) == b"a"
            await face.call(lambda: time.sleep(0.3))
            with Timed(0.0):
                await type(response).close(response)
            response = None

        face.run(main)


def test_nothing_of_the_clients_own_goes_with_a_request():
    with Loopback(
        [Request(), Send(ok(head=b"set-cookie: a=b\r\n")), Request(), Send(ok()), Gone()]
    ) as server:
        client = httpx2.Client(headers={"x-own": "1"}, cookies={"c": "d"}, auth=("u", "p"), trust_env=False)
        with client:
            backend = Httpx2Backend(client)
            for _ in range(2):
                response = backend.send(post(server), connect=5, read=5)
                assert response.read(5) + response.read(5) == b"ok"
    for request in server.requests:
        assert set(request.headers) == {"host", "authorization", "content-length"}
        assert request.headers["authorization"] == "Bearer sk-secret"


def test_a_proxy_of_the_clients_is_used():
    with (
        Loopback([Request(), Send(ok()), Gone()]) as proxy,
        httpx2.Client(proxy=proxy.url, trust_env=False) as client,
    ):
        response = Httpx2Backend(client).send(post(Origin("http", "api.invalid", 80)), connect=5, read=5)
        assert response.read(5) + response.read(5) == b"ok"
    assert proxy.requests[0].line == "POST http://api.invalid/v1/chat?key=sk-query HTTP/1.1"
    assert proxy.requests[0].headers["host"] == "api.invalid"


def test_a_proxy_that_refuses_has_sent_nothing_on():
    refuses = b"HTTP/1.1 403 evil\r\ncontent-length: 0\r\n\r\n"
    with (
        Loopback([Request(), Send(refuses), Gone()]) as proxy,
        httpx2.Client(proxy=proxy.url, trust_env=False) as client,
        pytest.raises(svir.TransportError, match="proxy") as caught,
    ):
        Httpx2Backend(client).send(post(Origin("https", "api.invalid", 443)), connect=5, read=5)
    assert caught.value.unsent
    assert_clean(caught.value)
    assert proxy.requests[0].line == "CONNECT api.invalid:443 HTTP/1.1"
    assert "authorization" not in proxy.requests[0].headers


def test_ending_a_call_on_a_reused_connection_is_late_when_blocking():
    """For the same reason; what comes of it is as it should be."""
    abort = Abort()
    with (
        Loopback([Request(), Send(ok()), Request(), Call(lambda peer: abort()), Gone()]) as server,
        httpx2.Client(trust_env=False) as client,
    ):
        backend = Httpx2Backend(client)
        response = backend.send(post(server), connect=5, read=5)
        assert response.read(5) + response.read(5) == b"ok"
        with pytest.raises(svir.TransportError, match="closed by this program"), Timed(0.2):
            backend.send(post(server), connect=5, read=0.2, abort=abort)


@pytest.mark.parametrize(
    ("name", "sent", "outcome"),
    [
        ("sync:httpx2", PART, "truncated_stream"),
        ("sync:httpx2", b"HTTP/1.1 200 OK\r\n\r\na", b"a"),
        ("asyncio:httpx2", PART, "transport"),
        ("asyncio:httpx2", b"HTTP/1.1 200 OK\r\n\r\na", "transport"),
    ],
)
def test_a_reset_under_tls_is_told_as_an_end_when_blocking(name, sent, outcome, server_tls, ca_file):
    """By the ssl module of Python 3.11; that of 3.13 tells it as what it is."""
    face = Face(name)
    with Loopback([Request(), Send(sent), Reset()], tls=server_tls) as server:

        async def main():
            response = await face.send(face.backend(ca_file=ca_file), post(server))
            try:
                return await face.rest(response)
            except svir.Error as error:
                return error.kind

        told = face.run(main)
        assert told == outcome or (told == "transport" and sys.version_info >= (3, 12))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sync:httpx2", "closed by the server|was reset"),
        ("asyncio:httpx2", "TLS connection broke|was reset"),
        ("trio:httpx2", "was reset"),
    ],
)
def test_the_words_of_a_reset_under_tls_are_those_of_who_saw_it(name, says, server_tls, ca_file):
    face = Face(name)
    with Loopback([Request(), Send(b"HTTP/1.1 200 OK\r\n"), Reset()], tls=server_tls) as server:

        async def main():
            with pytest.raises(svir.TransportError, match=f"({says}) before an answer came") as caught:
                await face.send(face.backend(ca_file=ca_file), post(server))
            assert_clean(caught.value)

        face.run(main)


def test_a_head_that_trickles_on_a_reused_connection_is_late_when_blocking():
    """Which socket it is, httpx2 says only with the head. The silence between two bytes is bounded."""

    def trickle(peer):
        for part in (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", b"content-length: 2\r\n", b"\r\nok"):
            time.sleep(0.1)
            peer.sock.sendall(part)

    with (
        Loopback([Request(), Send(ok()), Request(), Call(trickle), Gone()]) as server,
        httpx2.Client(trust_env=False) as client,
    ):
        backend = Httpx2Backend(client)
        response = backend.send(post(server), connect=5, read=5)
        assert response.read(5) + response.read(5) == b"ok"
        with pytest.raises(svir.RequestTimeoutError, match=r"within 0\.2 s"), Timed(0.4):
            backend.send(post(server), connect=5, read=5, total=0.2)


@pytest.mark.parametrize("kind", [Httpx2Backend, AsyncHttpx2Backend])
def test_another_client_is_a_type_error(kind):
    with pytest.raises(TypeError, match="client must be an httpx2"):
        kind("http://127.0.0.1")


def test_a_client_of_svirs_uses_it():
    from svir.testing import MockServer

    async def main(url):
        async with httpx2.AsyncClient(trust_env=False) as inner:
            backend = AsyncHttpx2Backend(inner)
            async with svir.AsyncClient.openai(url, model="m", backend=backend) as client:
                return (await client.complete("Why do rivers meander?")).text

    with MockServer() as server:
        server.reply(text="Because water is lazy.")
        assert asyncio.run(main(server.url)) == "Because water is lazy."


def test_without_the_extra_its_name_says_what_to_install():
    code = "import sys; sys.modules['httpx2'] = None; import svir, svir.http; svir.http.Httpx2Backend"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == 'ImportError: Httpx2Backend needs a package: pip install "svir[httpx2]"'
