"""Asking elsewhere when a call fails before its response has started.

1. As with ``Retry`` nothing is replaced once a stream has begun: the caller may have shown a part of it.
2. Limits of the layers outside of this one hold for the second call too, which adds its own client's.
3. The error that comes out is that of the last one asked.
"""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, get_args, runtime_checkable

import msgspec
from msgspec.structs import force_setattr

from svir.errors import ConfigError, Error, ErrorKind
from svir.exchange._steps import Run
from svir.types import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from svir.exchange import Deadlines, Open, Reply, Server, Steps

__all__ = ["Fallback"]

KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)


@runtime_checkable
class AnyClient(Protocol):
    """What this layer needs of a client, of either face."""

    _colour: ClassVar[str]

    def _stream(self, asked: Request, outer: Deadlines) -> Any: ...


class _FallbackHead(msgspec.Struct, frozen=True):
    other: AnyClient | Callable[[Request], Request]


class Fallback(_FallbackHead, frozen=True, kw_only=True):
    """Asks another client, or something else of the same one, when a call fails before its response (D15).

    Args:
        other: Another client of the same face, with its own server, layers and limits; or a function that
            changes the request, which then goes the same way again. A request that names a model names it to
            the other client too: leave it empty to have each client's own.
        on: The kinds of errors that are answered so. By default what may pass, or be otherwise elsewhere:
            ``transport``, ``timeout`` and ``rate_limited`` (also when a quota is used up). A connection that
            this program closed itself is never answered so.

    Raises:
        svir.ConfigError: ``other`` is neither, or ``on`` names no kind; a client of the other face is refused
            when the client that has this layer is built.

    Example:
        >>> import svir
        >>> from svir.layers import Fallback
        >>> small = Fallback(lambda request: request.replace(model="small"), on="context_overflow")
        >>> spare = Fallback(svir.Client.openai("http://127.0.0.1:8081", model="spare"))
        >>> svir.Client.openai("http://127.0.0.1:8080", model="large", layers=[spare, small])
        Client(openai.chat at 127.0.0.1:8080, model='large')
    """

    on: tuple[ErrorKind, ...] = ("transport", "timeout", "rate_limited")

    if TYPE_CHECKING:

        def __init__(
            self,
            other: AnyClient | Callable[[Request], Request],
            *,
            on: ErrorKind | Iterable[ErrorKind] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        other: object = self.other
        plain = callable(other) and not iscoroutinefunction(other)
        if not plain and not isinstance(other, AnyClient):
            raise ConfigError("Fallback takes a client, or a plain function that changes the request")
        on: Iterable[str] = self.on
        kinds = (on,) if isinstance(on, str) else tuple(on)
        for kind in kinds:
            if kind not in KINDS:
                raise ConfigError(f"Fallback.on knows these kinds: {', '.join(KINDS)}")
        force_setattr(self, "on", kinds)

    @property
    def colour(self) -> str | None:
        """The face this layer is bound to: that of the other client, if there is one."""
        return self.other._colour if isinstance(self.other, AnyClient) else None  # noqa: SLF001 (see AnyClient)

    def steps(
        self,
        request: Request,
        next: Open,  # noqa: A002 (as in ``def layer(request, next)``)
        deadlines: Deadlines,
        server: Server,
    ) -> Steps[Reply[Any]]:
        """Opens the call, here or elsewhere; called by a client."""
        try:
            return (yield from next(request, deadlines))
        except Error as error:
            closed_here = error.kind == "transport" and not error.retryable
            if error.kind not in self.on or closed_here:
                raise
        # Outside the handler, so that no later error hangs on this one.
        if not isinstance(self.other, AnyClient):
            changed = self.other(request)
            if not isinstance(changed, Request):
                raise TypeError(f"a fallback's function must return a Request, not {type(changed).__name__}")
            return (yield from next(changed, deadlines))
        reply: Reply[Any] = yield Run(_elsewhere(self.other, deadlines), request, _nowhere, server)
        return reply


def _elsewhere(other: AnyClient, deadlines: Deadlines) -> Callable[..., Any]:
    """A caller's layer, in the other client's colour, that answers with its stream."""

    def layer(request: Request, _: object) -> Any:
        return other._stream(request, deadlines)  # noqa: SLF001 (see AnyClient)

    async def coloured(request: Request, _: object) -> Any:
        return layer(request, _)

    return coloured if other._colour == "async" else layer  # noqa: SLF001


def _nowhere(_: Request) -> Steps[Any]:
    raise AssertionError("a fallback to a client asks nothing of its own")
