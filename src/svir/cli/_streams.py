"""The standard streams as a process is given them: one or the other may be closed."""

from __future__ import annotations

import os
import sys

__all__ = ["stand"]


def stand() -> bool:
    """Puts nothing in the place of what is closed; whether standard output was open."""
    # Else the next socket or file would get the number of a closed stream.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    there = sys.stdout is not None  # pyright: ignore[reportUnnecessaryComparison]  (after `>&-` it is None)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
    return there
