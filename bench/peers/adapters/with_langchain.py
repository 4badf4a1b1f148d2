"""langchain-openai, `ChatOpenAI.stream`, the chunks added up as its documents show."""

from harness import QUESTION, TOOL, TOOL_QUESTION, Answer, Job, data_url, main
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI


def ask(job: Job, image: str | None) -> Answer:
    model = ChatOpenAI(model="m", base_url=f"{job.url}/v1", api_key=job.key)
    if job.ask == "tool":
        model = model.bind_tools([TOOL])
    question = TOOL_QUESTION if job.ask == "tool" else QUESTION
    content = question
    if image is not None:
        content = [
            {"type": "text", "text": question},
            {"type": "image_url", "image_url": {"url": data_url(image)}},
        ]
    whole = None
    for chunk in model.stream([HumanMessage(content)]):
        whole = chunk if whole is None else whole + chunk
    return Answer(
        text=whole.text,
        reasoning=str(whole.additional_kwargs.get("reasoning_content") or ""),
        calls=[call["args"] for call in whole.tool_calls],
        finish=whole.response_metadata.get("finish_reason"),
    )


if __name__ == "__main__":
    main(ask)
