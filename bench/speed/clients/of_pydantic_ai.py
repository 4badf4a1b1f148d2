"""pydantic-ai, `Agent.run_stream` and its text in deltas."""

from pathlib import Path

from harness import main
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent(url):
    return Agent(OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="k")))


def concurrent(url):
    asked = agent(url)

    async def call():
        async with asked.run_stream("Why do rivers meander?") as result:
            async for piece in result.stream_text(delta=True, debounce_by=None):
                yield piece

    return call


def send_image(url, path):
    image = BinaryContent(data=Path(path).read_bytes(), media_type="image/png")
    agent(url).run_stream_sync(["What is this?", image]).get_output()


def send_text(url, path):
    agent(url).run_stream_sync(Path(path).read_text(encoding="utf-8")).get_output()


main(concurrent=concurrent, send_image=send_image, send_text=send_text)
