"""Plays one row: the call that meets the fault, what is left of it, and the next call of the same client."""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
import tracemalloc
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any

import httpx2

import svir
from svir.layers import Timeout
from tests.faults.acts import Script, Sound, Tls
from tests.faults.backends import Over
from tests.faults.matrix import SECOND, Outcome, Row
from tests.faults.scripts import Stage, data_of
from tests.support.faces import closing
from tests.support.loopback import Act, Gone, Loopback

LATE = 4.0
"""Seconds a deadline may be late in real time; the promise is less, the machine may be busy."""

SLOWER = (1, 5, 25)
"""What a row's deadlines are multiplied by when it is played; see ``Late``."""

PATIENCE = 5.0
"""Seconds of the deadlines that are not to be met."""

SURE = 10.0
"""Seconds after which what must happen at once will not happen."""

CALM = {"connect_timeout": PATIENCE, "idle_timeout": PATIENCE, "include_usage": False, "model": "m"}


class Late(AssertionError):  # noqa: N818 (no error yet)
    """Something took longer than it may; or its deadline passed before the call was where the fault is.

    On a busy machine either says nothing, so the row is played again with longer deadlines. What is late for
    a reason of svir's is late every time.
    """


class Player:
    """What all rows share.

    Args:
        certificates: Both sides of TLS.
        full_port: A port that takes no connection.
        big_file: A file larger than the kernel's buffers.
    """

    def __init__(self, certificates: Any, full_port: int, big_file: Any) -> None:
        self.certificates = certificates
        self.full_port = full_port
        self.requests = {
            "chat": "hi",
            "big": svir.user("look", svir.Image.from_bytes(big_file.read_bytes(), "image/png")),
            "file": svir.user("look", svir.Image(big_file)),
        }

    def play(self, row: Row, over: Over) -> None:
        """Plays a row over a backend; fails when anything of it is not as the row says."""
        for factor in SLOWER[:-1]:
            try:
                self._play(row.slower(factor), over)
            except Late:
                continue
            return
        self._play(row.slower(SLOWER[-1]), over)

    def _play(self, row: Row, over: Over) -> None:
        with nothing_left():
            with ExitStack() as stack:
                server, stage, script = self._servers(row, stack)
                over.face.run(self._scenario, row, over, server, stage, script)
            if script is not None and script.missed:
                raise Late(script.missed)
            if server is not None:
                opened = row.connections or (1 if row.reused else 2)
                assert row.reused is None or server.opened == opened, "connections"

    def _servers(self, row: Row, stack: ExitStack) -> tuple[Loopback | None, Stage, Script | None]:
        """The server the client goes to, and what happens on its first connection."""
        if row.server is None and row.network is None:
            return None, Stage(self.certificates.server), None
        written = row.server
        fresh: list[Act] = [Sound((data_of("<fresh>"),))]
        upstream = None
        if row.network is not None:
            written = row.network
            behind = stack.enter_context(Loopback(repeat=[Sound((data_of("<answer>"), data_of("<fresh>")))]))
            upstream = ("127.0.0.1", behind.port)
        assert written
        stage = Stage(self.certificates.server, upstream)
        secure = is_secure(row)
        tls: list[Act] = [Tls(self.certificates.server("good"))] if secure else []
        script = stage.script(written, then=[Gone()] if row.reused is False else fresh)
        server = Loopback([script], repeat=[Script([*tls, *fresh])])
        return stack.enter_context(server), stage, script

    async def _scenario(
        self, row: Row, over: Over, server: Loopback | None, stage: Stage, script: Script | None
    ) -> None:
        options = over.options({**CALM, **row.options}, self.certificates.client)
        if "limits" in options:
            options["limits"] = svir.Limits(**options["limits"])
        if "layers" in options:
            options["layers"] = [getattr(Timeout, name)(seconds) for name, seconds in options["layers"]]
        async with (
            owned(options.get("backend")),
            closing(over.face.client(self._url(row, server), **options)) as client,
        ):
            for _ in range(row.warm):
                await self._call(client, row, Outcome(SECOND), "chat", server)
            measured = row.memory_kib is not None and repr(over) == "builtin-sync"
            with bounded(row.memory_kib if measured else None):
                await self._call(client, row, Outcome(row.expect), row.request, server)
            stage.over.set()
            idles = row.server is not None and "idle" in row.server
            if idles:
                await happens(over, stage.idled)
            elif script is not None and row.reused is False:
                await happens(over, script.done)
            if server is not None:
                # No deadline that was there for the fault is the next call's.
                timed = "deadline" in row.second
                calm = client if timed else client.with_options(**CALM, timeout=None, layers=[])
                await self._call(calm, row, Outcome(row.second), "chat", server)
            if script is not None and idles and row.reused is False:
                await happens(over, script.done)  # what it is found to be, it is when it is to be used again

    def _url(self, row: Row, server: Loopback | None) -> str:
        if row.url is not None:
            return row.url.replace("<full>", str(self.full_port)).replace("<long>", "a" * 70)
        if server is None:
            with socket.create_server(("127.0.0.1", 0)) as closed:
                return f"http://127.0.0.1:{closed.getsockname()[1]}"
        return f"https://localhost:{server.port}" if is_secure(row) else server.url

    async def _call(
        self, client: Any, row: Row, outcome: Outcome, form: str, server: Loopback | None
    ) -> None:
        begin = time.monotonic()
        got, said = await self._outcome(client, form)
        took = time.monotonic() - begin
        wanted = outcome.wanted(got)
        if got.get("error") == "timeout" and got != got | wanted:
            raise Late((said, got))
        assert {name: got.get(name) for name in wanted} == wanted, (said, got)
        assert outcome.says in said, said
        if got.get("unsent") and server is not None and not is_secure(row):
            assert server.taken == 0, "it was called unsent, and the server has some of it"
        most = outcome.within
        if outcome.deadline is not None:
            limit = row.deadline(outcome.deadline)
            assert took >= limit - 0.005, took
            most = max(limit, most)
        if took >= most + LATE:
            raise Late(took)

    async def _outcome(self, client: Any, form: str) -> tuple[dict[str, Any], str]:
        """What a call came to, and what its error says."""
        text = ""
        try:
            if form == "models":
                return {"models": [model.id for model in await client.models()]}, ""
            if form == "raw":
                async with client.send("hi") as raw:
                    return {"bytes": len(b"".join([data async for data in raw]))}, ""
            async with client.stream(self.requests[form]) as stream:
                async for event in stream:
                    if isinstance(event, svir.TextDelta):
                        text += event.text
                done = await stream.complete()
        except svir.Error as error:
            return seen(error, text), str(error)
        assert done.text == text
        reasoning = "".join(one.text for one in done.reasoning)
        calls = [call.name for call in done.calls]
        return {"text": text, "finish": done.finish, "reasoning": reasoning, "calls": calls}, ""


def seen(error: svir.Error, text: str) -> dict[str, Any]:
    """An error as a row writes it."""
    assert error.__context__ is None
    assert error.__cause__ is None
    partial = "" if error.partial is None else error.partial.text
    assert partial == text, "what svir says came must be what it handed out"
    return {
        "error": error.kind,
        "retryable": error.retryable,
        "unsent": error.unsent,
        "status": error.status,
        "message": error.server_message,
        "code": error.code,
        "retry_after": error.retry_after,
        "partial": partial,
    }


def is_secure(row: Row) -> bool:
    """Whether the client begins with TLS."""
    acts = row.server or []
    words = [word for act in acts if isinstance(act, dict) for word in act]
    return "tls" in words or "hello" in words or row.phase == "tls"


async def happens(over: Over, event: threading.Event) -> None:
    """Waits, without holding up a loop, until what must happen has happened."""
    until = time.monotonic() + SURE
    while not event.is_set():
        if time.monotonic() >= until:
            raise Late("the connection was left open, or never made")
        if over.face.blocking:
            event.wait(SURE)
        else:
            await over.face.sleep(0.001)


@asynccontextmanager
async def owned(backend: Any):
    """Closes the client of another library that a backend was made with."""
    yield
    inner = getattr(backend, "_client", None)
    if isinstance(inner, httpx2.Client):
        inner.close()
    elif inner is not None:
        await inner.aclose()


@contextmanager
def bounded(most_kib: int | None):
    """Asserts that a block never takes more memory."""
    if most_kib is None:
        yield
        return
    gc.collect()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= most_kib * 1024
    finally:
        tracemalloc.stop()


@contextmanager
def nothing_left():
    """Asserts that a block leaves no socket open, and no thread but what waits for work."""
    before = sockets(), set(threading.enumerate())
    yield
    assert sockets() <= before[0], "a socket was left open"
    left = set(threading.enumerate()) - before[1]
    assert not [thread for thread in left if not thread.name.startswith(("Trio", "svir watchdog"))], (
        "a thread was left"
    )


def sockets() -> set[str]:
    """The sockets of this process."""
    found = set()
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 (names are enough, and quicker)
        try:
            name = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 (the same)
        except OSError:  # that of the listing itself
            continue
        if name.startswith("socket:"):
            found.add(name)
    return found
