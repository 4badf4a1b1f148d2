"""How it is written: what every wire API shares. No I/O happens here."""

from __future__ import annotations

from svir.codec._options import Limits, Mode, Think

__all__ = ["Limits", "Mode", "Think"]
