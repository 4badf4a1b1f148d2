"""svir: the wire protocol between an application and a language-model server.

The names of everyday use are here, and resolve when they are first used (PEP 562): importing svir opens no
file, reads no environment variable and starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.client import *  # noqa: F403 (the table below is the list)
    from svir.codec import Limits as Limits
    from svir.codec import Mode as Mode
    from svir.codec import Think as Think
    from svir.errors import *  # noqa: F403
    from svir.exchange import Compatibility as Compatibility
    from svir.exchange import Learned as Learned
    from svir.types import *  # noqa: F403

__version__ = "0.1.0"

_ERRORS = (
    "AnswerError",
    "AttachmentError",
    "AuthenticationError",
    "ConfigError",
    "ContentFilterError",
    "ContextOverflowError",
    "Error",
    "ErrorKind",
    "Partial",
    "ProtocolError",
    "RateLimitError",
    "RequestTimeoutError",
    "ResponseLimitError",
    "ServerError",
    "TransportError",
    "TruncatedStreamError",
    "UnsupportedError",
)
_CLIENT = (
    "AsyncClient",
    "AsyncNext",
    "AsyncRawStream",
    "AsyncStream",
    "Client",
    "Next",
    "RawStream",
    "Stream",
)
_TYPES = (
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
)
# Public name -> the module it lives in.
_WHERE = (
    dict.fromkeys(_ERRORS, "svir.errors")
    | dict.fromkeys(_TYPES, "svir.types")
    | dict.fromkeys(_CLIENT, "svir.client")
    | dict.fromkeys(("Compatibility", "Learned"), "svir.exchange")
    | dict.fromkeys(("Limits", "Mode", "Think"), "svir.codec")
)

__all__ = sorted(_WHERE)  # noqa: PLE0605 (one table)


def __getattr__(name: str) -> object:
    if (module := _WHERE.get(name)) is None:
        raise AttributeError(f"module 'svir' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
