"""pydantic-ai, `Agent.run_sync` with an event stream handler: answers are streamed, and tools are run."""

from collections.abc import AsyncIterable
from pathlib import Path

from harness import QUESTION, TOOL_QUESTION, Answer, Job, main
from pydantic_ai import Agent, AgentStreamEvent, BinaryContent, RunContext
from pydantic_ai.messages import ThinkingPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def watch(_: RunContext, events: AsyncIterable[AgentStreamEvent]) -> None:
    async for _event in events:
        pass


def ask(job: Job, image: str | None) -> Answer:
    answer = Answer()
    provider = OpenAIProvider(base_url=f"{job.url}/v1", api_key=job.key)
    agent = Agent(OpenAIChatModel("m", provider=provider))
    if job.ask == "tool":

        @agent.tool_plain
        def weather(city: str) -> str:
            """The weather in a city."""
            answer.ran.append({"city": city})
            return f"Sunny in {city}"

    prompt = [TOOL_QUESTION if job.ask == "tool" else QUESTION]
    if image is not None:
        prompt.append(BinaryContent(data=Path(image).read_bytes(), media_type="image/png"))
    result = agent.run_sync(prompt, event_stream_handler=watch)
    answer.text = result.output
    parts = [part for message in result.all_messages() for part in message.parts]
    answer.reasoning = "".join(part.content for part in parts if isinstance(part, ThinkingPart))
    answer.finish = result.response.finish_reason
    return answer


if __name__ == "__main__":
    main(ask)
