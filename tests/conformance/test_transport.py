"""Runs the transport's conformance cases on every face: see ``docs/conformance.md`` for the notation.

Beyond that notation, ``config.options`` holds options of svir's clients, and an outcome may name ``code``,
``request_id`` and ``dropped``.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

import svir
from tests.support import conformance_adapter
from tests.support.loopback import Call, Loopback, Request

FOLDER = Path(__file__).parent / "transport"
CASES = sorted(FOLDER.glob("*.json"))
CASE = {"description", "config", "expect_config", "server", "calls", "expect_requests", "expect_closed"}
CONFIG = {"base_url", "api_key", "headers", "timeout_ms", "allow_http", "options"}
REPLY = {"status", "headers", "body", "body_file", "cut_before", "then", "stall"}
CALL = {"request", "list_models", "client", "expect"}
COMPARED = {"retryable", "retry_after_ms", "status", "message", "code", "request_id", "dropped", "models"}
EXPECT = COMPARED | {"completion", "error", "partial", "cancelled", "within_ms"}
REQUEST = {"method", "path", "headers", "absent_headers", "body_includes", "body_excludes"}
HI = {"model": "m", "messages": [{"role": "user", "parts": [{"text": "hi"}]}]}
WHOLE = {"text": "", "reasoning": [], "calls": [], "usage": None}

FACES = {
    "sync": conformance_adapter.adapter_sync,
    "asyncio": conformance_adapter.adapter_async,
    "trio": conformance_adapter.adapter_trio,
}


def known(case):
    """A key nobody reads would be an expectation that passes silently."""
    assert case.keys() <= CASE
    assert case["config"].keys() <= CONFIG
    for reply in case.get("server", []):
        assert reply.keys() <= REPLY
    for call in case.get("calls", []):
        assert call.keys() <= CALL
        assert call["expect"].keys() <= EXPECT
        assert call["expect"]
    for request in case.get("expect_requests", []):
        assert request.keys() <= REQUEST
    if "expect_config" in case:
        assert case.keys() == {"description", "config", "expect_config"}
        assert case["expect_config"] in {"accepted", "rejected"}
    else:
        assert {"server", "calls", "expect_requests"} <= case.keys()


class Server:
    """Gives the replies of a case, one a request, whichever connection it comes on."""

    def __init__(self, replies):
        self.replies = iter(replies)
        self.beyond = 0
        self.closed = threading.Event()
        self.loopback = Loopback(repeat=[Request(), Call(self.reply)])

    def reply(self, peer):
        reply = next(self.replies, None)
        if reply is None:
            self.beyond += 1
            reply = {"status": 500}
        if reply.get("stall") != "headers":
            headers = {**reply.get("headers", {}), "connection": "close"}
            head = [
                f"HTTP/1.1 {reply['status']} Scripted",
                *(f"{k}: {v}" for k, v in headers.items()),
                "",
                "",
            ]
            peer.sock.sendall(
                "\r\n".join(head).replace("{server}", self.loopback.url).encode() + body_of(reply)
            )
        if "stall" in reply or reply.get("then") == "stall":
            try:
                while peer.recv():
                    pass
            except OSError:
                pass
            self.closed.set()


def body_of(reply):
    text = reply.get("body", "")
    if "body_file" in reply:
        text = (FOLDER / reply["body_file"]).read_text("utf-8")
    if "cut_before" in reply:
        text = text[: text.index(reply["cut_before"])]
    return text.encode()


def canon(value):
    return json.dumps(value, sort_keys=True)


def differences(want, got):
    """What of an expectation does not hold: name -> (wanted, got)."""
    wanted = {name: want[name] for name in COMPARED | {"error", "cancelled"} if name in want}
    if "completion" in want:
        wanted["completion"] = WHOLE | want["completion"]
        wanted.setdefault("error", None)
    found = {name: (value, got.get(name)) for name, value in wanted.items()}
    for name, value in want.get("partial", {}).items():
        found[f"partial.{name}"] = (value, got.get("partial", {}).get(name))
    return {name: pair for name, pair in found.items() if canon(pair[0]) != canon(pair[1])}


def check_request(want, got, number):
    method, path, _ = got.line.split(" ", 2)
    assert want.get("method", method) == method, number
    assert want.get("path", path) == path, number
    for name, value in want.get("headers", {}).items():
        assert got.headers.get(name) == value, (number, name)
    for name in want.get("absent_headers", []):
        assert name not in got.headers, (number, name)
    if method != "POST":
        return
    assert got.headers["content-type"] == "application/json"
    assert got.headers["content-length"] == str(len(got.body))
    assert "transfer-encoding" not in got.headers
    body = json.loads(got.body)
    for name, value in want.get("body_includes", {}).items():
        assert canon(body.get(name)) == canon(value), (number, name)
    assert not set(want.get("body_excludes", [])) & body.keys(), number


def run(adapter, case, url, server):
    """Makes the calls of a case; everything that was printable on the way."""
    client = adapter.client(url, configured(case["config"]))
    refused = isinstance(client, str)
    shown = [client if refused else repr(client)]
    try:
        if "expect_config" in case:
            assert refused == (case["expect_config"] == "rejected"), (url, client)
            return shown
        assert not refused, client
        for number, call in enumerate(case["calls"]):
            started = time.monotonic()
            if call.get("list_models"):
                got = client.list_models()
            else:
                got = client.generate(call.get("request", HI), call.get("client", ["read_all"]))
            took = (time.monotonic() - started) * 1000
            shown += got.pop("shown", [])
            assert differences(call["expect"], got) == {}, (number, got)
            assert took <= call["expect"].get("within_ms", 30_000), number
        if case.get("expect_closed"):
            assert server.closed.wait(1), "the connection was not closed"
        return shown
    finally:
        if not refused:
            client.close()


def configured(config):
    options = dict(config.get("options", {}))
    if "limits" in options:
        options["limits"] = svir.Limits(**options["limits"])
    return {**{name: value for name, value in config.items() if name != "base_url"}, "options": options}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path, face):
    case = json.loads(path.read_text("ascii"))
    known(case)
    config = case["config"]
    urls = config["base_url"] if isinstance(config["base_url"], list) else [config["base_url"]]
    secrets = [config.get("api_key", "").strip(), *config.get("headers", {}).values()]
    for url in urls:
        if "expect_config" in case:
            shown = run(FACES[face], case, url, None)
        else:
            server = Server(case["server"])
            with server.loopback as loopback:
                shown = run(FACES[face], case, url.replace("{server}", loopback.url), server)
            assert server.beyond == 0
            assert len(loopback.requests) == len(case["expect_requests"])
            for number, (want, got) in enumerate(
                zip(case["expect_requests"], loopback.requests, strict=True)
            ):
                check_request(want, got, number)
        for secret in secrets:
            assert not secret or not any(secret in text for text in shown)


def test_there_are_cases():
    assert len(CASES) >= 100
