"""The stack of layers around a call: what a layer is.

A layer wraps ``request -> reply``, above the wire API (D15). There are two kinds:

1. A caller's own: a function ``layer(request, next) -> stream``, plain under ``Client``, ``async`` under
   ``AsyncClient``. ``next(request)`` is the rest of the stack, opened; it may be called again, or not at all.
   What the layer returns must be a stream it got from a client or from ``next``.
2. One written as steps, once for both faces: an object with ``steps(request, next, deadlines, server)``,
   which returns steps; ``next(request, deadlines)`` gives those of the rest.

The first layer is the outermost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from svir.errors import ConfigError
from svir.exchange._steps import Run

if TYPE_CHECKING:
    from svir.exchange._deadlines import Deadlines
    from svir.exchange._reply import Reply
    from svir.exchange._steps import Steps
    from svir.types import Request

__all__ = ["Open", "Server", "StepsLayer", "is_async", "stack"]

Open = Callable[["Request", "Deadlines"], "Steps[Reply[Any]]"]
"""Opens a call: what each layer is given, and what the whole stack is."""


class Server(msgspec.Struct, frozen=True):
    """Whom a call goes to, and what else a layer may have to know of the client.

    Attributes:
        host: The server's host.
        port: Its port.
        api: The wire API's name, for example ``openai.chat``.
        model: The client's model, for requests that name none.
        clock: What tells the time of deadlines, in seconds.
    """

    host: str
    port: int
    api: str
    model: str = ""
    clock: Callable[[], float] = time.monotonic


@runtime_checkable
class StepsLayer(Protocol):
    """A layer written as steps, which works under both faces.

    One that is bound to a face after all (it holds a client, say) has a ``colour`` as well: ``sync`` or
    ``async``.

    Example:
        >>> from svir.testing import MockServer
        >>> class Brief:
        ...     def steps(self, request, next, deadlines, server):
        ...         return (yield from next(request.replace(system="Be brief."), deadlines))
        >>> with MockServer(["Because."]) as server:
        ...     server.client(layers=[Brief()]).complete("Why do rivers meander?").text
        'Because.'
        >>> server.requests[0].body["messages"][0]["content"]
        'Be brief.'
    """

    def steps(self, request: Request, next: Open, deadlines: Deadlines, server: Server) -> Steps[Reply[Any]]:  # noqa: A002 (as in ``def layer(request, next)``)
        """Opens the call, by way of ``next``."""
        ...


def stack(layers: Sequence[object], innermost: Open, server: Server, *, colour: str) -> Open:
    """The layers around a call.

    Args:
        layers: The first is the outermost.
        innermost: What opens the call itself.
        server: Whom the call goes to.
        colour: ``sync`` or ``async``: the colour a caller's own layers must have.

    Raises:
        svir.ConfigError: A layer is no function (a class is none), or of the wrong colour.
    """
    rest = innermost
    for layer in reversed(layers):
        rest = _around(layer, rest, server, colour)
    return rest


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives a coroutine: an ``async def``, or an object whose ``__call__`` is one."""
    from inspect import iscoroutinefunction  # slow to import, and most clients need it for nothing

    return iscoroutinefunction(function) or iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004 (the function itself is wanted)


def _around(layer: object, rest: Open, server: Server, colour: str) -> Open:
    if isinstance(layer, type):
        raise ConfigError(f"a layer must be made before it is used: {layer.__name__}(...), not the class")
    maker = getattr(layer, "__self__", None)
    if isinstance(maker, type) and issubclass(maker, StepsLayer):
        name = f"{maker.__name__}.{getattr(layer, '__name__', '')}"
        raise ConfigError(f"a layer must be made before it is used: {name}(...), not the method")
    if isinstance(layer, StepsLayer):
        if getattr(layer, "colour", None) not in {None, colour}:
            face = "AsyncClient" if colour == "async" else "Client"
            raise ConfigError(f"a layer has the wrong colour: {type(layer).__name__} is not for {face}")
        return lambda request, deadlines: layer.steps(request, rest, deadlines, server)
    if not callable(layer):
        raise ConfigError("a layer must be a function: layer(request, next)")
    if is_async(layer) != (colour == "async"):
        wanted = "def under Client" if colour == "sync" else "async def under AsyncClient"
        raise ConfigError(f"a layer has the wrong colour: it must be {wanted}")

    def run(request: Request, deadlines: Deadlines) -> Steps[Reply[Any]]:
        reply: Reply[Any] = yield Run(layer, request, lambda again: rest(again, deadlines), server)
        return reply

    return run
