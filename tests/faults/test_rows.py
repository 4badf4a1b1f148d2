"""Every row of the fault matrix, over every backend, on every face: see ``docs/faults.md``."""

from __future__ import annotations

import pytest

from tests.faults.backends import OVER
from tests.faults.matrix import rows
from tests.faults.play import Player

# Every line that these run, the others run too, and so it is with what has no end: see `uncounted`.
UNCOUNTED = {"builtin-asyncio", "builtin-trio", "httpx2-sync"}

# Python's `wrap_socket` closes nothing when the connection was reset just before it begins.
LEFT_OPEN = pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")


def marks(row, over):
    found = [pytest.mark.uncounted] if repr(over) in UNCOUNTED or row.fault == "endless" else []
    if row.phase == "tls" and repr(over) == "httpx2-sync":
        found.append(LEFT_OPEN)
    return found


CASES = [
    pytest.param(row, over, id=f"{row.name}-{over!r}", marks=marks(row, over))
    for written in rows()
    for over in OVER
    if (row := written.over(over.backend, str(over.face))) is not None
]


@pytest.fixture(scope="module")
def player(certificates, full_port, big_file):
    return Player(certificates, full_port, big_file)


@pytest.mark.parametrize(("row", "over"), CASES)
def test_a_fault_ends_as_it_must(row, over, player):
    player.play(row, over)
