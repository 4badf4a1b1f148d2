"""A tool together with what answers its calls."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from svir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from svir.types import Tool

__all__ = ["Handler", "check_function"]


class Handler:
    """One entry of a registry.

    Args:
        tool: What the model is told.
        function: What is called.
        read: Turns a call's arguments into positional and named ones, or raises ``Unfit``.
        injected: The parameters given by the program; whether each must be.
    """

    def __init__(
        self,
        tool: Tool,
        function: Callable[..., object],
        read: Callable[[str], tuple[tuple[object, ...], dict[str, object]]],
        injected: Mapping[str, bool],
    ) -> None:
        self.tool = tool
        self.function = function
        self.read = read
        self.injected = injected
        self.asynchronous = _asks(inspect.iscoroutinefunction, function)

    def prepared(self, arguments: str, injected: Mapping[str, object]) -> Callable[[], object]:
        """The call of the function, with everything read and nothing run.

        Raises:
            Unfit: The arguments do not fit.
        """
        positional, named = self.read(arguments)
        ours = {name: value for name, value in injected.items() if name in self.injected}
        return lambda: self.function(*positional, **named, **ours)


def check_function(function: Callable[..., object]) -> None:
    """Raises unless calling this once can give one result."""
    if not callable(function):
        raise TypeError(f"a tool must be a function, not {type(function).__name__}")
    if inspect.isclass(function):
        raise ConfigError(f"a tool must be a function, not the class {function.__name__}")
    if _asks(inspect.isgeneratorfunction, function) or _asks(inspect.isasyncgenfunction, function):
        raise ConfigError("a tool must return its result; it cannot be a generator")


def _asks(question: Callable[[Any], bool], function: object) -> bool:
    """Also of a callable object, whose ``__call__`` answers."""
    return question(function) or question(getattr(function, "__call__", None))  # noqa: B004 (the method itself)
