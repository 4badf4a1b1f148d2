"""openai, `chat.completions.stream()`: its helper, which puts the chunks together itself."""

from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main
from openai import OpenAI


def ask(job: Job, image: str | None) -> Answer:
    client = OpenAI(base_url=f"{job.url}/v1", api_key=job.key)
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [
            {"type": "text", "text": question},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        ]
    offered = {"tools": [TOOL]} if job.ask == "tool" else {}
    with client.chat.completions.stream(
        model="m", messages=[{"role": "user", "content": content}], **offered
    ) as stream:
        for _ in stream:
            pass
        choice = stream.get_final_completion().choices[0]
    return Answer(
        text=choice.message.content or "",
        reasoning=getattr(choice.message, "reasoning_content", None) or "",
        calls=[call.function.arguments for call in choice.message.tool_calls or []],
        finish=choice.finish_reason,
    )


if __name__ == "__main__":
    main(ask)
