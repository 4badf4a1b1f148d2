"""Exchanges and reuse, on every face."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading

import pytest

import svir
from svir.http import AsyncHttp11Backend, Headers, Http11Backend, Origin, _pool
from tests.http.faces import Bytes, Timed, assert_clean, post
from tests.support.loopback import (
    Await,
    Call,
    Cut,
    Gone,
    Loopback,
    Pause,
    Request,
    Reset,
    Send,
    Serve,
    Signal,
    Trickle,
    chunked,
    ok,
)


def test_an_exchange(face, wire):
    tls, options = wire
    with Loopback(
        [Request(), Send(chunked(b"a", b"bc", head=b"X-Request-Id: r-1\r\n")), Gone()], **tls
    ) as server:

        async def main():
            backend = face.backend(**options)
            response = await face.send(backend, post(server, Bytes(b"{", b"}"), **{"content-type": "x/y"}))
            assert response.status == 200
            assert response.headers.get("x-request-id") == "r-1"
            assert await face.rest(response) == b"abc"
            assert await face.read(response) == b""
            response.close()
            assert await face.read(response, 0) == b""
            backend.close()

        face.run(main)
    (request,) = server.requests
    assert request.line == "POST /v1/chat?key=sk-query HTTP/1.1"
    assert request.body == b"{}"
    assert request.headers == {
        "host": server.origin.authority,
        "authorization": "Bearer sk-secret",
        "content-type": "x/y",
        "content-length": "2",
    }


def test_twenty_requests_take_one_connection(face, wire):
    tls, options = wire
    script = [Request(), Send(ok(b"a")), Request(), Send(chunked(b"b"))] * 10
    with Loopback([*script, Gone()], **tls) as server:

        async def main():
            backend = face.backend(**options)
            assert [await face.exchange(backend, post(server)) for _ in range(20)] == [b"a", b"b"] * 10
            backend.close()

        face.run(main)
        assert server.opened == 1


def test_a_response_read_to_its_end_is_reused_without_a_close(face):
    with Loopback([Request(), Send(ok(b"a")), Request(), Send(ok(b"b")), Gone()]) as server:

        async def main():
            backend = face.backend()
            for body in (b"a", b"b"):
                assert await face.rest(await face.send(backend, post(server))) == body
            backend.close()

        face.run(main)


def test_closing_after_the_last_bytes_reuses_the_connection(face):
    with Loopback([Request(), Send(chunked(b"a")), Request(), Send(ok(b"b")), Gone()]) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server))
            assert await face.read(response) == b"a"
            response.close()
            response.close()
            assert await face.exchange(backend, post(server)) == b"b"
            backend.close()

        face.run(main)


def test_an_end_that_comes_late_is_drained_and_the_connection_reused(face):
    late = Await()
    with Loopback(
        [Request(), Send(chunked(b"a", end=False)), late, Send(b"0\r\n\r\n"), Request(), Send(ok()), Gone()]
    ) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server))
            assert await face.read(response) == b"a"
            late.event.set()
            assert await face.read(response, 0.25) == b""
            response.close()
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)


def test_a_closed_client_says_that_it_is_the_client(face):
    with Loopback() as server:

        async def main():
            backend = face.backend()
            backend.close()
            with pytest.raises(svir.TransportError) as caught:
                await face.send(backend, post(server))
            assert caught.value.detail == "the client was closed by this program"
            assert (caught.value.unsent, caught.value.retryable) == (True, False)

        face.run(main)
        assert server.opened == 0


def test_closing_before_the_end_shuts_the_connection(face, wire):
    tls, options = wire
    gone = Gone()
    with Loopback([Request(), Send(chunked(b"a", end=False)), gone], **tls) as server:

        async def main():
            backend = face.backend(**options)
            response = await face.send(backend, post(server))
            assert await face.read(response) == b"a"
            response.close()
            assert gone.event.wait(5)
            with pytest.raises(svir.TransportError, match="closed by this program") as caught:
                await face.read(response)
            assert not caught.value.retryable
            assert_clean(caught.value)

        face.run(main)


@pytest.mark.parametrize("stray", [ok(b"evil"), b"\r\n", b"\n", b"evil"])
def test_stray_bytes_in_the_same_segment_never_become_the_next_answer(face, wire, stray):
    tls, options = wire
    for first in (ok(b"one"), chunked(b"one")):
        with Loopback(
            [Request(), Send(first + stray), Gone()], [Request(), Send(ok(b"two")), Gone()], **tls
        ) as server:

            async def main(server=server):
                backend = face.backend(**options)
                assert await face.exchange(backend, post(server)) == b"one"
                assert await face.exchange(backend, post(server)) == b"two"
                backend.close()

            face.run(main)


@pytest.mark.parametrize("stray", [ok(b"evil"), b"\r\n"])
def test_stray_bytes_that_come_later_never_become_the_next_answer(face, wire, stray):
    tls, options = wire
    go, sent = Await(), Signal()
    with Loopback(
        [Request(), Send(ok(b"one")), go, Send(stray), sent, Gone()],
        [Request(), Send(ok(b"two")), Gone()],
        **tls,
    ) as server:

        async def main():
            backend = face.backend(**options)
            assert await face.exchange(backend, post(server)) == b"one"
            go.event.set()
            assert await face.until(sent.event)
            assert await face.exchange(backend, post(server)) == b"two"
            backend.close()

        face.run(main)


@pytest.mark.parametrize("end", [Cut, Reset])
def test_an_idle_connection_that_died_is_replaced(face, wire, end):
    tls, options = wire
    go, gone = Await(), Signal()
    with Loopback(
        [Request(), Send(ok(b"one")), go, end(), gone], [Request(), Send(ok(b"two")), Gone()], **tls
    ) as server:

        async def main():
            backend = face.backend(**options)
            assert await face.exchange(backend, post(server)) == b"one"
            go.event.set()
            assert await face.until(gone.event)
            assert await face.exchange(backend, post(server)) == b"two"
            backend.close()

        face.run(main)
    assert [request.connection for request in server.requests] == [0, 1]


def test_a_connection_the_server_wants_closed_is_not_reused(face):
    closing = ok(b"one", head=b"connection: close\r\n")
    with Loopback([Request(), Send(closing), Gone()], [Request(), Send(ok(b"two")), Gone()]) as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"one"
            assert await face.exchange(backend, post(server)) == b"two"
            backend.close()

        face.run(main)


@pytest.mark.parametrize(
    "status", [b"301 Moved", b"307 Temporary Redirect", b"401 Unauthorized", b"500 Oops"]
)
def test_redirects_and_errors_are_just_responses(face, status):
    head = b"HTTP/1.1 %s\r\nlocation: /evil\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\nno" % status
    after = [Request(), Send(ok()), Gone()]
    # After an error the connection is closed: a server may do so without a word.
    scripts = [[Request(), Send(head), *after]] if status < b"4" else [[Request(), Send(head), Gone()], after]
    with Loopback(*scripts) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server))
            assert response.status == int(status[:3])
            assert response.headers.get("location") == "/evil"
            assert await face.rest(response) == b"no"
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert "cookie" not in server.requests[1].headers


def test_a_server_that_closes_right_after_its_answer_is_not_sent_a_request_there(face, monkeypatch):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 2.0)  # so the end comes meanwhile, on a busy machine too
    # As llama.cpp does, though it announces keep-alive: the end comes just after the last byte.
    closes = [Request(), Send(ok()), Pause(0.001), Cut()]
    with Loopback(*[closes] * 5) as server:

        async def main():
            backend = face.backend()
            for _ in range(5):
                assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert server.opened == 5


def test_a_server_that_closes_only_after_streamed_answers_is_not_sent_a_request_there(face, monkeypatch):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 0.2)
    # llama.cpp keeps the connection after the list of its models.
    script = [Request(), Send(ok()), Request(), Send(chunked(b"ok")), Pause(0.001), Cut()]
    with Loopback(*[script] * 3) as server:

        async def main():
            backend = face.backend()
            for _ in range(3):
                assert await face.exchange(backend, post(server)) == b"ok"
                assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert server.opened == 3


HANGS_UP = [Request(), Send(chunked(b"ok")), Pause(0.02), Cut()]


def lost_of(face, server, count):
    """How many of so many requests in a row were lost."""

    async def main():
        backend, lost = face.backend(), 0
        for _ in range(count):
            try:
                body = await face.exchange(backend, post(server))
            except svir.TransportError:
                lost += 1
            else:
                assert body == b"ok"
        backend.close()
        return lost

    return face.run(main)


def test_a_server_that_hangs_up_late_costs_one_request_at_most(face, monkeypatch):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 0.0)
    with Loopback(repeat=HANGS_UP) as server:
        lost = lost_of(face, server, 6)
    assert lost <= 1
    assert server.opened == 6 - lost


def test_only_answers_of_the_kind_after_which_it_hung_up_cost_their_connection(face, monkeypatch):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 0.2)
    sized = [Request(), Send(ok()), Request(), Send(ok()), Gone()]
    with Loopback([Request(), Send(chunked(b"ok")), Cut()], sized) as server:
        assert lost_of(face, server, 3) == 0
    assert server.opened == 2


@pytest.mark.parametrize("name", ["HASTY_SECONDS", "APART_SECONDS"])
def test_a_server_that_hangs_up_later_or_did_long_ago_is_trusted_again(face, monkeypatch, name):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 0.2)
    monkeypatch.setattr(_pool, name, 0.0)
    keeps = [Request(), Send(chunked(b"ok")), Request(), Send(chunked(b"ok")), Gone()]
    with Loopback([Request(), Send(chunked(b"ok")), Cut()], keeps) as server:
        assert lost_of(face, server, 3) == 0
    assert server.opened == 2


def test_a_connection_shows_once_that_it_stays_open(face, monkeypatch):
    monkeypatch.setattr(_pool, "SETTLE_SECONDS", 0.2)
    with Loopback([Serve((ok(),))]) as server:

        async def main():
            backend = face.backend()
            await face.exchange(backend, post(server))
            await face.exchange(backend, post(server))  # waits for a moment
            with Timed(0):
                for _ in range(50):  # ten seconds, if each waited
                    await face.exchange(backend, post(server))
            backend.close()

        face.run(main)
    assert server.opened == 1


def test_an_encoded_body_is_not_touched(face):
    with Loopback(
        [Request(), Send(ok(b"\x1f\x8b\x08", head=b"content-encoding: gzip\r\n")), Gone()]
    ) as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"\x1f\x8b\x08"
            backend.close()

        face.run(main)


def test_environment_proxies_and_netrc_are_ignored(face, monkeypatch, tmp_path):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with Loopback([Request(), Send(ok()), Gone()]) as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert server.requests[0].line.startswith("POST /v1/chat")
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"


def test_ipv6(face):
    with Loopback([Request(), Send(ok()), Gone()], host="::1") as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


def test_a_name_with_several_addresses_is_tried_through(face):
    with Loopback([Request(), Send(ok()), Gone()]) as server:  # localhost is ::1 first on most machines

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(Origin("http", "localhost", server.port))) == b"ok"
            backend.close()

        face.run(main)


@pytest.mark.parametrize("data", [ok(b"ok"), chunked(b"o", b"k"), b"HTTP/1.1 100 Continue\r\n\r\n" + ok()])
def test_an_answer_one_byte_at_a_time(face, data):
    with Loopback([Request(), Trickle(data, every=0.0005), Gone()]) as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)


@pytest.mark.parametrize(
    ("script", "kind", "before"),
    [
        ([Send(chunked(b"abc", end=False)), Cut()], "truncated_stream", b"abc"),
        ([Send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"), Cut()], "truncated_stream", b"abc"),
        ([Send(chunked(b"abc", end=False) + b"evil\r\n"), Gone()], "protocol", b"abc"),
        ([Send(chunked(b"abc", end=False)), Reset()], "transport", None),
    ],
)
def test_a_broken_body_gives_its_bytes_and_then_its_error(face, wire, script, kind, before):
    tls, options = wire
    with Loopback([Request(), *script], **tls) as server:

        async def main():
            backend = face.backend(**options)
            response = await face.send(backend, post(server))
            body = b""
            with pytest.raises(svir.Error) as caught:
                while True:
                    body += await face.read(response)
            assert caught.value.kind == kind
            assert caught.value.retryable == (kind != "protocol")
            assert not caught.value.unsent
            assert before is None or body == before
            assert_clean(caught.value)
            with pytest.raises(svir.Error) as again:
                await face.read(response)
            assert again.value.kind == kind
            response.close()

        face.run(main)


def test_a_body_without_length_ends_with_the_connection(face, wire):
    tls, options = wire
    with Loopback([Request(), Send(b"HTTP/1.1 200 OK\r\n\r\nab"), Cut()], **tls) as server:

        async def main():
            assert await face.exchange(face.backend(**options), post(server)) == b"ab"

        face.run(main)


@pytest.mark.uncounted
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"evil\r\n\r\n", "protocol"),
        (b"HTTP/1.1 101 Switching\r\nupgrade: evil\r\n\r\n", "protocol"),
        (ok(head=b"x: " + b"a" * 300_000 + b"\r\n"), "protocol"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "protocol"),
        (ok(head=(b"x: " + b"a" * 1000 + b"\r\n") * 300), "protocol"),
        (b"HTTP/1.1 099 Early\r\ncontent-length: 2\r\n\r\nok", "protocol"),
        (ok(head=b"x: evil\x0b\r\n"), "protocol"),
        (ok(head=b"evil : x\r\n"), "protocol"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: %s2\r\n\r\nok" % (b"0" * 20), "protocol"),
        # Not of one length, and in no framing: whether it is whole, nobody could say.
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok", "protocol"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding:\r\ncontent-length: 2\r\n\r\nok", "protocol"),
    ],
)
def test_a_bad_head_ends_the_exchange(face, data, kind):
    def offer(peer):
        with contextlib.suppress(OSError):  # refused half-way, as it should be
            peer.sock.sendall(data)

    with Loopback([Request(), Call(offer), Gone()]) as server:

        async def main():
            with pytest.raises(svir.Error) as caught:
                await face.send(face.backend(), post(server))
            assert caught.value.kind == kind
            assert not caught.value.unsent
            assert_clean(caught.value)

        face.run(main)


def test_a_head_of_64_kib_passes(face):
    with Loopback([Request(), Send(ok(head=b"x: " + b"a" * 65_000 + b"\r\n")), Gone()]) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server))
            assert len(response.headers.get("x")) == 65_000
            backend.close()

        face.run(main)


def test_many_threads_share_a_backend():
    backend = Http11Backend()
    failures = []
    with Loopback(repeat=[Serve((ok(b"a"), chunked(b"b")))]) as server:

        def work():
            for _ in range(25):
                response = backend.send(post(server), connect=5, read=5)
                body = b""
                while piece := response.read(5):
                    body += piece
                if body not in {b"a", b"b"}:
                    failures.append(body)
                response.close()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert server.opened <= 8
        assert len(server.requests) == 200
        backend.close()


def test_a_response_is_read_from_one_place_at_a_time(face):
    more = Await()
    with Loopback(
        [Request(), Send(chunked(b"a", end=False)), more, Send(b"1\r\nb\r\n0\r\n\r\n"), Gone()]
    ) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server))
            assert await face.read(response) == b"a"

            async def second():
                with pytest.raises(svir.ConfigError, match="two places"):
                    await face.read(response)
                more.event.set()

            assert await face.beside(lambda: face.read(response), second) == b"b"
            backend.close()

        face.run(main)


def test_an_async_call_without_a_loop_is_a_config_error():
    waiting = AsyncHttp11Backend().send(post(Origin("http", "127.0.0.1", 9)), connect=1, read=1)
    with pytest.raises(svir.ConfigError, match="event loop") as caught:
        waiting.send(None)
    assert_clean(caught.value)


def test_call_and_sleep(face):
    async def main():
        backend = face.backend()
        here = threading.get_ident()
        where = backend.call(threading.get_ident)
        where = await where if face.is_async else where
        assert (where != here) == face.is_async
        slept = backend.sleep(0)
        if face.is_async:
            await slept

    face.run(main)


def test_what_a_called_function_raises_comes_out(face):
    def fail():
        raise KeyError("x")

    async def main():
        with pytest.raises(KeyError):
            called = face.backend().call(fail)
            if face.is_async:
                await called

    face.run(main)


@pytest.mark.parametrize("given", [StopIteration, type("Derived", (StopIteration,), {})])
def test_a_called_function_that_raises_stop_iteration_ends_nothing_but_itself(face, given):
    """asyncio's futures cannot carry one, and a generator it passes through takes it for its own end."""

    def fail():
        raise given("evil")

    async def main():
        with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
            called = face.backend().call(fail)
            if face.name == "asyncio":
                await asyncio.wait_for(called, 5)
            elif face.is_async:
                await called
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None

    face.run(main)


def test_reprs_show_no_values(face):
    with Loopback([Request(), Send(ok(head=b"x: evil\r\n")), Gone()]) as server:

        async def main():
            backend = face.backend()
            response = await face.send(backend, post(server))
            assert "evil" not in repr(response)
            assert "200" in repr(response)
            assert "Backend" in repr(backend)
            backend.close()

        face.run(main)


def test_importing_costs_no_network_module():
    code = (
        "import sys; before = set(sys.modules); import svir.http; svir.http.Http11Backend(); "
        "loaded = set(sys.modules) - before; "
        "print(sorted(loaded & {'h11', 'ssl', 'socket', 'asyncio', 'trio', 'select', 'http', 'email'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    import svir.http

    assert all(getattr(svir.http, name) for name in svir.http.__all__)
    assert set(svir.http.__all__) <= set(dir(svir.http))
    with pytest.raises(AttributeError):
        svir.http.nothing  # noqa: B018


def test_headers_are_compared_by_value():
    assert Headers([("A", "b")]) == Headers([("a", "b")])
