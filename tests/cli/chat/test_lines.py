"""A chat's messages over a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from svir.cli import _input
from svir.cli._input import read_line
from svir.cli._refused import RefusedError


@pytest.fixture
def lines(monkeypatch):
    def read(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "latin-1"))
        return list(iter(read_line, None))

    return read


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\ntwo", ["one", "two"]),
        (b"\n\none", ["", "", "one"]),
        (b"one\\\ntwo\\\nthree\nfour", ["one\ntwo\nthree", "four"]),
        (b"one\\", ["one\n"]),
        ("\u2713 caf\u00e9\u2028x\n".encode(), ["\u2713 caf\u00e9\u2028x"]),
        (b"", []),
    ],
)
def test_a_line_is_a_message(lines, data, messages):
    assert lines(data) == messages


def test_it_must_be_text(lines):
    with pytest.raises(RefusedError, match="not UTF-8"):
        lines(b"caf\xe9\n")


@pytest.mark.parametrize("data", [b"12345\n", b"123456", b"1\\\n1\\\n", b"\\\n\\\n\\\n"])
def test_it_has_a_bound_that_lines_which_are_joined_share(lines, monkeypatch, data):
    monkeypatch.setattr(_input, "TEXT_BYTES", 5)
    with pytest.raises(RefusedError, match="a message that is larger than 5 bytes"):
        lines(data)


def test_the_bound_is_that_of_each_message(lines, monkeypatch):
    monkeypatch.setattr(_input, "TEXT_BYTES", 5)
    assert lines(b"1234\n1\\\n1\n12345") == ["1234", "1\n1", "12345"]
