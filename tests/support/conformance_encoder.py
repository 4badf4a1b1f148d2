"""Encoder cases: the notation of the conformance suite into svir's values, and back."""

from __future__ import annotations

from svir import (
    Error,
    Image,
    Message,
    Reasoning,
    Request,
    Schema,
    Text,
    TextFile,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from svir.openai.chat import Encoder
from svir.openai.chat._encoder import OPTIONAL_FIELDS
from svir.types import BytesSource, PathSource, UrlSource

# Names in the notation -> names of the request, where a value needs no translation.
SAME = {"max_tokens": "max_tokens", "temperature": "temperature", "reasoning_effort": "effort"}
SAME |= {name: name for name in ("include_usage", "top_p", "stop", "seed", "parallel_tool_calls", "extra")}


class EncoderPart:
    """The adapter's ``encode``."""

    def encode(self, request, attachments, options, between):
        omit = OPTIONAL_FIELDS if options.get("lean") else ()
        encoder = Encoder(
            omit=omit,
            context_tokens=options.get("context_tokens"),
            max_tokens_field=options.get("max_tokens_field", "max_tokens"),
            **({"block_bytes": size} if (size := options.get("block_bytes")) else {}),
        )
        try:
            said = request_of(request, attachments, send_reasoning=options.get("send_reasoning", False))
            body = encoder.encode(said)
            between()
            return {"length": len(body), "body": bytes(body), "again": bytes(body)}
        except Error as error:
            return {"error": error.kind, "detail": str(error)}


def request_of(request, attachments=None, *, send_reasoning=False):
    """A request in the notation as a ``Request``."""
    messages = list(request["messages"])
    system = messages.pop(0)["parts"][0]["text"] if messages and messages[0]["role"] == "system" else None
    fields = {name: request[key] for key, name in SAME.items() if key in request}
    if "tools" in request:
        fields["tools"] = [Tool(**tool) for tool in request["tools"]]
    if isinstance(choice := request.get("tool_choice", "auto"), dict):
        choice = ToolChoice.tool(choice["tool"])
    if isinstance(answer := request.get("response_format", "text"), dict):
        answer = Schema(**answer["schema"])
    return Request(
        request["model"],
        messages=[Message(m["role"], [part_of(p, attachments or {}) for p in m["parts"]]) for m in messages],
        system=system,
        tool_choice=choice,
        response_format=answer,
        send_reasoning=send_reasoning,
        **fields,
    )


def part_of(part, attachments):
    ((kind, value),) = part.items()
    match kind:
        case "text":
            return Text(value)
        case "image":
            given = attachments[value]
            return Image(_source(given), media_type=given.get("media_type"), detail=given.get("detail"))
        case "file":
            given = attachments[value]
            return TextFile(_source(given), name=given.get("name"), escaped_len=given.get("escaped_len"))
        case "reasoning":
            return Reasoning(**value)
        case "tool_call":
            return ToolCall(**value)
        case "tool_result":
            return ToolResult(**value)
    raise ValueError(f"no part is called {kind}")


def _source(given):
    for key, kind in {"url": UrlSource, "bytes": BytesSource, "path": PathSource}.items():
        if key in given:
            return kind(given[key])
    raise ValueError("an attachment without a source")
