"""What a user writes to test a program with svir; never run."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from svir import AsyncClient, Client, ModelInfo, TextDelta, ToolCall, Usage
from svir.http import AsyncHttp11Backend, Http11Backend
from svir.testing import (
    AsyncCassette,
    AsyncScriptedBackend,
    Cassette,
    MockServer,
    Received,
    Reply,
    ScriptedBackend,
)


def with_a_server() -> None:
    with MockServer(["one", Reply(text="two")]) as server:
        assert_type(
            server.reply(text="three", reasoning="hm", calls=[ToolCall("c", "f")], usage=Usage(1, 2)), Reply
        )
        assert_type(server.reply(events=[TextDelta("a")], finish="length").cut(after=1, reset=True), Reply)
        server.reply(status=429, headers={"retry-after": "1"}, body={"error": "slow down"}).delay(0.1)
        server.reply(models=["small", ModelInfo("large")])
        server.reply(file=Path("answer.sse")).stall(after=2).pace(0.01)
        server.reply(raw=[b"HTTP/1.1 ", b"200 OK\r\n\r\n"])
        server.play("four", Reply(file="answer.http"))
        assert_type(server.client(idle_timeout=0.1, layers=[]), Client)
        assert_type(server.async_client(model="m"), AsyncClient)
        assert_type(server.requests, list[Received])
        assert_type(server.requests[0].headers["authorization"], str)
        assert_type(server.url, str)


async def with_an_asynchronous_block() -> None:
    async with MockServer() as server, AsyncScriptedBackend(["x"]) as backend:
        assert_type(server, MockServer)
        assert_type(backend, AsyncScriptedBackend)


def with_backends() -> None:
    with ScriptedBackend(["x"]) as backend:
        Client.openai("http://127.0.0.1", backend=backend)
    Client.openai("http://127.0.0.1", backend=Cassette("x.json"))
    Client.openai("http://127.0.0.1", backend=Cassette(Path("x.json"), Http11Backend(), mode="replay"))
    AsyncClient.openai("http://127.0.0.1", backend=AsyncScriptedBackend())
    cassette = AsyncCassette("x.json", AsyncHttp11Backend(), mode="record", hide_headers=["x-trace"])
    AsyncClient.openai("http://127.0.0.1", backend=cassette)


def with_the_fixture(svir_server: MockServer) -> None:
    svir_server.reply(text="Hello")


def wrong() -> None:
    Reply(test="x")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    MockServer().reply(text=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Cassette("x.json", mode="twice")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    AsyncClient.openai("http://x", backend=Cassette("x"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
