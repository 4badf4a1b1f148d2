"""What a call asks of the world, as data.

The exchange and the layers are generators typed ``Steps[T]``: they yield a step and are given its answer, or
have its exception raised at the ``yield``; what they return is ``T``. A driver performs the steps with a
backend, blocking or not, and decides nothing. So the order of waits is written once, and tested without a
socket, a clock or an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from svir.http._seam import AsyncHttpResponse, HttpRequest, HttpResponse

if TYPE_CHECKING:
    from svir.types import Request

__all__ = ["AnyResponse", "Call", "Close", "Read", "Run", "Send", "Sleep", "Step", "Steps"]

T = TypeVar("T")

AnyResponse = HttpResponse | AsyncHttpResponse
"""A response of either colour: the steps hand it on, and only a driver reads it."""


class Send(msgspec.Struct, frozen=True):
    """Send a request and wait for the head; the answer is the response. Limits as in ``Backend.send``."""

    request: HttpRequest
    connect: float | None
    read: float | None
    total: float | None


class Read(msgspec.Struct, frozen=True):
    """Read from a response; the answer is bytes, empty at the end."""

    response: AnyResponse
    timeout: float | None


class Close(msgspec.Struct, frozen=True):
    """Close a response."""

    response: AnyResponse


class Sleep(msgspec.Struct, frozen=True):
    """Wait."""

    seconds: float


class Call(msgspec.Struct, frozen=True):
    """Call something that may block, or is the caller's; the answer is its result, awaited if need be.

    After ``timeout`` seconds the asynchronous face raises ``RequestTimeoutError``; the blocking face cannot.
    """

    function: Callable[[], Any]
    timeout: float | None = None


class Run(msgspec.Struct, frozen=True):
    """Run a caller's own layer, a plain or an ``async`` function; the answer is the reply it returned.

    ``rest`` makes the steps of what lies below it.
    """

    layer: Callable[..., Any]
    request: Request
    rest: Callable[[Request], Generator[Any, Any, Any]]
    server: Any


Step = Send | Read | Close | Sleep | Call | Run
Steps: TypeAlias = Generator[Step, Any, T]
"""What is to be done outside, a step after the other, and in the end a ``T``; outcomes are sent in."""
