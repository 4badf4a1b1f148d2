"""A local server that is waited for, and one that is kept running."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys

import pytest

from svir.cli import _connect
from svir.cli._connect import start_local
from svir.cli._local import LocalServerError
from svir.cli._output import Output
from svir.testing import MockServer
from tests.cli.stand_in import told_by


def test_a_wait_that_is_long_is_shown_and_goes_on(stand_in, gguf, monkeypatch):
    stand_in()
    monkeypatch.setattr(_connect, "QUIET_SECONDS", 0.0)
    shown = []
    output = Output()
    status = output.console.status
    monkeypatch.setattr(output.console, "status", lambda text: shown.append(text) or status(text))
    with start_local(gguf("good"), 0, output) as server:
        assert told_by(server.url)["model_alias"] == repr({"tiny"})
    assert shown == ["loading the local model ..."]


def test_a_wait_that_is_too_long_ends(stand_in, gguf, monkeypatch):
    stand_in()
    monkeypatch.setattr(_connect, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(_connect, "START_SECONDS", 0.2)
    with pytest.raises(LocalServerError, match="was not loaded within"):
        start_local(gguf("slow"), 0, Output()).__enter__()


def keep(environment, gguf, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "svir", "local", "--gguf", str(gguf("good")), *args],
        env={**environment, "PYTHONPATH": os.environ["PYTHONPATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def exported(child: subprocess.Popen[bytes]) -> dict[str, str]:
    lines = [child.stdout.readline().decode() for _ in range(2)]
    return dict(re.fullmatch(r"export (\w+)=(\S+)\n", line).groups() for line in lines)


def test_a_kept_server_prints_its_url_and_key_and_ends_with_ctrl_c(stand_in, gguf, environment):
    stand_in()
    with keep(environment, gguf) as child:
        told = exported(child)
        server = told_by(told["SVIR_URL"])
        assert server["api_keys"] == [told["SVIR_KEY"]]
        serving = os.pidfd_open(server["pid"])
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
        assert child.returncode == 0
        assert said.endswith(b"svir: stopped\n")
        assert select.select([serving], [], [], 10)[0]
        os.close(serving)


def test_a_kept_server_that_dies_is_told(stand_in, gguf, environment):
    stand_in()
    with keep(environment, gguf) as child:
        os.kill(told_by(exported(child)["SVIR_URL"])["pid"], signal.SIGKILL)
        _, said = child.communicate(timeout=20)
        assert child.returncode == 30
        assert said.endswith(b"svir: the local model server ended by itself\n")


def test_a_port_can_be_chosen_and_a_taken_one_is_told(stand_in, gguf, environment):
    stand_in()
    with keep(environment, gguf) as child:
        port = exported(child)["SVIR_URL"].rpartition(":")[2]
        with keep(environment, gguf, "--port", port) as second:
            _, said = second.communicate(timeout=20)
            assert second.returncode == 30
            assert said.decode().splitlines() == [
                f"svir: port {port} is taken",
                "Give another --port, or none: then any free one is used",
            ]
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 0


@pytest.mark.parametrize("words", [["models"], ["ask", "-m", "m", "Why?"], ["chat", "-m", "m"]])
def test_the_key_of_the_environment_goes_to_the_server_of_the_environment(command, words):
    with MockServer() as server:
        server.reply(models=["m"]) if words == ["models"] else server.reply(text="Because.")
        told = {"SVIR_URL": server.url, "SVIR_KEY": "sk-own"}
        assert command(*words, stdin=b"Why?\n", **told).returncode == 0
    assert server.requests[0].headers["authorization"] == "Bearer sk-own"


def test_the_key_of_the_environment_goes_to_no_other_server(command):
    told = {"SVIR_URL": "http://127.0.0.1:9", "SVIR_KEY": "sk-own", "OTHER": "sk-other"}
    with MockServer() as server:
        server.reply(status=401)
        server.reply(models=["m"])
        refused = command("models", "--url", server.url, **told)
        assert command("models", "--url", server.url, "--api-key-env", "OTHER", **told).returncode == 0
    assert [request.headers.get("authorization") for request in server.requests] == [
        None,
        "Bearer sk-other",
    ]
    assert (refused.returncode, refused.stderr.count(b"--api-key-env SVIR_KEY.")) == (14, 1)
