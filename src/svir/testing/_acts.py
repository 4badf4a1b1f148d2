"""What a server does to answer, as data: performed on a socket by the one, on a parser by the other."""

from __future__ import annotations

import msgspec

__all__ = ["Act", "Cut", "Pause", "Send", "Stall"]


class Send(msgspec.Struct, frozen=True):
    """Send bytes of the response, as they go over the wire."""

    data: bytes


class Pause(msgspec.Struct, frozen=True):
    """Wait, then go on."""

    seconds: float


class Stall(msgspec.Struct, frozen=True):
    """Do nothing more until the other side ends the connection."""


class Cut(msgspec.Struct, frozen=True):
    """End the connection: in an orderly way (FIN), or by a reset (RST)."""

    reset: bool = False


Act = Send | Pause | Stall | Cut
