"""The relay of ``examples/``, in a process of its own, between http.client and a scripted server."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import threading
from contextlib import contextmanager

import pytest

from svir.testing import MockServer
from tests.support.chat import chunk
from tests.support.examples import FOLDER, KEY, PATIENCE, command, environment
from tests.support.loopback import Call, Gone, Loopback, Request, Send, chunked

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the examples are not beside the tests")

ANSWER = [
    chunk({"content": "Because "}),
    b": a comment, kept as it is\r\n\r\n",
    chunk({"content": "water is lazy."}),
    chunk({}, "stop"),
    b"data: [DONE]\n\n",
]


class Relay:
    """A running relay, and what it prints."""

    def __init__(self, process):
        self.process = process
        self.lines = []
        self.port = None
        for line in process.stderr:
            self.lines.append(line)
            if found := re.search(r"running on http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        assert self.port is not None, "".join(self.lines)
        # Read on, so that the pipe never fills.
        self.reader = threading.Thread(target=lambda: self.lines.extend(process.stderr), daemon=True)
        self.reader.start()

    def ask(self):
        """The response's head; its connection ends with the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("POST", "/ask", "Why do rivers meander?", {"connection": "close"})
        return connection

    def printed(self):
        """The next line that is the program's own, if one comes; uvicorn logs requests beside it."""
        own = (line for line in self.process.stdout if line.startswith(("relayed", "not relayed")))
        return next(own, "nothing")


@contextmanager
def relay(url):
    process = subprocess.Popen(
        command("relay", url, "m", 0),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    ended = threading.Timer(PATIENCE, process.kill)  # whoever waits for a line then reads the end
    ended.start()
    try:
        running = Relay(process)
        yield running
        process.send_signal(signal.SIGINT)  # as Ctrl-C does
        process.wait(PATIENCE)
        running.reader.join(PATIENCE)
    finally:
        ended.cancel()
        process.kill()
        process.communicate()


def test_the_bytes_are_relayed_unchanged_and_read_on_the_way(tmp_path):
    recording = tmp_path / "answer.sse"
    recording.write_bytes(b"".join(ANSWER))
    with MockServer() as server, relay(server.url) as running:
        server.reply(file=recording)
        response = running.ask().getresponse()
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.read() == recording.read_bytes()
        assert running.printed() == "relayed: stop, None\n"
    assert server.requests[0].body["messages"] == [{"role": "user", "content": "Why do rivers meander?"}]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert not any("Traceback" in line for line in running.lines)


def test_a_failure_before_the_answer_has_a_status_of_its_own():
    with MockServer() as server, relay(server.url) as running:
        for status, told, kind in ((429, 429, "rate_limited"), (401, 502, "authentication")):
            server.reply(status=status)
            response = running.ask().getresponse()
            assert (response.status, json.load(response)) == (told, {"error": kind})
            assert f"HTTP {status}" in running.printed()
    assert not any("Traceback" in line for line in running.lines)


def test_an_answer_that_breaks_off_breaks_off_here_too():
    with MockServer() as server, relay(server.url) as running:
        server.reply(text="Because water is lazy.").cut(after=1)
        response = running.ask().getresponse()
        assert response.status == 200
        with pytest.raises(http.client.IncompleteRead) as caught:
            response.read()
        assert b"Because" in caught.value.partial
        assert running.printed().startswith("relayed as far as it came: the answer was cut off")
    assert not any("Traceback" in line for line in running.lines)


def test_bytes_that_are_no_answer_are_relayed_and_called_so(tmp_path):
    recording = tmp_path / "answer.sse"
    recording.write_bytes(b"data: {nonsense\n\n" + ANSWER[0] * 3)
    with MockServer() as server, relay(server.url) as running:
        server.reply(file=recording)
        assert running.ask().getresponse().read() == recording.read_bytes()
        assert running.printed().startswith("relayed, though it is no answer: ")


@pytest.mark.parametrize("begun", [True, False], ids=["after", "before"])
def test_a_caller_who_leaves_ends_the_call_whether_or_not_it_had_begun(begun):
    gone, asked = Gone(), threading.Event()
    begin = [Send(chunked(ANSWER[0], end=False))] if begun else []
    with Loopback([Request(), *begin, Call(lambda _: asked.set()), gone]) as server:
        with relay(server.url) as running:
            connection = running.ask()
            if begun:
                response = connection.getresponse()
                assert response.read1() == ANSWER[0]
                response.close()
            assert asked.wait(PATIENCE)
            connection.close()
            assert gone.event.wait(PATIENCE)
        assert not any("Traceback" in line for line in running.lines)
