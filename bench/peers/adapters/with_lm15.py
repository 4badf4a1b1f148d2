"""lm15, `OpenAIChatLM.stream` and `materialize_response`."""

from pathlib import Path

from harness import QUESTION, SCHEMA, TOOL_QUESTION, Answer, Job, main
from lm15 import (
    FunctionTool,
    ImagePart,
    Message,
    OpenAIChatLM,
    Request,
    TextPart,
    ThinkingPart,
    materialize_response,
)


def ask(job: Job, path: str | None) -> Answer:
    lm = OpenAIChatLM(api_key=job.key, base_url=f"{job.url}/v1")
    if job.ask == "tool":
        tool = FunctionTool(name="weather", description="The weather in a city.", parameters=SCHEMA)
        request = Request(model="m", messages=(Message.user(TOOL_QUESTION),), tools=(tool,))
    elif path is None:
        request = Request(model="m", messages=(Message.user(QUESTION),))
    else:
        request = Request(
            model="m", messages=(Message.user([TextPart(QUESTION), ImagePart(path=Path(path))]),)
        )
    response = materialize_response(lm.stream(request), request)
    return Answer(
        text=response.text or "",
        reasoning="".join(part.text for part in response.message.parts if isinstance(part, ThinkingPart)),
        calls=[call.input for call in response.tool_calls],
        finish=response.finish_reason,
    )


if __name__ == "__main__":
    main(ask)
