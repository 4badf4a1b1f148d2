"""How an answer is read: what every wire API's decoder can be told."""

from __future__ import annotations

from typing import Literal

from svir.errors import ConfigError
from svir.types._value import Value, check

__all__ = ["Limits", "Mode", "Think", "check_mode", "check_think"]

Mode = Literal["strict", "lenient"]
"""``strict`` refuses what the protocol does not know; ``lenient`` skips it where that is safe (P8)."""

Think = Literal["split", "keep"]
"""``split`` takes ``<think>...</think>`` out of the text as reasoning; ``keep`` leaves it there (D23)."""


class Limits(Value, frozen=True, kw_only=True):
    """What one answer may cost, in both modes.

    Args:
        wire_bytes: Bytes of the whole stream; 64 MiB, about a quarter of a million tokens (D32).
        event_bytes: Bytes of one event; 256 KiB.
        tool_calls: Calls in one answer; 64.

    Raises:
        svir.ConfigError: A limit is less than 1.
    """

    wire_bytes: int = 64 * 1024 * 1024
    event_bytes: int = 256 * 1024
    tool_calls: int = 64

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            check(value, int, f"Limits.{name}")
            if value < 1:
                raise ConfigError(f"Limits.{name} must be at least 1")


def check_mode(mode: str) -> None:
    """Raises ``ConfigError`` for a word that is no mode."""
    if mode not in {"strict", "lenient"}:
        raise ConfigError("mode must be strict or lenient")


def check_think(think: str) -> None:
    """Raises ``ConfigError`` for a word that says nothing about think tags."""
    if think not in {"split", "keep"}:
        raise ConfigError("think must be split or keep")
