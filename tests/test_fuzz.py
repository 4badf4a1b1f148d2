"""Each fuzzer runs, and would see what it looks for. How long it looks is for `make fuzz`."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

FUZZERS = {path.stem: path for path in Path(__file__).parents[1].joinpath("fuzz").glob("[a-z]*.py")}
INPUTS = 40


@pytest.fixture
def fuzzer(monkeypatch):
    """Imports one as it is when it is run by itself."""

    def load(name):
        monkeypatch.syspath_prepend(str(FUZZERS[name].parent))
        spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZERS[name])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize("name", FUZZERS)
def test_a_fuzzer_makes_inputs_of_which_some_are_accepted(name, fuzzer):
    module, rng = fuzzer(name), random.Random(7)
    accepted = sum(bool(module.attempt(module.make(rng))) for _ in range(INPUTS))
    assert accepted > 0


def found(module, given):
    try:
        module.attempt(given)
    except AssertionError:
        return True
    return False


def test_framing_that_differs_is_found(fuzzer, monkeypatch):
    module = fuzzer("sse")
    given = (b"data: a\r\rdata: b\n\n", True, 1000, [[b"data: a\r", b"\rdata: b\n\n"]])
    assert not found(module, given)
    monkeypatch.setattr(module, "LINE", module.re.compile(rb"([^\n]*)(\n)"))  # forgets the lone CR
    assert found(module, given)


def test_a_tag_that_is_lost_is_found(fuzzer, monkeypatch):
    module = fuzzer("think")
    assert not found(module, ("a<think>b", [3]))
    monkeypatch.setattr(module.ThinkSplitter, "feed", lambda self, text: [(self.inside, text)])
    assert found(module, ("a<think>b", [3]))


def test_a_url_that_leads_elsewhere_is_found(fuzzer, monkeypatch):
    module = fuzzer("url")
    assert not found(module, ("http://example.com/v1", True))
    base = module.parse_base("http://example.org/v1", allow_http=True)
    monkeypatch.setattr(module, "parse_base", lambda *_, **__: base)
    assert found(module, ("http://example.com/v1", True))


def test_an_error_that_repeats_the_server_is_found(fuzzer, monkeypatch):
    module = fuzzer("status")
    given = (400, [], b'{"error":{"message":"zq9mark"}}')
    assert not found(module, given)
    monkeypatch.setattr(module, "error_of_status", lambda *_: module.svir.UnsupportedError("zq9mark"))
    assert found(module, given)
