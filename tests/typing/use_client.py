"""What a user of the blocking face writes; checked by mypy and basedpyright, never run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_type

import svir
from svir import (
    Client,
    Completed,
    Completion,
    Image,
    Learned,
    ModelInfo,
    Next,
    RawStream,
    ReasoningDelta,
    Request,
    Stream,
    TextDelta,
    TextFile,
    Tool,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
    user,
)
from svir.http import Backend, Headers, Http11Backend


def ask(client: Client) -> str:
    completion = client.complete("Why do rivers meander?", system="Be precise.", max_tokens=100, effort="low")
    assert_type(completion, Completion)
    assert_type(completion.text, str)
    assert_type(completion.usage, Usage | None)
    assert_type(completion.calls, tuple[ToolCall, ...])
    assert_type(completion.tokens_per_second, float | None)
    return completion.text


def read(client: Client, request: Request) -> Completion | None:
    with client.stream(request) as stream:
        assert_type(stream, Stream)
        assert_type(stream.headers, Headers)
        assert_type(stream.request_id, str | None)
        for event in stream:
            match event:
                case TextDelta(text):
                    assert_type(text, str)
                case ReasoningDelta(_, text):
                    assert_type(text, str)
                case ToolCallDelta(index):
                    assert_type(index, int)
                case Completed(done):
                    return done
    return None


def texts(client: Client) -> list[str]:
    client.complete(messages=["One.", user("Two.")], system="Be brief.")
    client.send(messages="One.")
    client.parse(int, messages="How many?")
    with client.stream(["One.", "Two."], temperature=0) as stream:
        pieces = list(stream.text())
        assert_type(stream.complete(), Completion)
    return pieces


def relay(client: Client, request: Request) -> Iterable[bytes]:
    with client.send(request) as raw:
        assert_type(raw, RawStream)
        yield from raw


def listed(client: Client) -> list[str]:
    models = client.models()
    assert_type(models, tuple[ModelInfo, ...])
    return [model.name or model.id for model in models]


def counted(request: Request, following: Next) -> Stream:
    assert_type(following.host, str)
    assert_type(following.port, int)
    assert_type(following.api, str)
    stream = following(request.replace(system="Be brief."))
    stream.first_token_by(1.0)
    stream.complete_by(2.0)
    stream.idle_timeout(3.0)
    stream.inspect(print)
    return stream


def built() -> Client:
    backend: Backend = Http11Backend(max_connections=4)
    client = Client.openai(
        "https://example.com/v1",
        model="qwen3-27b",
        api_key=lambda: "a key",
        headers={"x-team": "a"},
        query={"api-version": "1"},
        timeout=60,
        idle_timeout=None,
        mode="lenient",
        limits=svir.Limits(tool_calls=3),
        layers=[counted],
        backend=backend,
    )
    assert_type(client, Client)
    derived = client.with_options(timeout=None, layers=[])
    assert_type(derived, Client)
    assert_type(derived.compatibility.learned, tuple[Learned, ...])
    return derived


def looped(client: Client, tool: Tool) -> Completion:
    request = Request(messages=[user("Look.", Image("a.png"), TextFile("b.patch"))], tools=[tool])
    while (answer := client.complete(request)).calls:
        results = [ToolResult(call.id, "done") for call in answer.calls]
        request = request.with_turns(answer, *results)
    return answer


def handled(client: Client) -> tuple[str, float | None]:
    try:
        client.complete("hi")
    except svir.RateLimitError as error:
        assert_type(error.retry_after, float | None)
        assert_type(error.status, int | None)
        assert_type(error.partial, svir.Partial | None)
        return error.kind, error.retry_after
    except (TimeoutError, svir.Error):
        pass
    return "none", None


def refused(client: Client) -> None:
    client.complete("hi", modle="m")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.complete(messages=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.complete("hi", effort="huge")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.with_options(timeout="60")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Client.openai("http://localhost", mode="sloppy")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    async def wrong(request: Request, following: Next) -> Stream:
        return following(request)

    Client.openai("http://localhost", layers=[wrong])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
