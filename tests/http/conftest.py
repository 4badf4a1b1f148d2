from __future__ import annotations

import ssl

import pytest
import trustme

from tests.http.faces import Face


@pytest.fixture(params=["sync", "asyncio", "trio"])
def face(request: pytest.FixtureRequest) -> Face:
    return Face(request.param)


@pytest.fixture(params=["asyncio", "trio"])
def async_face(request: pytest.FixtureRequest) -> Face:
    return Face(request.param)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture(scope="session")
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(params=["tcp", "tls"])
def wire(request: pytest.FixtureRequest, server_tls: ssl.SSLContext, ca_file: str):
    """Options of the server, and of the backend, with and without TLS."""
    if request.param == "tcp":
        return {}, {}
    return {"tls": server_tls}, {"ca_file": ca_file}
