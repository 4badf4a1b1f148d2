from __future__ import annotations

import datetime as dt
import socket
import ssl
from functools import cache

import pytest
import trustme

DAY = dt.timedelta(days=1)


class Certificates:
    """Servers' sides of TLS by what is wrong with them, and a client's side that trusts one authority."""

    def __init__(self) -> None:
        self.authority = trustme.CA()
        self.client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.authority.configure_trust(self.client)
        self.server = cache(self._server)

    def _server(self, name: str) -> ssl.SSLContext:
        now = dt.datetime.now(dt.UTC)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority, names, times = self.authority, ("localhost",), {}
        match name:
            case "good":
                pass
            case "expired":
                times = {"not_before": now - 9 * DAY, "not_after": now - DAY}
            case "early":
                times = {"not_before": now + DAY, "not_after": now + 9 * DAY}
            case "another host":
                names = ("evil.example",)
            case "an address":
                names = ("127.0.0.1",)
            case "another authority":
                authority = trustme.CA()
            case "1.2":
                context.maximum_version = ssl.TLSVersion.TLSv1_2
            case "asks for a certificate" | "1.2 asks for a certificate":
                context.verify_mode = ssl.CERT_REQUIRED
                self.authority.configure_trust(context)
                if name.startswith("1.2"):
                    context.maximum_version = ssl.TLSVersion.TLSv1_2
            case _:
                raise AssertionError(f"no certificate: {name}")
        authority.issue_cert(*names, **times).configure_cert(context)
        return context


@pytest.fixture(scope="session")
def certificates() -> Certificates:
    return Certificates()


@pytest.fixture(scope="session")
def full_port():
    """The port of a listener whose queue is full: connecting to it hangs."""
    waiting = []
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        for _ in range(8):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
            waiting.append(sock)
        yield listener.getsockname()[1]
        for sock in waiting:
            sock.close()


@pytest.fixture(scope="session")
def big_file(tmp_path_factory):
    """A picture of more bytes than the kernel keeps for a server that takes none."""
    path = tmp_path_factory.mktemp("faults") / "big.png"
    path.write_bytes(bytes(5 * 1024 * 1024))
    return path
