"""Tests against a real server on loopback, which says what it is told to.

    pip install pytest
    pytest examples/testing_your_code

The fixture ``svir_server`` is there wherever svir is installed. At the end of a test it looks whether it was
asked for all that was scripted, and for nothing else.
"""

from __future__ import annotations

import pytest
from titles import title_of

import svir
from svir.testing import MockServer

NOTE = "Water is lazy.\nIt takes the easy way, and bends where the bank is soft."


def test_the_answer_is_the_title_without_its_quotes(svir_server: MockServer) -> None:
    svir_server.reply(text='"Lazy water"\n')
    assert title_of(svir_server.client(), NOTE) == "Lazy water"


def test_the_note_is_what_is_sent(svir_server: MockServer) -> None:
    svir_server.reply(text="Lazy water")
    title_of(svir_server.client(), NOTE)
    [request] = svir_server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["messages"][-1] == {"role": "user", "content": NOTE}


def test_half_a_title_is_none(svir_server: MockServer) -> None:
    svir_server.reply(text="Lazy water in its bed").cut(after=2)
    assert title_of(svir_server.client(), NOTE) == "Water is lazy."


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_server_that_fails_costs_the_title_alone(svir_server: MockServer, status: int) -> None:
    svir_server.reply(status=status)
    assert title_of(svir_server.client(), NOTE) == "Water is lazy."


def test_a_silent_server_is_given_up(svir_server: MockServer) -> None:
    svir_server.stall()
    assert title_of(svir_server.client(idle_timeout=0.1), NOTE) == "Water is lazy."


def test_without_the_fixture() -> None:
    with MockServer(["Lazy water"]) as server, svir.Client.openai(server.url, model="m") as client:
        assert title_of(client, NOTE) == "Lazy water"
