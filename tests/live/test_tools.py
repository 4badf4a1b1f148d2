"""The tool loop against a real model: it calls a function, and is told what came of it, with every face."""

from __future__ import annotations

import json

import pytest

import svir
from svir import Injected

MOST_ROUNDS = 4


def weather(city: str, seen: Injected[list[str]]) -> dict[str, object]:
    """The weather in a city now.

    Args:
        city: Its name in English.
    """
    seen.append(city)
    return {"celsius": 17, "sky": "wind"}


async def slow_weather(city: str, seen: Injected[list[str]]) -> dict[str, object]:
    return weather(city, seen)


def asked_before(number: int, city: str) -> list:
    """An earlier round: a question, the call, its result and the answer."""
    call = svir.ToolCall(f"call{number}", "weather", json.dumps({"city": city}))
    return [
        f"Weather in {city}?",
        svir.assistant(call),
        svir.ToolResult(call.id, '{"celsius":4,"sky":"rain"}'),
        svir.assistant(f"In {city}: 4 degrees, rain."),
    ]


# Two earlier rounds make this small model call as well; the required choice makes sure of the first one.
REQUEST = svir.Request(
    messages=[*asked_before(1, "Oslo"), *asked_before(2, "Rome"), "Weather in Paris?"],
    tool_choice="required",
    temperature=0,
    max_tokens=64,
)


def run(face, tools, seen):
    """The loop, with an end to what a small model may do: all answers, and the conversation."""
    request, answers = REQUEST.replace(tools=tools), []
    while len(answers) < MOST_ROUNDS:
        answer = face.complete(request)
        answers.append(answer)
        if not answer.calls:
            break
        request = request.with_turns(answer, *answered(face, tools, answer, seen))
    return answers, request.messages[len(REQUEST.messages) :]


def answered(face, tools, answer, seen):
    if hasattr(face, "run"):
        return face.run(lambda: tools.acall_all(answer, concurrency=2, seen=seen))
    return tools.call_all(answer, seen=seen)


@pytest.mark.parametrize("function", [weather, slow_weather], ids=lambda function: function.__name__)
def test_the_model_calls_a_function_and_goes_on_with_its_result(face, function):
    if function is slow_weather and not hasattr(face, "run"):
        pytest.skip("asynchronous functions are for the asynchronous face")
    tools = svir.Tools()
    tools.add(function, name="weather", description="The weather in a city now.")
    seen: list[str] = []
    answers, turns = run(face, tools, seen)
    calls = [call for answer in answers for call in answer.calls]
    assert answers[0].finish is svir.FinishReason.TOOL_CALLS
    assert len(answers) > 1
    # The server's grammar follows the function's schema, so every call fits and reaches the function.
    assert seen == [call.parse(dict[str, str])["city"] for call in calls]
    results = [part for turn in turns for part in turn.parts if isinstance(part, svir.ToolResult)]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert {result.content for result in results} == {'{"celsius":17,"sky":"wind"}'}
    assert not any(result.is_error for result in results)


def test_a_call_that_fails_is_told_to_the_model_which_goes_on(face):
    def broken(city: str, seen: Injected[list[str]]) -> str:
        seen.append(city)
        raise ConnectionError("the weather service is down")

    tools = svir.Tools()
    tools.add(broken, name="weather", description="The weather in a city now.")
    seen: list[str] = []
    answers, turns = run(face, tools, seen)
    assert len(answers) > 1
    assert seen
    told = turns[1].parts[0]
    assert told.content == "the weather service is down"
    assert told.is_error
