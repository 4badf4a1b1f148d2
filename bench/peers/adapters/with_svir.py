"""svir, as README.md shows it."""

from harness import QUESTION, TOOL_QUESTION, Answer, Job, main

import svir

tools = svir.Tools()


@tools.add
def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


def ask(job: Job, image: str | None) -> Answer:
    with svir.Client.openai(job.url, model="m", api_key=job.key) as client:
        parts = [QUESTION] if image is None else [QUESTION, svir.Image(image)]
        request = svir.Request(messages=[svir.user(*parts)])
        if job.ask == "tool":
            request = svir.Request(messages=[TOOL_QUESTION], tools=tools)
        with client.stream(request) as stream:
            done = stream.complete()
        return Answer(
            text=done.text,
            reasoning="".join(part.text for part in done.reasoning),
            calls=[call.arguments for call in done.calls],
            finish=done.finish,
        )


if __name__ == "__main__":
    main(ask)
