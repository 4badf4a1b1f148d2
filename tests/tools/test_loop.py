"""The tool loop as users write it, with both faces, against a scripted server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Annotated

import pytest
import trio

import svir
from svir import Injected
from tests.support.chat import answer, chunk
from tests.support.loopback import Loopback, Serve, chunked

DONE = b"data: [DONE]\n\n"


@dataclass
class Place:
    city: str
    country: str = "NO"


def weather(place: Place, days: Annotated[int, "How many, from today on."] = 1) -> dict[str, object]:
    """The weather in a place."""
    return {"city": place.city, "days": days, "celsius": 4}


def stock(item: str, db: Injected[dict[str, int]]) -> int:
    """How many of an item there are."""
    return db[item]


async def slow_weather(place: Place) -> str:
    """The weather in a place."""
    return f"4 degrees in {place.city}"


def called(*calls, finish="tool_calls"):
    """A streamed answer that is calls, each cut into two pieces."""
    pieces = []
    for index, (name, arguments) in enumerate(calls):
        half = len(arguments) // 2
        head = {"index": index, "id": f"c{index}", "type": "function"}
        pieces += [
            chunk(
                {"tool_calls": [head | {"function": {"name": name, "arguments": arguments[:half]}}]},
            ),
            chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]}),
        ]
    return chunked(*pieces, chunk(finish=finish), DONE)


# The model gets the first two calls right, the third and fourth wrong, and then does better.
ROUNDS = (
    called(
        ("weather", '{"place": {"city": "Oslo"}, "days": 3}'),
        ("stock", '{"item": "umbrellas"}'),
        ("weather", '{"place": "Oslo"}'),
        ("umbrella", "{}"),
    ),
    called(("stock", '{"item": "coats"}')),
    chunked(answer("Take a coat.")),
)
TOLD = [
    [
        '{"city":"Oslo","days":3,"celsius":4}',
        "7",
        "error: invalid arguments: place: expected object, got str",
        "error: no tool named umbrella",
    ],
    ["error: KeyError: 'coats'"],
]


def loop_blocking(client, tools, request, **injected):
    while (done := client.complete(request)).calls:
        request = request.with_turns(done, *tools.call_all(done, **injected))
    return done


async def loop_async(client, tools, request, **injected):
    while (done := await client.complete(request)).calls:
        results = await tools.acall_all(done, concurrency=4, **injected)
        request = request.with_turns(done, *results)
    return done


def run(face, url, tools, **injected):
    request = svir.Request("m", messages=["What shall I wear?"], tools=tools, tool_choice="required")
    if face == "sync":
        with svir.Client.openai(url) as client:
            return loop_blocking(client, tools, request, **injected)

    async def main():
        async with svir.AsyncClient.openai(url) as client:
            return await loop_async(client, tools, request, **injected)

    return trio.run(main) if face == "trio" else asyncio.run(main())


@pytest.mark.parametrize("face", ["sync", "asyncio", "trio"])
def test_the_loop_ends_with_an_answer_and_tells_the_model_everything(face):
    tools = svir.Tools(weather, stock)
    with Loopback([Serve(ROUNDS)]) as server:
        done = run(face, server.url, tools, db={"umbrellas": 7})
        bodies = [json.loads(request.body) for request in server.requests]
    assert done.text == "Take a coat."
    assert [tool["function"]["name"] for tool in bodies[0]["tools"]] == ["weather", "stock"]
    parameters = bodies[0]["tools"][0]["function"]["parameters"]
    assert parameters["properties"]["place"]["properties"]["city"] == {"type": "string"}
    assert parameters["properties"]["days"]["description"] == "How many, from today on."
    assert "db" not in str(bodies[0]["tools"][1])
    for told, body in zip(TOLD, bodies[1:], strict=True):
        results = body["messages"][-len(told) :]
        assert [message["role"] for message in results] == ["tool"] * len(told)
        assert [message["tool_call_id"] for message in results] == [f"c{n}" for n in range(len(told))]
        assert [message["content"] for message in results] == told
    # The choice was a requirement for the first turn only, else the loop would never end.
    assert [body.get("tool_choice") for body in bodies] == ["required", None, None]


@pytest.mark.parametrize("face", ["asyncio", "trio"])
def test_asynchronous_functions_answer_in_a_loop(face):
    rounds = (called(("slow_weather", '{"place": {"city": "Oslo"}}')), chunked(answer("Cold.")))
    with Loopback([Serve(rounds)]) as server:
        assert run(face, server.url, svir.Tools(slow_weather)).text == "Cold."
        assert "4 degrees in Oslo" in server.requests[1].body.decode()


def test_calls_cut_by_the_length_limit_end_the_loop():
    cut = called(("weather", '{"place": {"city": "Oslo"}}'), finish="length")
    with Loopback([Serve((cut,))]) as server:
        done = run("sync", server.url, svir.Tools(weather))
    assert done.finish is svir.FinishReason.LENGTH
    assert len(done.cut_calls) == 1
