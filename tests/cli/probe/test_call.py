"""The call to paste is Python that runs."""

from __future__ import annotations

import pytest

import svir
from svir.cli.probe._call import call_for


@pytest.mark.parametrize("model", ["m", 'models/qwen\'s "best"', "m\x1b[31m", "\u6a21\u578b", "a" * 200])
def test_it_is_python_that_makes_a_client(model):
    source = call_for("http://127.0.0.1:1", model, ["mode='lenient'", "include_usage=False"])
    assert source.isascii()
    assert "\x1b" not in source
    with eval(source, {"svir": svir}) as client:
        assert f"model={model!r}" in repr(client)


def test_a_name_that_comes_twice_is_given_once():
    assert call_for("http://127.0.0.1:1", "m", ["mode='lenient'", "mode='strict'"]).count("mode=") == 1


def test_a_long_call_has_a_line_for_each_argument():
    source = call_for("https://models.example.org/v1", "m" * 40, api_key_env="MY_KEY", allow_http=True)
    assert source.splitlines()[0] == "svir.Client.openai("
    assert source.splitlines()[-2:] == ["    allow_http=True,", ")"]
