"""Where a key comes from: only from what was named."""

from __future__ import annotations

import os

import pytest

import svir
from svir.client._keys import FILE_BYTES, resolve_key

SECRET = "sk-0123456789"


def refusal(**options):
    with pytest.raises(svir.ConfigError) as caught:
        resolve_key(options)
    assert caught.value.__context__ is None
    assert SECRET not in f"{caught.value} {caught.value!r}"
    return str(caught.value)


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key.txt"
    path.write_text(f"  {SECRET}\r\n")
    return path


def test_without_a_source_there_is_no_key_whatever_the_environment_holds(monkeypatch):
    for name in ("OPENAI_API_KEY", "SVIR_API_KEY", "API_KEY"):
        monkeypatch.setenv(name, SECRET)
    assert resolve_key({}) is None
    assert resolve_key({"api_key": None, "api_key_env": None, "api_key_file": None}) is None


def test_a_key_is_given_by_name_of_a_variable_or_in_a_file(monkeypatch, key_file):
    monkeypatch.setenv("MY_KEY", f" {SECRET}\n")
    for options in (
        {"api_key": SECRET},
        {"api_key_env": "MY_KEY"},
        {"api_key_file": key_file},
        {"api_key_file": str(key_file)},
    ):
        assert resolve_key(options).reveal() == SECRET
        assert SECRET not in repr(resolve_key(options))


def test_a_function_is_kept_and_not_called():
    asked = []
    key = resolve_key({"api_key": lambda: asked.append("now")})
    assert not asked
    key()
    assert asked == ["now"]


def test_only_one_source_may_be_given(key_file):
    text = refusal(api_key=SECRET, api_key_file=key_file)
    assert "api_key, api_key_file" in text


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_is_not_set_is_named(monkeypatch, value):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    assert "the environment variable MY_KEY (api_key_env)" in refusal(api_key_env="MY_KEY")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "SVIR_KEY", "HF_TOKEN", "MY_KEY_2", "TEAM_KEY2"])
def test_a_name_that_looks_like_nothing_but_a_name_is_repeated(monkeypatch, name):
    monkeypatch.delenv(name, raising=False)
    assert refusal(api_key_env=name).endswith(f"variable {name} (api_key_env) is not set")


@pytest.mark.parametrize(
    "key",
    [
        *("gsk_AbC123def456", "hf_AbCdEfGhIjKl", "r8_abcdef", "AKIAIOSFODNN7EXAMPLE", "JBSWY3DPEHPK3PXP"),
        *("PASSWORD", "KEY2", "A1_B2", "TEAM_" + "ABCDEFGH" * 3, "TEAM_KEY_123456", "_KEY_", "my_key"),
    ],
)
def test_a_key_that_could_be_a_name_is_not_repeated(key):
    text = refusal(api_key_env=key)
    assert key not in text
    assert text.endswith(
        "the environment variable that api_key_env names is not set (the name is not shown: it may be a key)"
    )


@pytest.mark.parametrize("name", [SECRET, "", "a b", "a=b", "nul\x00", "\ud800"])
def test_what_is_no_variables_name_is_not_repeated(name):
    text = refusal(api_key_env=name)
    assert text.endswith("api_key_env wants the name of an environment variable, and this is none")


def test_a_variable_with_no_key_in_it_is_refused(monkeypatch):
    monkeypatch.setenv("MY_KEY", f"{SECRET} and more")
    assert "one word of printable ASCII" in refusal(api_key_env="MY_KEY")


def test_a_key_file_holds_4096_bytes_at_most(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(b"k" * FILE_BYTES)
    assert len(resolve_key({"api_key_file": path}).reveal()) == FILE_BYTES == 4096
    path.write_bytes(b"k" * (FILE_BYTES + 1))
    assert "over 4096 bytes" in refusal(api_key_file=path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (SECRET.encode() + b"\nsecond line", "one word"),
        (b"\xef\xbb\xbf" + SECRET.encode(), "not ASCII"),
        (b"\xff", "not ASCII"),
        (b"a\x00b", "one word"),
    ],
)
def test_a_key_file_with_no_key_in_it_is_refused(tmp_path, content, why):
    path = tmp_path / "key"
    path.write_bytes(content)
    assert why in refusal(api_key_file=path)


def test_a_key_file_that_cannot_be_read_is_refused_without_its_path(tmp_path):
    missing = tmp_path / "secret-place"
    assert refusal(api_key_file=missing).endswith("cannot be used: No such file or directory")
    assert "directory" in refusal(api_key_file=tmp_path)
    assert "not a path" in refusal(api_key_file="nul\x00")
    assert "secret-place" not in refusal(api_key_file=missing)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a file that may not be read")
def test_a_key_file_without_permission_is_refused(key_file):
    key_file.chmod(0)
    assert "Permission denied" in refusal(api_key_file=key_file)


@pytest.mark.parametrize(
    "options",
    [{"api_key": 7}, {"api_key": b"sk"}, {"api_key_env": 7}, {"api_key_file": 7}, {"api_key_file": ["x"]}],
)
def test_a_source_of_the_wrong_type_is_a_type_error(options):
    with pytest.raises(TypeError, match=next(iter(options))):
        resolve_key(options)
