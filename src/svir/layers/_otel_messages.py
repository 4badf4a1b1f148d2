"""What was said, as the JSON that OpenTelemetry's conventions have for it. Used only when asked for.

Nothing is read from a disk for this: a file is recorded by its name. What is in memory is recorded whole.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from svir.errors import Error
from svir.types import (
    BytesSource,
    Image,
    PathSource,
    Reasoning,
    Text,
    TextFile,
    ToolCall,
    ToolResult,
    UrlSource,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.layers._report import End
    from svir.types import Completion, Part, Request

__all__ = ["answered_messages", "asked_messages", "conventional_finish"]

Json: TypeAlias = dict[str, Any]

# The conventions' words for how an answer ended, where they are not svir's.
FINISH = {"tool_calls": "tool_call", "refusal": "content_filter"}


def conventional_finish(completion: Completion) -> str:
    """How an answer ended, in the conventions' word."""
    return FINISH.get(completion.finish, completion.finish.value)


def asked_messages(request: Request) -> dict[str, str]:
    """Attributes that hold the request: system prompt, messages and tools."""
    said: dict[str, str] = {}
    if request.system is not None:
        said["gen_ai.system_instructions"] = _json([_text(request.system)])
    said["gen_ai.input.messages"] = _json(
        {"role": message.role.value, "parts": [_part(part) for part in message.parts]}
        for message in request.messages
    )
    if request.tools:
        said["gen_ai.tool.definitions"] = _json(
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
            }
            for tool in request.tools
        )
    return said


def answered_messages(end: End) -> dict[str, str]:
    """Attributes that hold the answer, or what came of it before it failed; empty when nothing did."""
    if end.completion is not None:
        return _output(_of(end.completion), conventional_finish(end.completion))
    partial = end.error.partial if isinstance(end.error, Error) else None
    if partial is None or not (partial.text or partial.reasoning):
        return {}
    reasoning = [{"type": "reasoning", "content": partial.reasoning}] if partial.reasoning else []
    return _output(reasoning + ([_text(partial.text)] if partial.text else []), "error")


def _output(parts: list[Json], finish: str) -> dict[str, str]:
    return {"gen_ai.output.messages": _json([{"role": "assistant", "parts": parts, "finish_reason": finish}])}


def _of(completion: Completion) -> list[Json]:
    """All of an answer, the calls it was cut in as well: they were said."""
    return [
        *map(_part, completion.reasoning),
        *([_text(completion.text)] if completion.text else []),
        *map(_part, completion.calls),
        *map(_part, completion.cut_calls),
    ]


def _text(text: str) -> Json:
    return {"type": "text", "content": text}


def _part(part: Part) -> Json:
    match part:
        case Text():
            return _text(part.text)
        case Reasoning():
            return {"type": "reasoning", "content": part.text}
        case ToolCall():
            return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.arguments}
        case ToolResult():
            return {"type": "tool_call_response", "id": part.call_id, "response": part.content}
        case Image():
            return _attachment(part.source, "image", part.media_type, None)
        case TextFile():
            return _attachment(part.source, "document", "text/plain", part.name)


def _attachment(
    source: PathSource | BytesSource | UrlSource, modality: str, media_type: str | None, name: str | None
) -> Json:
    said: Json = {"modality": modality}
    if media_type is not None:
        said["mime_type"] = media_type
    match source:
        case UrlSource():
            return {"type": "uri", **said, "uri": source.url}
        case BytesSource():
            return {"type": "blob", **said, "content": b64encode(source.data).decode("ascii")}
        case PathSource():
            return {"type": "file", **said, "file_id": name or PurePath(source.path).name}


def _json(items: Iterable[Json]) -> str:
    # ASCII, so that a lone surrogate in a text cannot break an exporter; a schema's odd value is its text.
    return json.dumps(list(items), separators=(",", ":"), default=str)
