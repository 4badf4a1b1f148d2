"""A chat's messages over a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from svir.cli._refused import RefusedError
from svir.cli.chat._lines import read_line


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
