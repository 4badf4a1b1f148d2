"""The registry: functions as tools, built explicitly, never a hidden one of the process (D18)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar, overload

from svir.errors import ConfigError
from svir.tools._arguments import Unfit, clipped
from svir.tools._many import answer_all, calls_of, in_thread
from svir.tools._result import failed, refused, written
from svir.tools._signature import described, with_tool
from svir.types import Tool, ToolCall, ToolResult
from svir.types._value import check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from svir.tools._handler import Handler
    from svir.types import Completion

__all__ = ["Tools"]

F = TypeVar("F", bound="Callable[..., object]")

LONGEST_NAME = 64


class Tools:
    """A set of functions that a model may call; a ``Toolbox`` and an ``AsyncToolbox``.

    A function's signature, hints and docstring are its description. A call's arguments are converted to the
    parameters' types first; what does not fit never reaches the function. What the model did wrong, and what
    a function raises (an ``Exception``), becomes a result with ``is_error`` for the model; a
    ``KeyboardInterrupt``, a ``SystemExit`` and a cancellation go through.

    Args:
        functions: Added in this order, as ``add`` does.
        lax: Also read numbers, booleans and null that came as strings (``"5"`` for an int).
        threads: Run plain functions in worker threads under ``acall`` and ``acall_all``; otherwise they run
            where they are called, and hold the event loop up for as long as they take.

    Raises:
        svir.ConfigError: A function cannot be described; the parameter is named.

    Example:
        >>> from svir import ToolCall, Tools
        >>> tools = Tools()
        >>> @tools.add
        ... def area(width: int, height: int = 1) -> int:
        ...     '''The area of a rectangle.'''
        ...     return width * height
        >>> tools.tools()[0].description
        'The area of a rectangle.'
        >>> tools.call(ToolCall("1", "area", '{"width": 6, "height": 7}'))
        ToolResult(call_id='1', content='42')
        >>> tools.call(ToolCall("2", "area", '{"width": "six"}')).content
        'invalid arguments: width: expected int, got str'
    """

    def __init__(self, *functions: Callable[..., object], lax: bool = False, threads: bool = False) -> None:
        self._handlers: dict[str, Handler] = {}
        self._lax = lax
        self._threads = threads
        for function in functions:
            self._add(function, None, None)

    def __repr__(self) -> str:
        return f"Tools({', '.join(self._handlers)})"

    @overload
    def add(self, function: F, /, *, name: str | None = None, description: str | None = None) -> F: ...
    @overload
    def add(self, /, *, name: str | None = None, description: str | None = None) -> Callable[[F], F]: ...
    def add(
        self, function: F | None = None, /, *, name: str | None = None, description: str | None = None
    ) -> F | Callable[[F], F]:
        """Adds a function, which comes back unchanged; a decorator, with or without arguments.

        A name that is there already is replaced.

        Args:
            function: A function or method, ``def`` or ``async def``, with every parameter annotated.
            name: What the model calls it by; the function's own name when left out.
            description: What it does, for the model; the docstring's when left out.

        Raises:
            svir.ConfigError: The function cannot be described; the parameter is named.
            TypeError: It is no function.
        """
        if function is None:
            return lambda decorated: self._add(decorated, name, description)
        return self._add(function, name, description)

    def _add(self, function: F, name: str | None, description: str | None) -> F:
        handler = described(function, name=name, description=description, lax=self._lax)
        self._handlers[handler.tool.name] = handler
        return function

    def add_tool(self, tool: Tool, handler: Callable[..., object]) -> None:
        """Adds a tool with a schema of its own, and what answers its calls.

        Args:
            tool: What the model is told, as it is.
            handler: Takes the arguments as its one parameter (beside injected ones): converted to its
                annotation, or a ``dict`` without one. The schema itself is not checked.

        Raises:
            svir.ConfigError: The handler takes other parameters, or a type that cannot be read.
            TypeError: The handler is no function.

        Example:
            >>> from svir import Tool, ToolCall, Tools
            >>> tools = Tools()
            >>> tools.add_tool(Tool("echo", "Says it again."), lambda arguments: arguments)
            >>> tools.call(ToolCall("1", "echo", '{"a": 1}')).content
            '{"a":1}'
        """
        check(tool, Tool, "tool")
        self._handlers[tool.name] = with_tool(tool, handler, lax=self._lax)

    def tools(self) -> tuple[Tool, ...]:
        """The tools in the order they were added: ``Request(tools=tools)`` asks for them."""
        return tuple(handler.tool for handler in self._handlers.values())

    def call(self, call: ToolCall, /, **injected: object) -> ToolResult:
        """Answers one call.

        Args:
            call: What the model asked for.
            injected: Values of the ``Injected`` parameters of all the tools, by name.

        Raises:
            TypeError: An injected value is missing, or none of the tools takes it. Checked against the whole
                set, so that it does not depend on what a model calls.
            svir.ConfigError: The function is asynchronous: use ``acall``.
        """
        return self.call_all((call,), **injected)[0]

    def call_all(
        self, calls: Completion | Iterable[ToolCall], /, **injected: object
    ) -> tuple[ToolResult, ...]:
        """Answers calls, or those of an answer, one after the other, in their order; as ``call``.

        Example:
            >>> from svir import Request, ToolCall, Tools
            >>> from svir.testing import MockServer, Reply
            >>> def weather(city: str) -> str:
            ...     return f"Sunny in {city}."
            >>> tools = Tools(weather)
            >>> replies = [Reply(calls=[ToolCall("1", "weather", '{"city": "Oslo"}')]), "Take sunglasses."]
            >>> with MockServer(replies) as server:
            ...     client, request = server.client(), Request(messages="What to pack?", tools=tools)
            ...     while (answer := client.complete(request)).calls:
            ...         request = request.with_turns(answer, *tools.call_all(answer))
            >>> answer.text
            'Take sunglasses.'
        """
        asked = calls_of(calls)
        self._check_injected(injected)
        for call in asked:
            handler = self._handlers.get(call.name)
            if handler is not None and handler.asynchronous:
                raise _asynchronous(call.name)
        return tuple([self._call(call, injected) for call in asked])

    async def acall(self, call: ToolCall, /, **injected: object) -> ToolResult:
        """Answers one call, under asyncio or trio; as ``call``, for functions of both kinds."""
        check(call, ToolCall, "a call")
        self._check_injected(injected)
        return await self._acall(call, injected)

    async def acall_all(
        self, calls: Completion | Iterable[ToolCall], /, *, concurrency: int = 1, **injected: object
    ) -> tuple[ToolResult, ...]:
        """Answers calls, or those of an answer, at most ``concurrency`` at once.

        The calls begin in their order, and the results are in it. When the task is cancelled, or a function
        raises what is no ``Exception``, the other calls are cancelled and have ended before this does.
        Threads (see ``threads``) cannot be cancelled: trio waits for them, asyncio leaves them to end.

        Raises:
            TypeError: As ``call``.
            svir.ConfigError: ``concurrency`` is below 1.
        """
        asked = calls_of(calls)
        self._check_injected(injected)

        async def answer(call: ToolCall) -> ToolResult:
            return await self._acall(call, injected)

        return await answer_all(asked, answer, concurrency)

    def _check_injected(self, injected: Mapping[str, object]) -> None:
        asked: dict[str, bool] = {}
        for handler in self._handlers.values():
            for name, required in handler.injected.items():
                asked[name] = required or asked.get(name, False)
        if missing := [name for name, required in asked.items() if required and name not in injected]:
            raise TypeError(f"the tools need {', '.join(f'{name}=' for name in missing)}")
        if others := injected.keys() - asked.keys():
            raise TypeError(f"no tool takes {', '.join(f'{name}=' for name in sorted(others))}")

    def _prepared(
        self, call: ToolCall, injected: Mapping[str, object]
    ) -> tuple[Handler, Callable[[], object]] | ToolResult:
        """The handler and its call, or the result when there is none to make."""
        handler = self._handlers.get(call.name)
        if handler is None:
            return refused(call, f"no tool named {clipped(call.name, LONGEST_NAME)}")
        try:
            return handler, handler.prepared(call.arguments, injected)
        except Unfit as problem:
            return refused(call, str(problem))

    def _call(self, call: ToolCall, injected: Mapping[str, object]) -> ToolResult:
        prepared = self._prepared(call, injected)
        if isinstance(prepared, ToolResult):
            return prepared
        _, run = prepared
        try:
            value = run()
        except Exception as error:  # noqa: BLE001 (a tool may fail in any way; the model is told)
            return failed(call, call.name, error)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise _asynchronous(call.name)
        return written(call, call.name, value)

    async def _acall(self, call: ToolCall, injected: Mapping[str, object]) -> ToolResult:
        prepared = self._prepared(call, injected)
        if isinstance(prepared, ToolResult):
            return prepared
        handler, run = prepared
        try:
            if self._threads and not handler.asynchronous:
                kept = _Run(run)
                await in_thread(kept)
                value = kept.result()
            else:
                value = run()
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:  # noqa: BLE001 (a tool may fail in any way; the model is told)
            return failed(call, call.name, error)
        return written(call, call.name, value)


class _Run:
    """Runs a function in a thread and keeps what came of it.

    Neither every result nor every exception may cross a thread's future: trio wants no coroutine, and asyncio
    no ``StopIteration``.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._error: Exception | None = None
        self._value: object = None

    def __call__(self) -> None:
        try:
            self._value = self._function()
        except Exception as error:  # noqa: BLE001 (raised again by result)
            self._error = error

    def result(self) -> object:
        """What the function returned; raises what it raised."""
        error, self._error = self._error, None
        if error is None:
            return self._value
        try:
            raise error
        finally:
            del error


def _asynchronous(name: str) -> ConfigError:
    return ConfigError(f"tool {name} is asynchronous: answer its calls with acall or acall_all")
