"""The fixture in test runs of its own, as a user has them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import svir
from svir.testing.pytest_plugin import svir_server  # noqa: F401 (whether or not svir is installed as a plugin)
from tests.support.pytest_run import run

TESTS = """
import pytest
import svir

def test_good(svir_server):
    svir_server.reply(text="Hello")
    assert svir_server.client().complete("hi").text == "Hello"

def test_less(svir_server):
    svir_server.reply(text="Hello")

def test_more(svir_server):
    with pytest.raises(svir.UnsupportedError):
        svir_server.client().complete("hi")

def test_more_and_failing(svir_server):
    svir_server.client().complete("hi")

def test_less_and_failing(svir_server):
    svir_server.reply(text="Hello")
    assert 1 == 2

def test_all_and_failing(svir_server):
    svir_server.reply(text="Hello")
    assert svir_server.client().complete("Why?").text == "Because"

def test_another_server(svir_server):
    svir_server.reply(text="Again")
    assert svir_server.client().complete("hi").text == "Again"
    assert len(svir_server.requests) == 1

@pytest.fixture
def broken(svir_server):
    svir_server.reply(text="Hello")
    raise RuntimeError("in the setup")

def test_broken(broken):
    pass
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    (folder / "test_it.py").write_text(TESTS)
    return run(folder, "-rA")


def test_a_server_that_is_used_as_scripted_passes(output):
    assert "PASSED test_it.py::test_good" in output
    assert "PASSED test_it.py::test_another_server" in output
    assert "ERROR test_it.py::test_good" not in output


def test_less_or_more_than_was_scripted_is_an_error_of_the_test(output):
    less = re.search(r"ERROR test_it.py::test_less - (.*)", output)
    more = re.search(r"ERROR test_it.py::test_more - (.*)", output)
    assert less
    assert more
    assert "- never asked for: Reply(text='Hello')" in output
    assert "- request 1, POST /v1/chat/completions: no reply is left for it" in output


def test_a_failing_test_keeps_its_failure_and_shows_what_the_server_saw(output):
    assert "FAILED test_it.py::test_more_and_failing - svir.errors.UnsupportedError" in output
    assert "ERROR test_it.py::test_more_and_failing" not in output
    assert "--- svir_server ---" in output.replace("-" * 20, "---")
    seen = "request 1, POST /v1/chat/completions: user 'hi'"
    assert f"\n{seen}\nrequest 1, POST /v1/chat/completions: no reply is left for it\n" in output


def test_a_failing_test_that_followed_its_script_shows_what_was_asked(output):
    assert "FAILED test_it.py::test_all_and_failing" in output
    assert "\nrequest 1, POST /v1/chat/completions: user 'Why?'\n" in output


def test_a_failing_test_is_not_told_what_it_did_not_get_to(output):
    assert "FAILED test_it.py::test_less_and_failing - assert 1 == 2" in output
    assert "ERROR test_it.py::test_less_and_failing" not in output
    assert "ERROR test_it.py::test_broken - RuntimeError: in the setup" in output
    assert "ERROR at teardown of test_broken" not in output
    assert "ERROR at teardown of test_less " in output
    assert "ERROR at teardown of test_more " in output
    assert output.count("ERROR at teardown") == 2


def test_the_fixture_is_a_server(svir_server):  # noqa: F811 (it is the fixture's name)
    svir_server.reply(text="Hello")
    assert svir_server.client().complete("hi").text == "Hello"


def test_the_fixture_explains_itself(tmp_path):
    assert re.search(
        r"svir_server -- .*\n +A ``svir.testing.MockServer`` for one test", run(tmp_path, "--fixtures")
    )


def test_loading_the_plugin_loads_nothing_else():
    code = (
        "import pytest, sys; before = set(sys.modules); import svir.testing.pytest_plugin;"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "['svir', 'svir.testing', 'svir.testing.pytest_plugin']"


def test_the_plugin_is_announced_to_pytest():
    project = Path(svir.__file__).parents[2] / "pyproject.toml"
    if not project.exists():
        pytest.skip("installed without its project file")
    import tomllib

    announced = tomllib.loads(project.read_text())["project"]["entry-points"]["pytest11"]
    assert announced == {"svir": "svir.testing.pytest_plugin"}
