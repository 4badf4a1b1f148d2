"""litellm, `completion(stream=True)` and `acompletion`."""

import base64
from pathlib import Path

import litellm
from harness import main

ASKED = {"model": "openai/m", "api_key": "k", "stream": True}


def blocking(url):
    def call():
        messages = [{"role": "user", "content": "Why do rivers meander?"}]
        for chunk in litellm.completion(api_base=url, messages=messages, **ASKED):
            yield chunk.choices[0].delta.content

    return call


def concurrent(url):
    async def call():
        messages = [{"role": "user", "content": "Why do rivers meander?"}]
        async for chunk in await litellm.acompletion(api_base=url, messages=messages, **ASKED):
            yield chunk.choices[0].delta.content

    return call


def send(url, content):
    messages = [{"role": "user", "content": content}]
    for _ in litellm.completion(api_base=url, messages=messages, num_retries=0, **ASKED):
        pass


def send_image(url, path):
    data = base64.b64encode(Path(path).read_bytes()).decode()
    send(url, [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}])


def send_text(url, path):
    send(url, Path(path).read_text(encoding="utf-8"))


main(blocking=blocking, concurrent=concurrent, send_image=send_image, send_text=send_text)
