"""httpx2 alone: its server-sent events, and JSON, for an application that needs no client library."""

import httpx2
from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main


def ask(job: Job, image: str | None) -> Answer:
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [
            {"type": "text", "text": question},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        ]
    body = {"model": "m", "messages": [{"role": "user", "content": content}], "stream": True}
    if job.ask == "tool":
        body["tools"] = [TOOL]
    texts, thoughts, calls, finish = [], [], {}, None
    with (
        httpx2.Client(base_url=job.url, headers={"authorization": f"Bearer {job.key}"}) as client,
        client.sse("/v1/chat/completions", method="POST", json=body) as events,
    ):
        events.response.raise_for_status()
        for event in events:
            if event.data == "[DONE]":
                break
            choice = event.json()["choices"][0]
            delta = choice["delta"]
            texts.append(delta.get("content") or "")
            thoughts.append(delta.get("reasoning_content") or "")
            finish = choice["finish_reason"] or finish
            for call in delta.get("tool_calls") or []:
                calls.setdefault(call["index"], "")
                calls[call["index"]] += call["function"]["arguments"]
    return Answer("".join(texts), "".join(thoughts), list(calls.values()), finish=finish)


if __name__ == "__main__":
    main(ask)
