"""What is said: frozen, serializable values, the same for every wire API."""

from __future__ import annotations

from svir.types._attachment import BytesSource, Detail, Image, PathSource, Source, TextFile, UrlSource
from svir.types._message import (
    Message,
    Part,
    Reasoning,
    ReasoningSource,
    Role,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from svir.types._request import Effort, Request, ResponseFormat, Schema, ToolChoice, Turn
from svir.types._response import (
    Completed,
    Completion,
    Event,
    FinishReason,
    ModelInfo,
    ReasoningDelta,
    TextDelta,
    Timing,
    ToolCallDelta,
    Usage,
)
from svir.types._tool import Offers, Tool

__all__ = [
    "BytesSource",
    "Completed",
    "Completion",
    "Detail",
    "Effort",
    "Event",
    "FinishReason",
    "Image",
    "Message",
    "ModelInfo",
    "Offers",
    "Part",
    "PathSource",
    "Reasoning",
    "ReasoningDelta",
    "ReasoningSource",
    "Request",
    "ResponseFormat",
    "Role",
    "Schema",
    "Source",
    "Text",
    "TextDelta",
    "TextFile",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolChoice",
    "ToolResult",
    "Turn",
    "UrlSource",
    "Usage",
    "assistant",
    "user",
]
