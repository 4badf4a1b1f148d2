"""What is said: frozen, serializable values, the same for every wire API."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from svir.types._serde import from_dict as from_dict
    from svir.types._serde import to_dict as to_dict

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
    "from_dict",
    "to_dict",
    "user",
]


def __getattr__(name: str) -> object:
    """The serialized form is a table as long as the types: it is loaded when it is first used."""
    if name not in {"from_dict", "to_dict"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from svir.types import _serde

    globals()[name] = value = getattr(_serde, name)
    return value
