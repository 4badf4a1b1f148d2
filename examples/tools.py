"""Functions for a model to call, and the loop that answers the calls: blocking, and under asyncio.

    python examples/tools.py http://127.0.0.1:8080 qwen3-27b "How warm is it in Oslo and in Bergen?"
    python examples/tools.py http://127.0.0.1:8080 qwen3-27b "How warm is it in Oslo and in Bergen?" async

A call that does not fit, and a function that raises, become results the model can read.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated, Literal

import svir

ROUNDS = 10
DEGREES = {"Bergen": 11, "Oslo": 17}

tools = svir.Tools()


@tools.add
def temperature(
    city: Annotated[str, "Its name in English."],
    unit: Literal["celsius", "fahrenheit"] = "celsius",
) -> float:
    """The temperature in a city now."""
    degrees = DEGREES[city]  # a KeyError becomes an error result, and the model may try another name
    return degrees if unit == "celsius" else degrees * 9 / 5 + 32


def ask(client: svir.Client, question: str) -> str:
    request = svir.Request(messages=[question], tools=tools)
    for _ in range(ROUNDS):
        answer = client.complete(request)
        if not answer.calls:  # also when the length limit cut a call: half a call is never to be answered
            return answer.text
        request = request.with_turns(answer, *tools.call_all(answer))
    return f"(no answer after {ROUNDS} rounds)"


async def ask_async(client: svir.AsyncClient, question: str) -> str:
    request = svir.Request(messages=[question], tools=tools)
    for _ in range(ROUNDS):
        answer = await client.complete(request)
        if not answer.calls:
            return answer.text
        request = request.with_turns(answer, *await tools.acall_all(answer, concurrency=4))
    return f"(no answer after {ROUNDS} rounds)"


async def main_async(url: str, model: str, question: str) -> None:
    async with svir.AsyncClient.openai(url, model=model, api_key=os.environ.get("SVIR_KEY")) as client:
        print(await ask_async(client, question))


def main(
    url: str = "http://127.0.0.1:8080",
    model: str = "qwen3-27b",
    question: str = "How warm is it in Oslo and in Bergen?",
    face: str = "blocking",
) -> None:
    if face == "async":
        asyncio.run(main_async(url, model, question))
        return
    with svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY")) as client:
        print(ask(client, question))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
