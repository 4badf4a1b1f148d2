"""Which library runs this: asked without importing one."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["running_trio"]


def running_trio() -> Any:
    """The module, if this runs under trio; whoever runs under it has imported it."""
    trio = sys.modules.get("trio")
    return trio if trio is not None and trio.lowlevel.in_trio_task() else None
