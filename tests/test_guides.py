"""What guides show is held to more than that it runs: the backend on the page about backends is whole."""

from __future__ import annotations

import re
import select
import socket
import ssl
import threading
from pathlib import Path

import pytest
import trustme

import svir
from tests.conformance import test_transport
from tests.support.chat import answer, pieces
from tests.support.conformance_transport import SyncCalls, built
from tests.support.loopback import Call, Gone, Loopback, Request, Send, Serve, Signal, chunked

DOCS = Path(__file__).parent.parent / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the pages are not beside the tests")

ANSWERED = [path for path in test_transport.CASES if '"calls"' in path.read_text("ascii")]


@pytest.fixture(scope="module")
def backend():
    """The page's own backend."""
    page = (DOCS / "backends.md").read_text("ascii")
    space = {"svir": svir}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if re.match(r"import socket|class (Response|ThroughHttpClient)", block):
            exec(compile(block, "backends.md", "exec", dont_inherit=True), space)
    return space["ThroughHttpClient"]


@pytest.mark.uncounted
@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
def test_the_pages_backend_passes_the_transport_cases(path, backend, monkeypatch):
    class Adapter:
        def client(self, base_url, config):
            def make(options):
                return SyncCalls(svir.Client.openai(base_url, backend=backend(), **options))

            return built(make, config)

    monkeypatch.setitem(test_transport.FACES, "sync", Adapter())
    test_transport.test_case(path, "sync")


def test_there_are_many_such_cases():
    assert len(ANSWERED) >= 80


def tunnel(asked):
    """What a proxy does with CONNECT: an act that notes what it was asked, and passes bytes on."""

    def perform(peer):
        head = b""
        while b"\r\n\r\n" not in head:
            head += peer.recv()
        asked.append(head.partition(b"\r\n")[0].decode())
        host, _, port = asked[-1].split()[1].rpartition(":")
        with socket.create_connection((host, int(port))) as there:
            peer.sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ways = {peer.sock: there, there: peer.sock}
            while True:
                for ready in select.select(list(ways), [], [], 10)[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    ways[ready].sendall(data)

    return Call(perform)


def test_the_pages_backend_goes_through_a_proxy_with_tls_to_the_server(backend):
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    asked = []
    with (
        Loopback([Serve((chunked(answer("Hello")),))], tls=tls) as server,
        Loopback([tunnel(asked)]) as proxy,
    ):
        through = backend(proxy=(proxy.host, proxy.port), context=trusting)
        with svir.Client.openai(server.url, model="m", api_key="sk-1", backend=through) as client:
            assert client.complete("Hi").text == "Hello"
    assert [line.split()[:2] for line in asked] == [["CONNECT", f"localhost:{server.port}"]]
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"


def test_the_pages_backend_refuses_a_certificate_it_does_not_trust(backend):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(tls)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse():
            peer, _ = listener.accept()
            with peer, pytest.raises(ssl.SSLError):
                tls.wrap_socket(peer, server_side=True)

        thread = threading.Thread(target=refuse)
        thread.start()
        url = f"https://localhost:{listener.getsockname()[1]}"
        client = svir.Client.openai(url, model="m", backend=backend())
        with client, pytest.raises(svir.TransportError, match="not trusted") as caught:
            client.complete("Hi")
        thread.join(10)
    assert caught.value.unsent
    assert caught.value.__context__ is None


@pytest.mark.parametrize("begun", [False, True], ids=["before the head", "inside the stream"])
@pytest.mark.parametrize("whole", [False, True], ids=["the stream", "the client"])
def test_closing_wakes_who_waits_for_the_pages_backend(begun, whole, backend):
    waiting, ended = Signal(), Gone()
    first = [Send(chunked(pieces("One"), end=False))] if begun else []
    with Loopback([Request(), *first, waiting, ended]) as server:
        client = svir.Client.openai(server.url, model="m", backend=backend())
        stream = client.stream("Hi")

        def close():
            waiting.event.wait(10)
            (client if whole else stream).close()

        closer = threading.Thread(target=close)
        closer.start()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            stream.complete()
        closer.join(10)
        assert ended.event.wait(10)
        client.close()
    assert not caught.value.retryable
    assert not caught.value.unsent


def test_nothing_is_sent_by_the_pages_backend_once_it_is_closed(backend):
    with Loopback([Gone()]) as server:
        client = svir.Client.openai(server.url, model="m", backend=backend())
        client.close()
        with pytest.raises(svir.TransportError, match="closed by this program") as caught:
            client.complete("Hi")
    assert caught.value.unsent
