"""How it travels: the seam to HTTP, and the backends behind it.

``Backend`` and ``AsyncBackend`` are all that svir asks of HTTP; ``Http11Backend`` and ``AsyncHttp11Backend``
are the built-in ones: HTTP/1.1 over h11, with svir's own sockets and list of idle connections. Nothing here
knows a wire API.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.http._aiohttp import AiohttpBackend
    from svir.http._builtin import AsyncHttp11Backend, Http11Backend
    from svir.http._httpx2 import AsyncHttpx2Backend, Httpx2Backend
    from svir.http._seam import (
        Abort,
        AsyncBackend,
        AsyncHttpResponse,
        Backend,
        Headers,
        HttpRequest,
        HttpResponse,
        Origin,
        Secret,
    )

__all__ = [
    "Abort",
    "AiohttpBackend",
    "AsyncBackend",
    "AsyncHttp11Backend",
    "AsyncHttpResponse",
    "AsyncHttpx2Backend",
    "Backend",
    "Headers",
    "Http11Backend",
    "HttpRequest",
    "HttpResponse",
    "Httpx2Backend",
    "Origin",
    "Secret",
]

_WHERE = {
    "AiohttpBackend": "_aiohttp",
    "AsyncHttp11Backend": "_builtin",
    "AsyncHttpx2Backend": "_httpx2",
    "Http11Backend": "_builtin",
    "Httpx2Backend": "_httpx2",
}
"""Where a name is; the others are the seam's."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"svir.http.{_WHERE.get(name, '_seam')}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
