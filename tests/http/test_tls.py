"""Whom a backend trusts, and what it says when it does not."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import socket
import ssl
import subprocess
import sys

import pytest
import trustme

import svir
from svir.http import Origin, _tls
from svir.http._lease import Lease
from svir.http._net import Fault, Tcp
from svir.http._net_sync import SyncNetwork, run
from svir.http._tls import TlsSettings, TlsStream
from tests.http.faces import Bytes, assert_clean, post
from tests.support.loopback import Call, Cut, Gone, Loopback, Request, Send, Stall, chunked, ok


def context_for(authority, *names, **options):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names, **options).configure_cert(context)
    return context


def refused(face, server, **options):
    caught = []

    async def main():
        backend = face.backend(**options)
        with pytest.raises(svir.TransportError) as info:
            await face.send(backend, post(server))
        caught.append(info.value)
        backend.close()

    face.run(main)
    assert caught[0].unsent
    assert_clean(caught[0])
    return str(caught[0])


def test_an_authority_nobody_knows(face, server_tls):
    with Loopback([Stall()], tls=server_tls) as server:
        message = refused(face, server)
    assert "not trusted" in message
    assert "ca_file=" in message


def test_another_authority(face, server_tls, tmp_path):
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))
    with Loopback([Stall()], tls=server_tls) as server:
        assert "not trusted" in refused(face, server, ca_file=tmp_path / "other.pem")


@pytest.mark.parametrize("names", [("evil.example",), ("10.0.0.1",)])
def test_a_certificate_for_another_host(face, authority, ca_file, names):
    with Loopback([Stall()], tls=context_for(authority, *names)) as server:
        assert "another host" in refused(face, server, ca_file=ca_file)


def test_a_certificate_for_another_address(face, authority, ca_file):
    with Loopback([Stall()], tls=context_for(authority, "10.0.0.1")) as server:
        assert "another host" in refused(face, Origin("https", "127.0.0.1", server.port), ca_file=ca_file)


@pytest.mark.parametrize(("days", "word"), [((-9, -1), "has expired"), ((1, 9), "not valid yet")])
def test_a_certificate_out_of_its_time(face, authority, ca_file, days, word):
    now = dt.datetime.now(dt.UTC)
    first, last = (now + dt.timedelta(days=day) for day in days)
    tls = context_for(authority, "localhost", not_before=first, not_after=last)
    with Loopback([Stall()], tls=tls) as server:
        assert word in refused(face, server, ca_file=ca_file)


def test_a_server_that_speaks_plain_http(face):
    with Loopback([Send(b"HTTP/1.1 400 evil\r\n\r\n"), Gone()]) as server:
        assert "does not speak TLS" in refused(face, Origin("https", "127.0.0.1", server.port))


@pytest.mark.parametrize("in_head", [True, False])
def test_bytes_that_are_no_tls_break_the_connection(face, server_tls, ca_file, in_head):
    def evil(peer):
        with socket.socket(fileno=os.dup(peer.sock.fileno())) as raw:
            raw.sendall(b"evil" * 10)

    begin = [] if in_head else [Send(chunked(b"a", end=False))]
    with Loopback([Request(), *begin, Call(evil), Gone()], tls=server_tls) as server:

        async def main():
            backend = face.backend(ca_file=ca_file)
            with pytest.raises(svir.TransportError, match="TLS connection broke") as caught:
                assert await face.exchange(backend, post(server)) == b"a"
            assert not caught.value.unsent
            assert_clean(caught.value)
            backend.close()

        face.run(main)


def test_a_server_that_ends_the_handshake(face):
    with Loopback([Cut()]) as server:
        refused(face, Origin("https", "127.0.0.1", server.port))


def test_a_server_with_another_protocol(face, authority, ca_file, server_tls):
    server_tls = context_for(authority, "localhost")
    server_tls.set_alpn_protocols(["h2"])
    context = ssl.create_default_context(cafile=ca_file)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with Loopback([Gone()], tls=server_tls) as server:
        assert "another protocol" in refused(face, server, ssl_context=context)


def test_only_http_1_is_offered(face, authority, ca_file):
    tls = context_for(authority, "localhost")
    tls.set_alpn_protocols(["h2", "http/1.1"])
    chosen = []

    class Look(Request):
        def perform(self, peer):
            chosen.append(peer.sock.selected_alpn_protocol())
            super().perform(peer)

    with Loopback([Look(), Send(ok()), Gone()], tls=tls) as server:

        async def main():
            backend = face.backend(ca_file=ca_file)
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert chosen == ["http/1.1"]


def test_a_callers_context_is_used_and_not_changed(face, server_tls, ca_file):
    changed = []

    class Noted(ssl.SSLContext):
        def __setattr__(self, name, value):
            changed.append(name)
            super().__setattr__(name, value)

        def set_alpn_protocols(self, protocols):
            changed.append("alpn")
            super().set_alpn_protocols(protocols)

    context = Noted(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(ca_file)
    changed.clear()
    with Loopback([Request(), Send(ok()), Gone()], tls=server_tls) as server:

        async def main():
            backend = face.backend(ssl_context=context)
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert changed == []


@pytest.mark.skipif(sys.platform != "linux", reason="OpenSSL reads these on Linux")
def test_the_file_named_by_ssl_cert_file_is_trusted(face, server_tls, ca_file, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", ca_file)
    with Loopback([Request(), Send(ok()), Gone()], tls=server_tls) as server:

        async def main():
            backend = face.backend()
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)


def test_session_keys_are_written_nowhere(face, server_tls, ca_file, monkeypatch, tmp_path):
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    with Loopback([Request(), Send(ok()), Gone()], tls=server_tls) as server:

        async def main():
            backend = face.backend(ca_file=ca_file)
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)
    assert not (tmp_path / "keys").exists()


def test_a_host_with_a_trailing_dot_or_in_capitals(face, server_tls, ca_file, monkeypatch):
    real = socket.getaddrinfo

    def without_dot(host, *args, **options):
        name = host.encode() if isinstance(host, str) else host
        return real(name.lower().rstrip(b"."), *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", without_dot)
    with Loopback([Request(), Send(ok()), Gone()], tls=server_tls) as server:

        async def main():
            backend = face.backend(ca_file=ca_file)
            origin = Origin("https", "LOCALHOST.", server.port)
            assert await face.exchange(backend, post(origin)) == b"ok"
            backend.close()

        face.run(main)


def test_tls_1_2(face, authority, ca_file):
    tls = context_for(authority, "localhost")
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    body = Bytes(bytes(300_000), bytes(200_000))
    with Loopback([Request(), Send(ok(b"x" * 100_000)), Request(), Send(ok()), Gone()], tls=tls) as server:

        async def main():
            backend = face.backend(ca_file=ca_file)
            assert await face.exchange(backend, post(server, body)) == b"x" * 100_000
            assert await face.exchange(backend, post(server)) == b"ok"
            backend.close()

        face.run(main)


@pytest.mark.parametrize("content", [None, b"", b"evil"])
def test_a_bad_ca_file_is_a_config_error_at_the_first_https_request(face, tmp_path, content):
    path = tmp_path / "evil.pem"
    if content is not None:
        path.write_bytes(content)

    async def main():
        backend = face.backend(ca_file=path)
        with Loopback([Request(), Send(ok()), Gone()]) as server:
            assert await face.exchange(backend, post(server)) == b"ok"
            with pytest.raises(svir.ConfigError, match="ca_file") as caught:
                await face.send(backend, post(Origin("https", "127.0.0.1", 9)))
            assert caught.value.unsent
            assert_clean(caught.value)
            backend.close()

    face.run(main)


def test_ca_file_and_ssl_context_exclude_each_other(face):
    with pytest.raises(svir.ConfigError):
        face.backend(ca_file="x", ssl_context=ssl.create_default_context())


@pytest.mark.parametrize("given", [True, "ca.pem", ssl.MemoryBIO()])
def test_an_ssl_context_of_another_type_is_refused_at_once(face, given):
    with pytest.raises(TypeError, match=r"ssl_context must be an ssl\.SSLContext") as caught:
        face.backend(ssl_context=given)
    assert "ca.pem" not in str(caught.value)


def test_the_type_is_checked_without_importing_ssl():
    code = (
        "import sys, svir.http\n"
        "try: svir.http.Http11Backend(ssl_context=1)\n"
        "except TypeError: print('ssl' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_authorities_are_looked_for_in_the_usual_places_when_openssl_knows_none(monkeypatch, ca_file):
    nowhere = ssl.get_default_verify_paths()._replace(cafile=None, capath=None)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nowhere)
    monkeypatch.setenv("SSL_CERT_FILE", "/nothing")
    monkeypatch.setenv("SSL_CERT_DIR", "/nothing")
    monkeypatch.setattr(_tls, "_USUAL_PLACES", ("/nothing/at/all", ca_file, "/nothing"))
    (certificate,) = TlsSettings(None, None).context().get_ca_certs()
    assert dict(field[0] for field in certificate["subject"])["organizationName"].startswith("trustme")


def test_the_context_is_made_once():
    settings = TlsSettings(None, None)
    assert settings.context() is settings.context()


def test_a_reply_of_tls_itself_that_was_not_taken_costs_no_byte_of_the_request(server_tls, ca_file):
    """After a new key the kernel takes nothing for a moment, so the next write has those bytes to send."""
    server_in, server_out = ssl.MemoryBIO(), ssl.MemoryBIO()
    peer = server_tls.wrap_bio(server_in, server_out, server_side=True)

    def talk(step):
        with contextlib.suppress(ssl.SSLWantReadError):
            return step()
        return b""

    class Kernel(Tcp):
        full = False

        def give(self, data):
            return None if self.full else server_in.write(data)

        async def write(self, data, until, *, look):
            return server_in.write(data)

        async def read(self, until):
            talk(peer.do_handshake)
            return server_out.read()

    with socket.socket() as sock:
        kernel = Kernel(SyncNetwork().watch(sock), Lease(set(), int))
        stream = TlsStream(kernel, TlsSettings(ca_file, None).context(), "localhost")
        assert run(stream.handshake(None)) is None
        talk(peer.do_handshake)

        def send(data):
            left = memoryview(data)
            while left:
                left = left[run(stream.write(left, None, look=False)) :]

        send(b"A" * 1000)
        kernel.full = True
        stream._ssl.write(b"!")  # stands for TLS's own reply, which Python cannot ask for
        stream._answer()
        kernel.full = False
        send(b"B" * 500 + b"C" * 1000)
        got = b"".join(iter(lambda: talk(lambda: peer.read(65536)), b""))
    assert got == b"A" * 1000 + b"!" + b"B" * 500 + b"C" * 1000


def test_faults_have_plain_words():
    assert all(fault.value and fault.value.isascii() for fault in Fault)
