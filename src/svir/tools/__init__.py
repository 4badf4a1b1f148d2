"""Tool sets: functions a model may call, and what answers the calls. Opt-in: the core knows nothing of it."""

from __future__ import annotations

from svir.tools._injected import Injected
from svir.tools._toolbox import AsyncToolbox, Toolbox
from svir.tools._tools import Tools

__all__ = ["AsyncToolbox", "Injected", "Toolbox", "Tools"]
