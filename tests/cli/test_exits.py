"""Exit codes and error lines."""

from __future__ import annotations

import re
import typing
from pathlib import Path

import pytest

import svir
from svir.cli import _exits
from svir.cli._connect import Server
from svir.cli._exits import CODES, EXIT_CODES, describe, finish
from svir.cli._local import LocalServerError
from svir.errors import ErrorKind

KINDS = typing.get_args(ErrorKind)
DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"


def raising(error: BaseException):
    def work() -> int:
        raise error

    return work


def test_every_kind_has_a_code_of_its_own():
    assert set(CODES) == set(KINDS)
    assert len(set(CODES.values())) == len(KINDS)
    # 0-2 are a shell's, 126 and above too
    assert all(3 <= code < 126 for code in CODES.values())


def test_the_help_and_the_documentation_name_every_code():
    page = dict(re.findall(r"^\| (\d+) \| `(\w+)`", DOCS.read_text(), re.MULTILINE))
    assert page == {str(code): kind for kind, code in CODES.items()}
    for kind, code in CODES.items():
        assert f"{code} {kind}" in EXIT_CODES
    other = {int(code) for code in re.findall(r"^\| (\d+) \| (?!`)", DOCS.read_text(), re.MULTILINE)}
    assert {int(code.split()[0]) for code in EXIT_CODES} == other | set(CODES.values())


def test_the_documentation_lists_every_end_with_code_0():
    (row,) = re.findall(r"^\| 0 \| .*", DOCS.read_text(), re.MULTILINE)
    assert all(f"`{end}`" in row for end in svir.FinishReason)


@pytest.mark.parametrize(
    "error", [e for e in vars(svir.errors).values() if isinstance(e, type) and "kind" in vars(e)]
)
def test_an_error_is_two_plain_lines_and_its_code(error, capsys):
    assert finish(raising(error("what happened"))) == CODES[error.kind]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("svir: ")
    assert "what happened" in lines[0]
    assert len(lines) == 2


def test_the_server_is_quoted_on_the_same_line_without_control_characters():
    error = svir.UnsupportedError("HTTP 400", status=400, server_message="no such\n\x1b[2Jmodel")
    assert describe(error)[0] == 'svir: not supported: HTTP 400. The server says: "no such [2Jmodel"'


def test_a_long_message_of_the_server_is_cut():
    line, _ = describe(svir.ServerError(server_message="x" * 4000))
    assert line.endswith('xxx..."')
    assert len(line) < 400


def test_a_status_is_named_once():
    assert describe(svir.AuthenticationError("HTTP 401", status=401))[0].count("401") == 1
    assert describe(svir.TransportError(status=500))[0].endswith("(HTTP 500)")


def test_the_servers_wait_is_the_advice():
    assert "2.5 seconds" in describe(svir.RateLimitError(retry_after=2.5))[1]


def test_the_servers_wait_is_told_as_it_was_sent():
    error = svir.RateLimitError(retry_after=30.0, retry_after_sent=1234567.0)
    assert describe(error)[1] == "The server asks to wait 1234567 seconds, then try again."


def test_trying_again_is_advised_only_where_it_may_help():
    for error in (svir.ServerError("x"), svir.TransportError("x", retryable=False, status=500)):
        assert "Trying again" not in "".join(describe(error))
    assert describe(svir.ServerError("x", retryable=True))[1].endswith("Trying again may help.")
    used_up = svir.RateLimitError("HTTP 429", retryable=False, status=429, retry_after=2.0)
    assert describe(used_up)[1] == "Whoever runs the server can say what the quota is."


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_was_named_is_not_asked_for_again(status):
    error = svir.AuthenticationError(f"HTTP {status}: in the library's words", status=status)
    assert "--api-key-env NAME" in describe(error)[1]
    assert "--api-key-env NAME" not in "".join(describe(error, server=Server(api_key_env="SVIR_KEY")))


def test_a_local_server_that_cannot_start_has_its_own_code(capsys):
    assert finish(raising(LocalServerError("it is missing", "install it"))) == _exits.LOCAL_SERVER
    assert capsys.readouterr().err == "svir: it is missing\ninstall it\n"


def test_an_interrupt_is_told_without_a_traceback(capsys):
    assert finish(raising(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "svir: interrupted\n"


def test_a_fault_of_ours_is_told_as_one(capsys, monkeypatch):
    monkeypatch.delenv("SVIR_TRACEBACK", raising=False)
    assert finish(raising(LookupError("oh"))) == _exits.BUG
    assert "a fault of svir itself: LookupError: oh" in capsys.readouterr().err


def test_the_traceback_of_a_fault_can_be_had(monkeypatch):
    monkeypatch.setenv("SVIR_TRACEBACK", "1")
    with pytest.raises(LookupError):
        finish(raising(LookupError("oh")))


def test_success_is_what_the_work_says():
    assert finish(lambda: 0) == 0
    assert finish(lambda: 130) == 130
