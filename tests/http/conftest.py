from __future__ import annotations

import ssl

import pytest
import trustme

from tests.http.differences import applies
from tests.http.faces import FACES, Face


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what a library's backend does otherwise."""
    kept, left_out = [], []
    for item in items:
        parameters = getattr(item, "callspec", None)
        given = {} if parameters is None else parameters.params
        library = str(given.get("face", given.get("async_face", ""))).partition(":")[2]
        name = getattr(item, "originalname", item.name)
        (kept if applies(library, item.path.stem, name, item.name) else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> Face:
    return Face(request.param)


@pytest.fixture(params=[name for name in FACES if not name.startswith("sync")])
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
