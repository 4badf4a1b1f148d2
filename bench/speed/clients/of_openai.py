"""openai, `chat.completions.create(stream=True)`."""

import base64
from pathlib import Path

from harness import main
from openai import AsyncOpenAI, OpenAI

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Why do rivers meander?"}], "stream": True}


def blocking(url):
    client = OpenAI(base_url=url, api_key="k")

    def call():
        for chunk in client.chat.completions.create(**ASKED):
            for choice in chunk.choices:
                yield choice.delta.content

    return call


def concurrent(url):
    client = AsyncOpenAI(base_url=url, api_key="k")

    async def call():
        async for chunk in await client.chat.completions.create(**ASKED):
            for choice in chunk.choices:
                yield choice.delta.content

    return call


def send(url, content):
    with OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        messages = [{"role": "user", "content": content}]
        for _ in client.chat.completions.create(model="m", messages=messages, stream=True):
            pass


def send_image(url, path):
    data = base64.b64encode(Path(path).read_bytes()).decode()
    send(url, [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}])


def send_text(url, path):
    send(url, Path(path).read_text(encoding="utf-8"))


main(blocking=blocking, concurrent=concurrent, send_image=send_image, send_text=send_text)
