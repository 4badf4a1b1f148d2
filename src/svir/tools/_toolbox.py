"""What a tool set is: it describes tools to a model, and answers one call at a time (D18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from svir.tools._many import answer_all, calls_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from svir.types import Completion, Tool, ToolCall, ToolResult

__all__ = ["AsyncToolbox", "Toolbox"]


class Toolbox(Protocol):
    """Anything that offers tools and answers their calls. ``svir.Tools`` is one; write your own for others.

    Deriving a class from it provides ``call_all``; a class that has all three methods need not.

    Example:
        >>> from svir import Tool, Toolbox, ToolResult
        >>> class Echo(Toolbox):
        ...     def tools(self):
        ...         return (Tool("echo", "Says it again."),)
        ...
        ...     def call(self, call):
        ...         return ToolResult(call.id, call.arguments)
    """

    def tools(self) -> Iterable[Tool]:
        """The tools, as they are described to a model; ``Request(tools=toolbox)`` asks for them."""
        ...

    def call(self, call: ToolCall, /) -> ToolResult:
        """Answers one call.

        What the model did wrong, and what failed, is told to the model in a result with ``is_error``: it can
        try something else. An exception is for what the program did wrong.
        """
        ...

    def call_all(self, calls: Completion | Iterable[ToolCall], /) -> Sequence[ToolResult]:
        """Answers several calls, or those of an answer, one after the other, in their order."""
        return tuple([self.call(call) for call in calls_of(calls)])


class AsyncToolbox(Protocol):
    """The asynchronous counterpart of ``Toolbox``; one class may be both.

    Deriving a class from it provides ``acall_all``.

    Example:
        >>> import asyncio
        >>> from svir import AsyncToolbox, Tool, ToolCall, ToolResult
        >>> class Echo(AsyncToolbox):
        ...     def tools(self):
        ...         return (Tool("echo", "Says it again."),)
        ...
        ...     async def acall(self, call):
        ...         return ToolResult(call.id, call.arguments)
        >>> asyncio.run(Echo().acall_all([ToolCall("1", "echo", "Hi")]))
        (ToolResult(call_id='1', content='Hi'),)
    """

    def tools(self) -> Iterable[Tool]:
        """The tools, as they are described to a model."""
        ...

    async def acall(self, call: ToolCall, /) -> ToolResult:
        """Answers one call; as ``Toolbox.call``. Cancellation goes through."""
        ...

    async def acall_all(
        self, calls: Completion | Iterable[ToolCall], /, *, concurrency: int = 1
    ) -> Sequence[ToolResult]:
        """Answers several calls, or those of an answer, at most ``concurrency`` at once.

        The results are in the order of the calls. When one call raises or the task is cancelled, the others
        are cancelled.
        """
        return await answer_all(calls_of(calls), self.acall, concurrency)
