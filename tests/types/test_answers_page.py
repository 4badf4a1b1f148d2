"""The page on typed answers says what is so: its examples run, against a scripted server."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import svir
from tests.support.chat import answer
from tests.support.world import URL, Response, World

PAGE = Path(__file__).parents[2] / "docs" / "answers.md"


def test_its_examples_run():
    if not PAGE.exists():
        pytest.skip("the documentation is not beside the tests")
    world = World(
        Response(answer('{"name": "Otra", "length_km": 245, "mouth": "Kristiansand"}')),
        Response(answer('{"name": "Otra",', ' "length_km": 245}')),
        Response(answer('{"name": "Otra", "length_km": "far"}')),
    )
    with svir.Client.openai(URL, model="m", backend=world) as client:
        result = doctest.testfile(
            str(PAGE), module_relative=False, globs={"client": client}, encoding="ascii"
        )
    assert result.failed == 0
    assert result.attempted > 15
    assert not world.replies
