"""One case with one library: servers are begun, the adapter runs in a process of its own, and is watched."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.adapters.harness import QUESTION, TOOL_QUESTION, Job
from bench.peers.cases import CASES, KEY, PLAIN, WORDS
from bench.peers.libraries import ADAPTERS
from bench.peers.server import Server

if TYPE_CHECKING:
    from bench.peers.cases import Case
    from bench.peers.server import Seen

WATCH = 0.02
"""Seconds between two looks at a process."""

START = 180.0
"""Seconds a process may take until it asks."""

SCRUBBED = (
    (re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?"), "SERVER"),
    (re.compile(r"0x[0-9a-f]+"), "0x"),
    (re.compile(re.escape(KEY)), "KEY"),
)
"""What is another each time, or must not stand in a file."""


def environment(folder: str) -> dict[str, str]:
    """What a child is given: nothing of ours but where programs are.

    LiteLLM would fetch a list of prices while it is imported, and only loopback is to be reached.
    """
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": folder,
        "LANG": "C.UTF-8",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def observe(name: str, python: Path, adapter: str, image: Path, **added: str) -> dict[str, object]:
    """What came of a case: what the library gave, what the servers saw, and how the process ended.

    Args:
        name: The case.
        python: The library's environment.
        adapter: The adapter's name.
        image: A large file, sent as an image.
        **added: Environment variables beside those that every child is given.
    """
    case = CASES[name]
    with (
        tempfile.TemporaryDirectory() as folder,
        Server((PLAIN,)) as other,
        Server(case.replies, other.port) as server,
    ):
        out, small = Path(folder, "out.json"), Path(folder, "small.png")
        small.write_bytes(b"\x89PNG")
        job = Job(server.url, KEY, WORDS, case.ask, str(out), str(small), str(image))
        command = [str(python), str(ADAPTERS / f"{adapter}.py"), json.dumps(asdict(job))]
        given = environment(folder) | added
        if case.proxied:
            given |= dict.fromkeys(("HTTP_PROXY", "http_proxy"), other.url)
        with Path(folder, "log").open("w+b") as log:
            process = subprocess.Popen(
                command, cwd=folder, env=given, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            try:
                watched = watch(process, case, server, out.with_suffix(".ended"))
            finally:
                process.kill()
                process.wait()
            log.seek(0)
            last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
        seen = json.loads(out.read_text()) if out.exists() else {}
        if not seen and watched["ended"] == "by itself":
            watched |= {"ended": "crashed", "log": last[:300]}
        watched |= {"server": list(map(noted, server.seen)), "other": list(map(noted, other.seen))}
    text = json.dumps(seen | watched)
    for pattern, instead in SCRUBBED:
        text = pattern.sub(instead, text)
    scrubbed: dict[str, object] = json.loads(text)
    return scrubbed


def watch(process: subprocess.Popen[bytes], case: Case, server: Server, over: Path) -> dict[str, object]:
    """Waits for the end of a process, or until it takes too long or too much memory.

    Args:
        process: The process.
        case: The case, which has the limits; they hold from the moment it asks.
        server: The server, which knows whether it was asked yet.
        over: A file that is there once the library has raised.
    """
    until = time.monotonic() + START
    before = grown = 0
    while process.poll() is None:
        with suppress(OSError, ValueError, IndexError):
            resident = 4096 * int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
            if not before and server.seen:  # it asks: what its modules take, and how long, is over
                before, until = resident, time.monotonic() + case.seconds
            if before and not over.exists():
                grown = max(grown, resident - before)
        if case.memory is not None and grown > case.memory:
            return {"ended": "memory", "grown": grown}
        if time.monotonic() > until:
            return {"ended": "time", "grown": grown}
        time.sleep(WATCH)
    return {"ended": "by itself", "grown": grown}


def noted(request: Seen) -> dict[str, object]:
    """What is kept of a request."""
    body = request.body.decode(errors="replace")
    return {
        "length": request.length,
        "sent": request.sent,
        "streamed": request.json().get("stream"),
        "asked": QUESTION in body or TOOL_QUESTION in body,
        "keyed": any(KEY in value for value in request.headers.values()),
    }
