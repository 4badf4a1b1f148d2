"""A call's result, from whatever a handler returned or raised into text for a model."""

from __future__ import annotations

from svir.tools._arguments import clipped
from svir.tools._json import UnwritableError, json_text
from svir.types import ToolCall, ToolResult

__all__ = ["failed", "refused", "written"]

LONGEST_MESSAGE = 4096


def refused(call: ToolCall, message: str) -> ToolResult:
    """The result of a call that no handler was called for."""
    return ToolResult(call.id, message, is_error=True)


def failed(call: ToolCall, tool: str, error: Exception) -> ToolResult:
    """The result of a handler that raised: its message, and a log line with the traceback."""
    _warn("the handler of tool %s failed: %s", tool, error)
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 (a broken __str__ is not the model's problem)
        message = ""
    if isinstance(error, KeyError) and message:
        message = f"KeyError: {message}"  # the text is the bare key, which says nothing
    return refused(call, clipped(message or type(error).__name__, LONGEST_MESSAGE))


def written(call: ToolCall, tool: str, value: object) -> ToolResult:
    """The result of a handler that returned: a string as it is, all else as JSON text.

    None is ``null``: some servers refuse an empty content. What cannot be written is an error result.
    """
    try:
        if isinstance(value, str):
            text = str.__str__(value)
            text.encode()
        else:
            text = json_text(value)
    except Exception as error:  # noqa: BLE001 (a value's own code may run)
        _warn("the result of tool %s cannot be written: %s", tool, error)
        what = "valid text" if isinstance(value, str) else f"JSON: it is or holds {_culprit(error, value)}"
    else:
        return ToolResult(call.id, text)
    return refused(call, f"the tool ran, but its result cannot be written as {what}")


def _culprit(error: Exception, value: object) -> str:
    return f"a {error}" if isinstance(error, UnwritableError) else f"an unusable {type(value).__name__}"


def _warn(line: str, tool: str, error: Exception) -> None:
    """Logs a failure, without a word of the arguments in the line."""
    import logging

    logging.getLogger("svir.tools").warning(line, tool, type(error).__name__, exc_info=error)
