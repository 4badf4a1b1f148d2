"""What is sent: one function a request, written by svir's own encoder, so that it is what svir would send.

1. A function sees what was heard before. It asks in the way this server is known to take, and returns None
   when the answers so far make its request needless.
2. The first few find out how the server is asked. Every later one adds one thing to what it is known to take.
3. Answers are kept short by a limit of tokens, and no prompt is long but that of `overflow`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from itertools import cycle, islice
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

import msgspec

from svir.cli.probe._ask import Asked
from svir.cli.probe._evidence import (
    COMPLETION_TOKENS,
    MAX_TOKENS,
    MODELS_PATH,
    OTHER_PATH,
    PROPERTIES,
    STOP,
    WEATHER,
    WORD,
)
from svir.openai.chat import Encoder
from svir.types import (
    Image,
    Message,
    Request,
    Schema,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    assistant,
    user,
)

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence

__all__ = ["Build"]

Build = Callable[["Evidence"], "Asked | None"]
Always = Callable[["Evidence"], Asked]

TALK_TOKENS = 128
CALL_TOKENS = 256
JSON_TOKENS = 256
SHORT_TOKENS = 64
LONG_TOKENS = 600

SAY_YES = Request(messages="Say yes.")
TALK = Request(messages="Describe the sea in about fifty words.")
LONG = Request(messages="Tell a very long story about a river, from its spring to the sea.")

TOOL = Tool(
    WEATHER,
    "The weather in one city now.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
QUESTION = "What is the weather in Paris, and what is it in Bergen? Call the tool once for each city."
TWO_CITIES = Request(messages=QUESTION, tools=[TOOL])
# Nothing that the tool is for, and no example of a call: a model that calls here was made to.
NEEDLESS = SAY_YES.replace(tools=[TOOL])


def _round(call_id: str, city: str, found: str) -> list[str | Message | ToolResult]:
    """A question, the call, and its result."""
    call = ToolCall(call_id, WEATHER, f'{{"city":"{city}"}}')
    return [f"What is the weather in {city}?", assistant(call), ToolResult(call_id, found)]


TOLD = Request(
    messages=[
        *_round("call_svir_1", "Oslo", "4 degrees, rain"),
        assistant("In Oslo: 4 degrees, rain."),
        *_round("call_svir_2", "Rome", "17 degrees, wind"),
    ],
    tools=[TOOL],
)
# Earlier calls in the conversation make a small model call, too.
WITH_ROUNDS = TOLD.with_turns(assistant("In Rome: 17 degrees, wind."), QUESTION)


def _double(number: int, found: dict[str, str]) -> list[str | Message | ToolResult]:
    """A question for two cities, the two calls made at once, their results, and the answer."""
    calls = [ToolCall(f"call_svir_{number}_{city}", WEATHER, f'{{"city":"{city}"}}') for city in found]
    results = [ToolResult(call.id, weather) for call, weather in zip(calls, found.values(), strict=True)]
    told = " ".join(f"In {city}: {weather}." for city, weather in found.items())
    return [_of_two(*found), assistant(*calls), *results, assistant(told)]


def _of_two(one: str, other: str) -> str:
    return f"What is the weather in {one}, and what is it in {other}?"


# Earlier answers of two calls make a small model make two, as well.
AT_ONCE = Request(
    messages=[
        *_double(1, {"Oslo": "4 degrees, rain", "Rome": "17 degrees, wind"}),
        *_double(2, {"Lima": "19 degrees, fog", "Cairo": "31 degrees, sun"}),
        _of_two("Paris", "Bergen"),
    ],
    tools=[TOOL],
)
FORM = {
    "type": "object",
    "properties": PROPERTIES,
    "required": list(PROPERTIES),
    "additionalProperties": False,
}
# 64 by 64 pixels, all of them red.
RED = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAAA1BMVEX/AAAZ4gk3AAAAD0lEQVR42mNgGAWj"
    "gHwAAAJAAAHgTR1EAAAAAElFTkSuQmCC"
)


def chat(
    evidence: Evidence,
    request: Request,
    tokens: int = 1,
    *,
    usage: bool = False,
    max_tokens_field: str | None = None,
) -> Asked:
    """A request for an answer of at most so many tokens, in the way this server is asked."""
    dialect = evidence.dialect
    encoder = Encoder(
        include_usage=usage and dialect.usage, max_tokens_field=max_tokens_field or dialect.max_tokens_field
    )
    request = request.replace(model=request.model or evidence.model, max_tokens=tokens)
    return Asked(path=dialect.path, body=bytes(encoder.encode(request)), tokens=tokens)


def asks(request: Request, tokens: int = 1, *, usage: bool = False) -> Always:
    """What sends this request."""
    return lambda evidence: chat(evidence, request, tokens, usage=usage)


# How the server is asked


def models(_: Evidence) -> Asked:
    """The listing."""
    return Asked(method="GET", path=MODELS_PATH)


def bare(evidence: Evidence) -> Asked:
    """The least that can be asked."""
    return chat(evidence, SAY_YES, max_tokens_field=MAX_TOKENS)


def elsewhere(evidence: Evidence) -> Asked | None:
    """The same at the path without /v1, when nothing is at the usual one."""
    if not evidence.not_there("bare"):
        return None
    return msgspec.structs.replace(bare(evidence), path=OTHER_PATH)


def completion(evidence: Evidence) -> Asked:
    """The least, with the limit's newer name."""
    return chat(evidence, SAY_YES, max_tokens_field=COMPLETION_TOKENS)


plain = asks(TALK, TALK_TOKENS, usage=True)
"""An answer of some length, with token counts."""


def lean(evidence: Evidence) -> Asked | None:
    """The same without ``stream_options``, when that was rejected."""
    return chat(evidence, TALK, TALK_TOKENS) if evidence.rejected("plain") else None


# What it takes

stop = asks(TALK.replace(stop=[STOP]), SHORT_TOKENS)
result = asks(TOLD, SHORT_TOKENS)


def auto(evidence: Evidence) -> Asked:
    """A question for two cities' weather, and a tool that knows it."""
    return chat(evidence, WITH_ROUNDS if evidence.streamed("result") else TWO_CITIES, CALL_TOKENS)


def several(evidence: Evidence) -> Asked | None:
    """The same behind answers of two calls; unless two came already, or earlier calls are not taken."""
    auto = evidence.get("auto")
    needed = auto is not None and len(auto.reading.calls) < 2 and evidence.streamed("result")
    return chat(evidence, AT_ONCE, CALL_TOKENS) if needed else None


def needless(choice: ToolChoice | Literal["auto", "required"]) -> Always:
    """What the tool is not for, with this choice of tools."""
    return asks(NEEDLESS.replace(tool_choice=choice), CALL_TOKENS)


unforced, required, named = needless("auto"), needless("required"), needless(ToolChoice.tool(WEATHER))
system = asks(
    Request(system=f"Whatever you are asked, answer with the word {WORD} alone.", messages="Hello!"),
    SHORT_TOKENS,
)
image = asks(
    Request(messages=[user("Which colour is this? Answer in one word.", Image.from_bytes(RED, "image/png"))]),
    SHORT_TOKENS,
)
# The API's documents want the word JSON in a message.
as_json = asks(Request(messages="Name a river, as a JSON object.", response_format="json"), JSON_TOKENS)
# The message says nothing of JSON here: an answer of this form is the server's doing, and not the model's.
as_schema = asks(Request(messages="Name a river.", response_format=Schema("river", FORM)), JSON_TOKENS)
as_strict = asks(
    Request(messages="Name a river.", response_format=Schema("river", FORM, strict=True)), JSON_TOKENS
)
unknown = asks(SAY_YES.replace(extra={"svir_unknown_field": True}))
logprobs = asks(SAY_YES.replace(extra={"logprobs": True, "top_logprobs": 1}), 2)


def effort(word: str) -> Build:
    """A request with this word for the effort."""
    return asks(SAY_YES.replace(extra={"reasoning_effort": word}))


# How it fails


unknown_model = asks(SAY_YES.replace(model="svir-no-such-model"))


def bad_json(evidence: Evidence) -> Asked:
    """A body that breaks off."""
    asked = chat(evidence, SAY_YES)
    return msgspec.structs.replace(asked, body=(asked.body or b"")[:-2], tokens=0)


def wrong_key(evidence: Evidence) -> Asked:
    """A key that was made up."""
    return msgspec.structs.replace(chat(evidence, SAY_YES), wrong_key=True)


def overflow(evidence: Evidence) -> Asked | None:
    """A prompt that is longer than the context, where that can be had for nothing.

    A server that knows its context rejects it unread. Where nobody says how long the context is, the prompt
    has a length that costs next to nothing should it be read after all; a very long context is left alone.
    """
    size = evidence.overflow_letters
    if size is None:
        return None
    prompt = " ".join(islice(cycle(ascii_lowercase), size))
    return chat(evidence, Request(messages=prompt), usage=True)


# How it is left

short = asks(SAY_YES)
long = asks(LONG, LONG_TOKENS)
