"""litellm, `completion(stream=True)` and `stream_chunk_builder`."""

import litellm
from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main


def ask(job: Job, image: str | None) -> Answer:
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [
            {"type": "text", "text": question},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        ]
    messages = [{"role": "user", "content": content}]
    offered = {"tools": [TOOL]} if job.ask == "tool" else {}
    stream = litellm.completion(
        model="openai/m",
        api_base=f"{job.url}/v1",
        api_key=job.key,
        messages=messages,
        stream=True,
        **offered,
    )
    choice = litellm.stream_chunk_builder(list(stream), messages=messages).choices[0]
    return Answer(
        text=choice.message.content or "",
        reasoning=getattr(choice.message, "reasoning_content", None) or "",
        calls=[call.function.arguments for call in choice.message.tool_calls or []],
        finish=choice.finish_reason,
    )


if __name__ == "__main__":
    main(ask)
