"""The table of docs/timeouts.md: each of its deadlines, set alone, in each of the moments it tells of.

Every moment lasts longer than the deadline; then the answer comes. So a call fails where the deadline counts,
and is answered where it does not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import svir
from svir.layers import Retry, Timeout
from tests.support.faces import FACES
from tests.support.layers import WHOLE, call, refused
from tests.support.world import Response, World

PAGE = Path(__file__).parent.parent / "docs" / "timeouts.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")

LONG = 20.0
SECONDS = 5
"""The deadlines' length."""
OFF = {"connect_timeout": None, "idle_timeout": None, "timeout": None}


class Slow(World):
    """Takes long to connect, or to send the request: what the backend then waits by."""

    def __init__(self, limit, *replies):
        super().__init__(*replies)
        self.limit = limit

    def send(self, request, *, total=None, **limits):
        self.wait(LONG, limits[self.limit], total)
        return super().send(request, total=total, **limits)


def asked_for_the_key(face, world, *layers, **options):
    def key():
        world.now += LONG
        return "sk-1"

    return call(face, world, *layers, key=key, **options)


# what happens meanwhile: the world, and how it is called
MOMENTS = {
    "a function is asked for the key": (lambda: World(Response(WHOLE)), asked_for_the_key),
    "connecting": (lambda: Slow("connect", Response(WHOLE)), call),
    "sending the request, attachments too": (lambda: Slow("read", Response(WHOLE)), call),
    "the server reads the prompt, and says nothing": (lambda: World((LONG, Response(WHOLE))), call),
    "the server reads the prompt, and sends comments": (
        lambda: World(Response(*[1.0, b":\n"] * int(LONG), WHOLE)),
        call,
    ),
    "the answer comes, however slowly": (
        lambda: World(Response(*[1.0, b"+\n"] * int(LONG), b"+a\n.\n")),
        call,
    ),
    "the answer stands still": (lambda: World(Response(b"+a\n", LONG, b".\n")), call),
    "`Retry` pauses between two tries": (lambda: World(refused(), Response(WHOLE)), call),
}
# what the table calls a deadline: the layers and options that set it
DEADLINES = {
    "connecting": ((), {"connect_timeout": SECONDS}),
    "silence": ((Timeout.idle(SECONDS),), {}),
    "first token": ((Timeout.first_token(SECONDS),), {}),
    "total": ((Timeout.total(SECONDS),), {}),
}
RETRY = Retry.connect(1).backoff(LONG)


def table():
    """The cells of the page's table, by moment and deadline."""
    head, _, *rows = re.search(r"^\| while \|.*\n(?:\|.*\n)+", PAGE.read_text("ascii"), re.MULTILINE)[
        0
    ].splitlines()
    names = cells(head)[1:]
    return {
        (moment, name): cell
        for moment, *told in map(cells, rows)
        for name, cell in zip(names, told, strict=True)
    }


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


TABLE = table() if PAGE.exists() else {}


def test_the_table_has_these_moments_and_deadlines():
    assert list(TABLE) == [(moment, deadline) for moment in MOMENTS for deadline in DEADLINES]
    assert set(TABLE.values()) == {"", "yes", "when set outside of it"}


@pytest.mark.parametrize("face", FACES, ids=repr)
@pytest.mark.parametrize(("moment", "deadline"), TABLE)
def test_a_deadline_counts_in_the_moments_that_the_page_says(face, moment, deadline):
    make, ask = MOMENTS[moment]
    layers, options = DEADLINES[deadline]
    counts = TABLE[moment, deadline]
    orders = {"outside": (*layers, RETRY), "inside": (RETRY, *layers)}
    for place, order in orders.items():
        if counts == "yes" or (counts and place in counts):
            with pytest.raises(svir.RequestTimeoutError if counts == "yes" else svir.TransportError):
                ask(face, make(), *order, **OFF | options)
        else:
            assert ask(face, make(), *order, **OFF | options) == "a"


@pytest.mark.parametrize("face", FACES, ids=repr)
@pytest.mark.parametrize("moment", MOMENTS)
def test_the_clients_own_limits_count_as_the_layers_do(face, moment):
    make, ask = MOMENTS[moment]
    silence = TABLE[moment, "silence"]
    for options, counts in (({"idle_timeout": SECONDS}, silence), ({"timeout": SECONDS}, "yes")):
        if counts:
            with pytest.raises(svir.Error):
                ask(face, make(), RETRY, **OFF | options)
        else:
            assert ask(face, make(), RETRY, **OFF | options) == "a"
