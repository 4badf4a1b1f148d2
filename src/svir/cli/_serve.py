"""The child process behind `svir ask --local`: llama.cpp's own HTTP server, in process, and nothing else.

1. All it is told comes as one line of JSON on standard input. Nothing is on the command line, where every
   user of the machine could read the key.
2. The end of standard input means that the parent is gone, however it went: this process ends at once.
3. One line of JSON on standard output says where the server listens, or why it does not. Whatever llama.cpp
   prints goes to standard error.
4. The kernel chooses the port when the server binds it, so that no other program can take it in between.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Orders", "Report", "main"]


class Orders(msgspec.Struct, frozen=True):
    """What the parent asks for.

    Attributes:
        path: The GGUF file.
        model: The name the server lists the model by.
        api_key: The key every request must carry.
        template: A chat template (jinja); empty for the model's own.
        context: Most tokens of a conversation.
        port: The loopback port; 0 for any free one.
    """

    path: str
    model: str
    api_key: str
    template: str = ""
    context: int = 4096
    port: int = 0

    def __repr__(self) -> str:
        return f"Orders(path={self.path!r}, model={self.model!r}, api_key=<withheld>)"


class Report(msgspec.Struct, frozen=True):
    """What became of it: one of the three is set.

    Attributes:
        url: Where the server listens.
        cannot_import: Why the server's library cannot be loaded.
        cannot_serve: Why the model cannot be served.
    """

    url: str = ""
    cannot_import: str = ""
    cannot_serve: str = ""


SETTINGS = {
    "n_parallel": 1,  # one conversation at a time: the whole context is its own
    "cache_ram_mib": 0,  # nobody asked for gigabytes of earlier prompts
    "fit_params": False,  # the context is what was asked for, not what a heuristic likes
    "warmup": False,  # ready in a third of a second; the first prompt pays some milliseconds
    "ui": False,
    "verbosity": 1,  # errors
}


def serve(llama: ModuleType, orders: Orders) -> object:
    """Loads the model and starts to serve it; returns the server, which lives as long as the object."""
    params = llama.CommonParams()
    for name, value in SETTINGS.items():
        setattr(params, name, value)
    params.model.path = orders.path
    params.model_alias = {orders.model}
    params.api_keys = [orders.api_key]
    params.chat_template = orders.template
    params.n_ctx = orders.context
    params.hostnames = ["127.0.0.1"]
    params.port = orders.port
    # One thread: on a busy machine two of them spin against each other, and both lose.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return llama.Server(params)


def start(orders: Orders) -> tuple[object, Report]:
    """Tries, and says how it went."""
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError as error:
        return None, Report(cannot_import=str(error))
    try:
        server = serve(llama, orders)
        return server, Report(url=str(getattr(server, "listening_address", "")))
    except Exception as error:  # noqa: BLE001 (a foreign library, and the parent must be told)
        return None, Report(cannot_serve=str(error) or type(error).__name__)


def end_with(parent: int) -> None:
    """Ends this process when the other end of this pipe is closed (rule 2)."""

    def watch() -> None:
        while os.read(parent, 4096):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    if sys.platform == "linux":
        # Loading a model holds the GIL, for many seconds with a large one, and the thread with it. But the
        # kernel can send a signal when the pipe closes, and SIGIO's default action ends a process.
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(parent, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent, fcntl.F_SETFL, fcntl.fcntl(parent, fcntl.F_GETFL) | os.O_ASYNC)


def main() -> int:
    """Takes the orders, serves until the parent is gone; returns 1 when it cannot serve."""
    line = sys.stdin.buffer.readline()
    if not line:
        return 1
    orders = msgspec.json.decode(line, type=Orders)
    end_with(sys.stdin.fileno())
    reports = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # rule 3
    server, report = start(orders)
    with contextlib.suppress(BrokenPipeError):
        reports.write(msgspec.json.encode(report) + b"\n")
    if server is None:
        return 1
    threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
