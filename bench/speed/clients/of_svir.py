"""svir, both faces, over each of its backends."""

from harness import main

import svir
from svir import Image, TextDelta, TextFile, user


def blocking(url):
    client = svir.Client.openai(url, model="m", api_key="k")
    return lambda: pieces(client)


def pieces(client):
    with client.stream("Why do rivers meander?") as stream:
        for event in stream:
            if type(event) is TextDelta:
                yield event.text


def concurrent(url, backend=None):
    client = svir.AsyncClient.openai(url, model="m", api_key="k", backend=backend)

    async def call():
        async with client.stream("Why do rivers meander?") as stream:
            async for event in stream:
                if type(event) is TextDelta:
                    yield event.text

    return call


def aiohttp(url):
    from svir.http import AiohttpBackend

    return concurrent(url, AiohttpBackend())


def httpx2(url):
    import httpx2

    from svir.http import AsyncHttpx2Backend

    limits = httpx2.Limits(max_connections=None)
    return concurrent(url, AsyncHttpx2Backend(httpx2.AsyncClient(limits=limits, timeout=None)))


def send_image(url, path):
    with svir.Client.openai(url, model="m", api_key="k") as client:
        client.complete(user("What is this?", Image(path)))


def send_text(url, path):
    with svir.Client.openai(url, model="m", api_key="k") as client:
        client.complete(user("What is this?", TextFile(path)))


main(
    blocking=blocking,
    concurrent=concurrent,
    aiohttp=aiohttp,
    httpx2=httpx2,
    send_image=send_image,
    send_text=send_text,
)
