"""What a backend that opens its own connections is told by its maker, checked before anything is loaded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from svir.errors import ConfigError

if TYPE_CHECKING:
    import os
    import ssl

__all__ = ["Settings"]


class Settings:
    """How many connections, and whom to trust.

    Args:
        max_connections: Most connections open at once; None: no limit.
        ca_file: A PEM file of certificate authorities to trust instead of the system's.
        ssl_context: A context to use for TLS as it is.

    Raises:
        svir.ConfigError: Both ``ca_file`` and ``ssl_context`` were given, or ``max_connections`` is under 1.
        TypeError: ``max_connections`` is no int, or ``ssl_context`` no ``ssl.SSLContext``.
    """

    def __init__(
        self,
        *,
        max_connections: int | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        if max_connections is not None and (
            isinstance(max_connections, bool) or not isinstance(max_connections, int)
        ):
            raise TypeError(f"max_connections must be an int or None, not {type(max_connections).__name__}")
        tls = sys.modules.get("ssl")  # loaded by whoever made a context, and slow to load for nothing
        if ssl_context is not None and not (tls and isinstance(ssl_context, tls.SSLContext)):
            raise TypeError(f"ssl_context must be an ssl.SSLContext, not {type(ssl_context).__name__}")
        if max_connections is not None and max_connections < 1:
            raise ConfigError("max_connections must be at least 1, or None for no limit")
        if ca_file is not None and ssl_context is not None:
            raise ConfigError("ca_file and ssl_context exclude each other: load the file into the context")
        self._max_connections = max_connections
        self._ca_file = ca_file
        self._ssl_context = ssl_context

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
