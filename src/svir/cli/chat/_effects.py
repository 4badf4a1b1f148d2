"""What an input leads to: text in, one of these out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import svir

__all__ = ["Ask", "Effect", "ListModels", "Quit", "Tell"]


class Tell(msgspec.Struct, frozen=True):
    """Say these lines; none for an input that is nothing."""

    lines: tuple[str, ...] = ()


class Ask(msgspec.Struct, frozen=True):
    """Send this request, and show the answer."""

    request: svir.Request


class ListModels(msgspec.Struct, frozen=True):
    """Ask the server for its models, and list them."""


class Quit(msgspec.Struct, frozen=True):
    """End the chat."""


Effect = Tell | Ask | ListModels | Quit
