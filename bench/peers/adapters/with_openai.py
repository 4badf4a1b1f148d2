"""openai, `chat.completions.create(stream=True)`: the chunks are put together by the application.

Calls are accumulated as its guide to function calling shows.
"""

from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main
from openai import OpenAI


def ask(job: Job, image: str | None, **options: object) -> Answer:
    client = OpenAI(base_url=f"{job.url}/v1", api_key=job.key, **options)
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [
            {"type": "text", "text": question},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        ]
    offered = {"tools": [TOOL]} if job.ask == "tool" else {}
    stream = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": content}], stream=True, **offered
    )
    texts, thoughts, calls, finish = [], [], {}, None
    for chunk in stream:
        choice = chunk.choices[0]
        texts.append(choice.delta.content or "")
        thoughts.append(getattr(choice.delta, "reasoning_content", None) or "")
        finish = choice.finish_reason or finish
        for call in choice.delta.tool_calls or []:
            if call.index not in calls:
                calls[call.index] = call
            else:
                calls[call.index].function.arguments += call.function.arguments
    arguments = [call.function.arguments for call in calls.values()]
    return Answer("".join(texts), "".join(thoughts), arguments, finish=finish)


if __name__ == "__main__":
    main(ask)
