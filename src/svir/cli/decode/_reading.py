"""How a recording is read: what of the client's options a recorded answer depends on."""

from __future__ import annotations

import msgspec

import svir
from svir.openai.chat import Decoder

__all__ = ["Reading"]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a decoder."""

    lenient: bool = False
    think: svir.Think = "split"
    limits: svir.Limits = svir.Limits()

    @property
    def mode(self) -> svir.Mode:
        """The decoder's mode."""
        return "lenient" if self.lenient else "strict"

    def decoder(self) -> Decoder:
        """A new decoder, for which no time passes: a recording does not tell when its bytes came."""
        return Decoder(self.mode, limits=self.limits, think=self.think, clock=lambda: 0.0)
