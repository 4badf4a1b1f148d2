"""`svir probe`: what a model server really does, found by asking it."""

from __future__ import annotations

__all__: list[str] = []
