"""httpx2 alone: its server-sent events, and `json.loads`, for an application that wants no client library."""

import base64
import json
from pathlib import Path

import httpx2
from harness import main

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Why do rivers meander?"}], "stream": True}
HOW = {"headers": {"authorization": "Bearer k"}, "timeout": None}


def blocking(url):
    client = httpx2.Client(base_url=url, **HOW)

    def call():
        with client.sse("/chat/completions", method="POST", json=ASKED) as events:
            events.response.raise_for_status()
            for event in events:
                if event.data == "[DONE]":
                    break
                yield json.loads(event.data)["choices"][0]["delta"].get("content")

    return call


def concurrent(url):
    client = httpx2.AsyncClient(base_url=url, limits=httpx2.Limits(max_connections=None), **HOW)

    async def call():
        async with client.sse("/chat/completions", method="POST", json=ASKED) as events:
            events.response.raise_for_status()
            async for event in events:
                if event.data == "[DONE]":
                    break
                yield json.loads(event.data)["choices"][0]["delta"].get("content")

    return call


def send(url, content):
    asked = {"model": "m", "messages": [{"role": "user", "content": content}], "stream": True}
    with httpx2.Client(base_url=url, **HOW) as client:
        client.post("/chat/completions", json=asked).raise_for_status()


def send_image(url, path):
    data = base64.b64encode(Path(path).read_bytes()).decode()
    send(url, [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}])


def send_text(url, path):
    send(url, Path(path).read_text(encoding="utf-8"))


main(blocking=blocking, concurrent=concurrent, send_image=send_image, send_text=send_text)
