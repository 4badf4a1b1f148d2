"""svir: the wire protocol between an application and a language-model server.

The names of everyday use are here, and resolve when they are first used (PEP 562): importing svir opens no
file, reads no environment variable and starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.client import *
    from svir.codec import Limits as Limits
    from svir.codec import Mode as Mode
    from svir.codec import Think as Think
    from svir.errors import *
    from svir.exchange import Compatibility as Compatibility
    from svir.exchange import Learned as Learned
    from svir.tools import *
    from svir.types import *

__version__ = "0.1.0"

__all__ = [
    "AnswerError",
    "AsyncClient",
    "AsyncCompletions",
    "AsyncNext",
    "AsyncRawStream",
    "AsyncStream",
    "AsyncToolbox",
    "AttachmentError",
    "AuthenticationError",
    "BytesSource",
    "Client",
    "Compatibility",
    "Completed",
    "Completion",
    "Completions",
    "ConfigError",
    "ContentFilterError",
    "ContextOverflowError",
    "Detail",
    "Effort",
    "Error",
    "ErrorKind",
    "Event",
    "FinishReason",
    "Image",
    "Injected",
    "Learned",
    "Limits",
    "Message",
    "Mode",
    "ModelInfo",
    "Next",
    "Offers",
    "Part",
    "Partial",
    "PathSource",
    "Place",
    "ProtocolError",
    "RateLimitError",
    "RawStream",
    "Reasoning",
    "ReasoningDelta",
    "ReasoningSource",
    "Request",
    "RequestTimeoutError",
    "ResponseFormat",
    "ResponseLimitError",
    "Role",
    "Schema",
    "ServerError",
    "Source",
    "Stream",
    "Text",
    "TextDelta",
    "TextFile",
    "Think",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolChoice",
    "ToolResult",
    "Toolbox",
    "Tools",
    "TransportError",
    "TruncatedStreamError",
    "Turn",
    "UnsupportedError",
    "UrlSource",
    "Usage",
    "assistant",
    "from_dict",
    "to_dict",
    "user",
]

_PARTS = ("errors", "types", "codec", "exchange", "client", "tools")
"""Where the names live; each part is loaded only when no part before it has the name."""


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        for part in _PARTS:
            module = import_module(f"svir.{part}")
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'svir' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
