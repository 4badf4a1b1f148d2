"""What the aiohttp backend does otherwise than the built-in one, and what is its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from types import SimpleNamespace
from weakref import WeakKeyDictionary

import pytest
import trio
from aiohttp.client_proto import ResponseHandler

import svir
from svir.http import AiohttpBackend, Origin
from svir.http._aiohttp_wire import Wire
from tests.http.faces import Bytes, Face, Timed, assert_clean, post
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
    Signal,
    Stall,
    Take,
    Trickle,
    chunked,
    ok,
)

FACE = Face("asyncio:aiohttp")
SIZE = 32_000_000
BIG = Bytes(*[bytes(1_000_000)] * (SIZE // 1_000_000))
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


async def attempt(doing):
    """What is done, or its error."""
    try:
        return await doing
    except svir.Error as error:
        return error


def failing(server, kind, body=None, **times):
    """The error of a request that fails, clean of all that is secret."""
    caught = []

    async def main():
        backend = FACE.backend()
        with pytest.raises(svir.Error) as info:
            await FACE.exchange(backend, post(server, body)) if not times else await FACE.send(
                backend, post(server, body), **times
            )
        caught.append(info.value)
        backend.close()

    FACE.run(main)
    assert caught[0].kind == kind
    assert_clean(caught[0])
    return caught[0]


def test_a_body_that_cannot_be_read_costs_no_connection():
    class Vanished(Bytes):
        def __iter__(self):
            raise svir.AttachmentError("a.png vanished")
            yield

    for in_memory in (True, False):
        with Loopback() as server:
            assert failing(server, "attachment", Vanished(b"12", in_memory=in_memory)).unsent
        assert server.opened == 0


def test_a_head_that_trickles_is_silence():
    with Loopback([Request(), Trickle(b"HTTP/1.1 200 OK\r\nx: " + b"a" * 500)]) as server, Timed(0.15):
        assert "silent for 0.15 s" in str(failing(server, "timeout", read=0.15, total=5))


def test_interim_answers_are_bounded_by_the_deadline_alone():
    with Loopback([Request(), Send(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000), Stall()]) as server:
        failing(server, "timeout", read=0.3)


@pytest.mark.parametrize("end", [Cut, Reset])
def test_an_early_answer_is_lost_when_the_server_hangs_up(end):
    """Or it is not: that is a race. What is not lost is whole."""
    too_large = b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig"
    with Loopback([Request(body=False), Send(too_large), end()]) as server:

        async def main():
            backend = FACE.backend()
            outcome = await attempt(FACE.send(backend, post(server, BIG)))
            if isinstance(outcome, svir.Error):
                assert (outcome.kind, outcome.unsent, outcome.retryable) == ("transport", False, True)
                assert_clean(outcome)
            else:
                assert outcome.status == 413
                outcome.close()
            backend.close()

        FACE.run(main)
        assert server.opened == 1


@pytest.mark.parametrize("first", [ok(b"one"), chunked(b"one")])
def test_nonsense_in_the_same_segment_costs_the_answer(first):
    with Loopback([Request(), Send(first + b"evil\r\n"), Gone()]) as server:
        assert not failing(server, "protocol").unsent


@pytest.mark.parametrize("blank", [b"\r\n", b"\r\n\r\n"])
def test_empty_lines_behind_an_answer_are_no_answer(blank):
    with Loopback([Request(), Send(ok(b"one") + blank), Request(), Send(ok(b"two")), Gone()]) as server:

        async def main():
            backend = FACE.backend()
            assert await FACE.exchange(backend, post(server)) == b"one"
            assert await FACE.exchange(backend, post(server)) == b"two"
            backend.close()

        FACE.run(main)


def test_the_beginning_of_an_answer_behind_an_answer_is_forgotten():
    beginning = b"HTTP/1.1 200 OK\r\nx: evil\r\n"
    with Loopback([Request(), Send(ok(b"one") + beginning), Request(), Send(ok(b"two")), Gone()]) as server:

        async def main():
            backend = FACE.backend()
            assert await FACE.exchange(backend, post(server)) == b"one"
            response = await FACE.send(backend, post(server))
            assert response.headers.get("x") is None
            assert await FACE.rest(response) == b"two"
            backend.close()

        FACE.run(main)


@pytest.mark.parametrize("stray", [ok(b"evil"), b"\r\n", b"HTTP/1.1 200 OK\r\nx: evil\r\n", None])
def test_what_its_loop_has_not_read_yet_never_becomes_the_next_answer(stray):
    go, sent = Await(), Signal()
    late = Cut() if stray is None else Send(stray)
    with Loopback(
        [Request(), Send(ok(b"one")), go, late, sent, *([] if stray is None else [Gone()])],
        [Request(), Send(ok(b"two")), Gone()],
    ) as server:

        async def main():
            backend = FACE.backend()
            assert await FACE.exchange(backend, post(server)) == b"one"
            go.event.set()
            assert sent.event.wait(5)  # the loop stands still
            assert await FACE.exchange(backend, post(server)) == b"two"
            backend.close()

        FACE.run(main)


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n" + ok(),
        b"HTTP/1.1 200 O\0K\r\ncontent-length: 2\r\n\r\nok",
        OK + b" x: y\r\ncontent-length: 2\r\n\r\nok",
        CHUNKED + b"2\r\nok\n0\r\n\r\n",
        CHUNKED + b"0" * 30 + b"2\r\nok\r\n0\r\n\r\n",
    ],
)
def test_it_takes_what_the_builtin_one_refuses(data):
    with Loopback([Request(), Send(data), Gone()]) as server:

        async def main():
            backend = FACE.backend()
            assert await FACE.exchange(backend, post(server)) == b"ok"
            backend.close()

        FACE.run(main)


@pytest.mark.parametrize(
    "data",
    [
        ok(head=b"content-length: 2\r\n"),
        OK + b"content-length: 2, 2\r\n\r\nok",
        OK + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.2 200 OK\r\ncontent-length: 2\r\n\r\nok",
        CHUNKED + b"2;\0\r\nok\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nok\r\n0\r\n" + b"x: y\r\n" * 300 + b"\r\n",
    ],
)
def test_it_refuses_what_the_builtin_one_takes(data):
    with Loopback([Request(), Send(data), Gone()]) as server:
        failing(server, "protocol")


@pytest.mark.parametrize("fields", [b"x: y\r\n" * 300, b"x: " + b"a" * 66_000 + b"\r\n"])
def test_a_head_has_256_fields_of_64_kib_at_most(fields):
    with Loopback([Request(), Send(ok(head=fields)), Gone()]) as server:
        assert "no valid HTTP" in str(failing(server, "protocol"))


def test_a_body_that_is_garbled_in_the_first_segment_costs_the_head():
    with Loopback([Request(), Send(chunked(b"a", end=False) + b"evil\r\n"), Gone()]) as server:
        assert "the head of the answer" in str(failing(server, "protocol"))


def test_a_hang_up_after_an_answer_may_cost_the_next_request():
    """It is never sent twice: the server may have read it."""
    with Loopback(repeat=[Request(), Send(ok()), Pause(0.001), Cut()]) as server:

        async def main():
            backend = FACE.backend()
            for _ in range(5):
                outcome = await attempt(FACE.exchange(backend, post(server)))
                if isinstance(outcome, svir.Error):
                    assert (outcome.kind, outcome.unsent, outcome.retryable) == ("transport", False, True)
                else:
                    assert outcome == b"ok"
            backend.close()

        FACE.run(main)
        assert len(server.requests) <= 5


def test_an_end_while_it_sends_may_be_told_as_a_reset():
    with Loopback([Cut()]) as server:
        error = failing(server, "transport")
    assert "it was reset before" in str(error) or "closed by the server before" in str(error)


def test_a_connection_that_has_ended_can_be_ended():
    """Once it has sent what was left, asyncio has no loop for it any more, and fails to abort it."""
    with Loopback([Take(SIZE), Cut()]) as server:

        async def main():
            loop = asyncio.get_running_loop()
            transport, protocol = await loop.create_connection(
                lambda: ResponseHandler(loop), "127.0.0.1", server.origin.port
            )
            wire = Wire(SimpleNamespace(protocol=protocol, transport=transport), WeakKeyDictionary())
            transport.write(bytes(SIZE))
            transport.close()
            await asyncio.wait([wire.lost])
            wire.abort()

        FACE.run(main)


def test_nothing_is_sent_again():
    with Loopback([Request(), Send(ok()), Request(), Reset()]) as server:

        async def main():
            backend = FACE.backend()
            assert await FACE.exchange(backend, post(server)) == b"ok"
            with pytest.raises(svir.TransportError) as caught:
                await FACE.send(backend, post(server))
            assert not caught.value.unsent
            backend.close()

        FACE.run(main)
        assert len(server.requests) == 2


def test_a_loop_that_ends_first_leaves_its_sockets_to_the_garbage_collector():
    code = """
import sys
from tests.http.faces import Face, post
from svir.http import AiohttpBackend, Origin
face, backend = Face("asyncio"), AiohttpBackend()
async def main(port):
    assert await face.exchange(backend, post(Origin("http", "127.0.0.1", port))) == b"ok"
for port in sys.argv[1:]:
    face.run(lambda: main(int(port)))
assert len(backend._sessions) == 1
"""
    script = [Request(), Send(ok()), Gone()]
    with Loopback(script) as first, Loopback(script) as second:
        done = subprocess.run(
            [sys.executable, "-W", "always", "-c", code, str(first.port), str(second.port)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", "."), "."])},
        )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("ResourceWarning: unclosed transport") == 2
    assert "Unclosed" not in done.stderr  # aiohttp's own complaint
    assert "Traceback" not in done.stderr


def test_a_garbled_body_wakes_its_reader():
    def later(peer):
        peer.sock.sendall(b"evil\r\n")

    script = [Request(), Send(chunked(b"a", end=False)), Pause(0.05), Call(later), Gone()]
    with Loopback(script) as server, Timed(0.05):
        failing(server, "protocol")


def test_a_reset_is_not_the_end_of_a_body_without_length():
    with Loopback([Request(), Send(b"HTTP/1.1 200 OK\r\n\r\nab"), Pause(0.05), Reset()]) as server:
        failing(server, "transport")


def test_it_runs_under_asyncio_only():
    async def main():
        await AiohttpBackend().send(post(Origin("http", "127.0.0.1", 9)), connect=1, read=1)

    with pytest.raises(svir.ConfigError, match="asyncio only") as caught:
        trio.run(main)
    assert caught.value.unsent
    assert_clean(caught.value)


def test_a_client_uses_it():
    from svir.testing import MockServer

    async def main(url):
        async with svir.AsyncClient.openai(url, model="m", backend=AiohttpBackend()) as client:
            return (await client.complete("Why do rivers meander?")).text

    with MockServer() as server:
        server.reply(text="Because water is lazy.")
        assert asyncio.run(main(server.url)) == "Because water is lazy."


def without(package):
    """A program's first lines, where a package is not installed."""
    return f"import sys; sys.modules[{package!r}] = None; import svir, svir.http; "


def test_without_the_extra_its_name_says_what_to_install():
    code = without("aiohttp") + "svir.http.AiohttpBackend"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == 'ImportError: AiohttpBackend needs a package: pip install "svir[aiohttp]"'
    assert "During handling" not in done.stderr
