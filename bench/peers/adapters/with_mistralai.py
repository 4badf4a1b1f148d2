"""mistralai, `chat.stream`, with `server_url` naming the server."""

from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main
from mistralai.client import Mistral


def ask(job: Job, image: str | None) -> Answer:
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [{"type": "text", "text": question}, {"type": "image_url", "image_url": data_url(image)}]
    offered = {"tools": [TOOL]} if job.ask == "tool" else {}
    texts, calls, finish = [], {}, None
    with (
        Mistral(api_key=job.key, server_url=job.url) as client,
        client.chat.stream(model="m", messages=[{"role": "user", "content": content}], **offered) as stream,
    ):
        for event in stream:
            choice = event.data.choices[0]
            texts.append(choice.delta.content or "")
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                calls.setdefault(call.index, "")
                calls[call.index] += call.function.arguments
    return Answer("".join(texts), calls=list(calls.values()), finish=finish)


if __name__ == "__main__":
    main(ask)
