"""Values of a program's own as JSON text, or an error: never as something else than they are."""

from __future__ import annotations

import math
import re
from typing import Any, cast

import msgspec

from svir.types._models import is_model

__all__ = ["UnwritableError", "json_text"]

DOUBTFUL = re.compile("null|NaN|Infinity")
"""What msgspec and pydantic write for a number that is not finite, and for much else."""


class UnwritableError(TypeError):
    """Names what JSON has nothing for."""


def json_text(value: object) -> str:
    """A value as JSON text; models write themselves.

    Raises:
        UnwritableError: It is or holds something that JSON has nothing for.
        Exception: Any, of the code of the value's own type.
    """
    text = _written(value) or msgspec.json.encode(value, enc_hook=_inside).decode()
    if DOUBTFUL.search(text) is not None:
        import json  # it reads what is nearly JSON, too; rarely needed

        if _lost(msgspec.to_builtins(value, str_keys=True, enc_hook=_meant), json.loads(text)):
            raise UnwritableError("number that is not finite")
    return text


def _written(value: object) -> str:
    """What a model writes of itself, and nothing for what is no model."""
    if is_model(type(value)) and hasattr(value, "model_dump_json"):
        return cast("str", cast("Any", value).model_dump_json())
    return ""


def _inside(value: object) -> object:
    """What msgspec cannot write itself: a model inside something else."""
    if text := _written(value):
        return msgspec.Raw(text.encode())
    raise UnwritableError(type(value).__name__)


def _meant(value: object) -> object:
    """The same with its numbers as they are."""
    if isinstance(value, msgspec.Raw):
        import json

        return json.loads(bytes(value))
    return cast("Any", value).model_dump(mode="json")


def _lost(meant: object, said: object) -> bool:
    """Whether a number that is not finite was written as something else than its name (S54)."""
    if isinstance(meant, float):
        return not math.isfinite(meant) and not isinstance(said, str)
    if isinstance(meant, dict) and isinstance(said, dict):
        pairs = zip(cast("Any", meant).values(), cast("Any", said).values(), strict=False)
    elif isinstance(meant, (list, tuple)) and isinstance(said, list):
        pairs = zip(cast("Any", meant), cast("Any", said), strict=False)
    else:
        return False
    return any(_lost(one, other) for one, other in pairs)
