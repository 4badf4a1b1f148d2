"""Values of every kind: one example each, and hypothesis strategies for all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from svir import (
    Completed,
    Completion,
    Effort,
    FinishReason,
    Image,
    Message,
    ModelInfo,
    Reasoning,
    ReasoningDelta,
    Request,
    Role,
    Schema,
    Text,
    TextDelta,
    TextFile,
    Timing,
    Tool,
    ToolCall,
    ToolCallDelta,
    ToolChoice,
    ToolResult,
    Usage,
)
from svir.types import BytesSource, PathSource, UrlSource

REASONING = Reasoning("reasoning_content", "Two rivers meet.")
CALL = ToolCall("call-1", "lookup", '{"value": 1}')
COMPLETION = Completion(
    FinishReason.TOOL_CALLS,
    "Looking.",
    reasoning=(REASONING,),
    calls=(CALL,),
    usage=Usage(12, 7, 19, 3, 8),
    timing=Timing(120, 480),
    response_id="chatcmpl-1",
    model="qwen3-27b",
    raw_finish="tool_calls",
    request_id="req-1",
    dropped=("reasoning_effort",),
)
TOOL = Tool("lookup", "Looks up.", {"type": "object", "properties": {"value": {"type": "integer"}}})
SCHEMA = Schema("river", {"type": "object"}, strict=True)
USER = Message(
    "user",
    [
        "What changed?",
        Image("before.png", detail="low"),
        Image.from_bytes(b"GIF89a", "image/gif"),
        Image.from_url("https://example.org/a.png"),
        TextFile("notes/diff.patch", escaped_len=12),
        TextFile.from_text("plan.md", "Go."),
    ],
)

# One value of every kind, with every field set.
EXAMPLES = {
    "Text": Text("hi"),
    "Image": Image("before.png", detail="high"),
    "TextFile": TextFile("notes/diff.patch", name="diff", escaped_len=12),
    "Reasoning": REASONING,
    "ToolCall": CALL,
    "ToolResult": ToolResult("call-1", "no such value", is_error=True),
    "PathSource": PathSource("notes/diff.patch"),
    "BytesSource": BytesSource(b"\x00\xff"),
    "UrlSource": UrlSource("https://example.org/a.png"),
    "Message": USER,
    "Tool": TOOL,
    "ToolChoice": ToolChoice("lookup"),
    "Schema": SCHEMA,
    "Request": Request(
        "qwen3-27b",
        messages=[USER, COMPLETION, ToolResult("call-1", "42")],
        system="Be brief.",
        tools=[TOOL],
        tool_choice=ToolChoice("lookup"),
        response_format=SCHEMA,
        max_tokens=100,
        temperature=0.5,
        top_p=0.9,
        stop=["END"],
        seed=7,
        parallel_tool_calls=False,
        effort="none",
        include_usage=False,
        send_reasoning=True,
        extra={"min_p": 0.05},
    ),
    "Usage": COMPLETION.usage,
    "Timing": COMPLETION.timing,
    "Completion": COMPLETION,
    "TextDelta": TextDelta("hi"),
    "ReasoningDelta": ReasoningDelta("think", "hm"),
    "ToolCallDelta": ToolCallDelta(1, "call-1", "look", '{"va'),
    "Completed": Completed(COMPLETION),
    "ModelInfo": ModelInfo("qwen3-27b", "Qwen 3 27B"),
}

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
some = st.none() | text
count = st.integers(0, 2**63)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(text, json_values, max_size=3)
sources = st.sampled_from(["reasoning_content", "reasoning", "think"])

paths = st.builds(PathSource, text)
memory = st.builds(BytesSource, st.binary(max_size=8))
urls = st.builds(UrlSource, text)
images = st.builds(
    Image, paths | memory | urls, media_type=some, detail=st.sampled_from([None, "auto", "low", "high"])
)
files = st.builds(TextFile, paths | memory, name=text, escaped_len=st.none() | count)
texts = st.builds(Text, text)
reasoning = st.builds(Reasoning, sources, text)
calls = st.builds(ToolCall, text, text, text)
results = st.builds(ToolResult, text, text, st.booleans())
parts = st.one_of(texts, images, files, reasoning, calls, results)
messages = st.builds(Message, st.sampled_from(Role), st.lists(parts, max_size=4))
tools = st.builds(Tool, text.filter(bool), text, objects)
choices = st.builds(ToolChoice, text)
schemas = st.builds(
    Schema, st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True), objects, strict=st.booleans()
)
requests = st.builds(
    Request,
    text,
    messages=st.lists(messages, max_size=3),
    system=some,
    tools=st.lists(tools, max_size=2),
    tool_choice=st.sampled_from(["auto", "none", "required"]) | choices,
    response_format=st.sampled_from(["text", "json"]) | schemas,
    max_tokens=st.none() | count,
    temperature=st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 2),
    top_p=st.none() | st.floats(0, 1),
    stop=st.none() | st.lists(text, max_size=2),
    seed=st.none() | st.integers(),
    parallel_tool_calls=st.sampled_from([None, False, True]),
    effort=st.none() | st.sampled_from(Effort),
    include_usage=st.sampled_from([None, False, True]),
    send_reasoning=st.booleans(),
    extra=objects,
)
usages = st.builds(Usage, count, count, st.none() | count, st.none() | count, st.none() | count)
timings = st.builds(Timing, count, count)


@st.composite
def completions(draw):
    """An answer as a decoder makes it: calls to answer, or cut ones when it was cut."""
    finish = draw(st.sampled_from(FinishReason))
    kind = "cut_calls" if finish is FinishReason.LENGTH else "calls"
    return Completion(
        finish,
        draw(text),
        reasoning=tuple(draw(st.lists(reasoning, max_size=2))),
        usage=draw(st.none() | usages),
        timing=draw(st.none() | timings),
        response_id=draw(some),
        model=draw(some),
        raw_finish=draw(some),
        request_id=draw(some),
        dropped=tuple(draw(st.lists(text, max_size=2))),
        **{kind: tuple(draw(st.lists(calls, max_size=2)))},
    )


events = st.one_of(
    st.builds(TextDelta, text),
    st.builds(ReasoningDelta, sources, text),
    st.builds(ToolCallDelta, count, some, some, text),
    st.builds(Completed, completions()),
)
models = st.builds(ModelInfo, text, some)
values = st.one_of(
    parts, paths, memory, urls, messages, tools, choices, schemas, requests, usages, timings, completions(),
    events, models,
)  # fmt: skip
