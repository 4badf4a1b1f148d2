"""What a user of the asynchronous face writes; checked by mypy and basedpyright, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import assert_type

from svir import (
    AsyncClient,
    AsyncNext,
    AsyncRawStream,
    AsyncStream,
    Completed,
    Completion,
    Event,
    ModelInfo,
    Request,
    TextDelta,
)
from svir.http import AsyncBackend, AsyncHttp11Backend


async def ask(client: AsyncClient) -> str:
    await client.complete(messages=["Why do rivers meander?"])
    completion = await client.complete("Why do rivers meander?", system="Be precise.")
    assert_type(completion, Completion)
    return completion.text


async def read(client: AsyncClient, request: Request) -> Completion | None:
    async with client.stream(request) as stream:
        assert_type(stream, AsyncStream)
        async for event in stream:
            assert_type(event, Event)
            match event:
                case TextDelta(text):
                    assert_type(text, str)
                case Completed(done):
                    return done
                case _:
                    pass
    return None


async def texts(client: AsyncClient) -> list[str]:
    async with client.stream("One.") as stream:
        pieces = [text async for text in stream.text()]
        assert_type(pieces, list[str])
        assert_type(await stream.complete(), Completion)
    return pieces


async def relay(client: AsyncClient, request: Request) -> AsyncIterator[bytes]:
    raw = await client.send(request).open()
    assert_type(raw, AsyncRawStream)
    async for data in raw:
        yield data
    await raw.aclose()


async def listed(client: AsyncClient) -> tuple[ModelInfo, ...]:
    return await client.models()


async def counted(request: Request, following: AsyncNext) -> AsyncStream:
    stream = await following(request)
    stream.complete_by(2.0)
    return stream


async def key() -> str:
    return "a key"


async def built() -> None:
    backend: AsyncBackend = AsyncHttp11Backend()
    client = AsyncClient.openai("https://example.com", api_key=key, layers=[counted], backend=backend)
    assert_type(client.with_options(timeout=3), AsyncClient)
    async with client:
        pass
    await client.aclose()


async def refused(client: AsyncClient) -> None:
    for _ in client.stream("hi"):  # type: ignore[attr-defined]  # pyright: ignore[reportGeneralTypeIssues]
        pass

    def wrong(request: Request, following: AsyncNext) -> AsyncStream:
        raise NotImplementedError

    AsyncClient.openai("http://localhost", layers=[wrong])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
