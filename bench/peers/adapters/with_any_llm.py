"""any-llm, `completion(stream=True)` with the provider `openai`."""

from any_llm import completion
from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main


def ask(job: Job, image: str | None) -> Answer:
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [
            {"type": "text", "text": question},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        ]
    offered = {"tools": [TOOL]} if job.ask == "tool" else {}
    stream = completion(
        model="m",
        provider="openai",
        api_base=f"{job.url}/v1",
        api_key=job.key,
        messages=[{"role": "user", "content": content}],
        stream=True,
        **offered,
    )
    texts, thoughts, calls, finish = [], [], {}, None
    for chunk in stream:
        choice = chunk.choices[0]
        texts.append(choice.delta.content or "")
        thoughts.append(getattr(getattr(choice.delta, "reasoning", None), "content", None) or "")
        finish = choice.finish_reason or finish
        for call in choice.delta.tool_calls or []:
            calls.setdefault(call.index, "")
            calls[call.index] += call.function.arguments or ""
    return Answer("".join(texts), "".join(thoughts), list(calls.values()), finish=finish)


if __name__ == "__main__":
    main(ask)
