"""The pytest plugin: a fixture ``svir_server``. pytest loads it by itself once svir is installed.

1. Every test run of everybody who has svir installed loads this module: it imports nothing but pytest until
   the fixture is used.
2. A test that fails already is told which requests its server saw, and what was wrong with them: that half of
   the script was never asked for is then no news.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from svir.testing import MockServer

__all__ = ["svir_server"]

FAILED = pytest.StashKey[bool]()
FIXTURE = "svir_server"


class _FailedAlready(Exception):  # noqa: N818 (it reports nothing)
    """Ends a server's block as a failing test does."""


@pytest.fixture
def svir_server(request: pytest.FixtureRequest) -> Iterator[MockServer]:
    """A ``svir.testing.MockServer`` for one test, which fails when it is not used as scripted."""
    from svir.testing import MockServer

    with contextlib.suppress(_FailedAlready), MockServer() as server:
        yield server
        if request.node.stash.get(FAILED, False):
            raise _FailedAlready


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes that a test failed, and shows what its server saw."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
        server: MockServer | None = getattr(item, "funcargs", {}).get(FIXTURE)
        lines = [] if server is None else [*server.script.seen(), *server.script.problems()]
        if lines and report.when == "call":
            report.sections.append((FIXTURE, "\n".join(lines)))
    return report
