"""Reads the listing of models."""

from __future__ import annotations

from svir.codec._fault import Fault
from svir.codec._json import is_array, is_object, parse
from svir.errors import ProtocolError
from svir.types import ModelInfo

__all__ = ["read_models"]


def read_models(body: bytes) -> tuple[ModelInfo, ...]:
    """The models that a listing names, in its order; nothing is filtered (O10).

    Raises:
        svir.ProtocolError: It is no listing.

    Example:
        >>> read_models(b'{"data": [{"id": "small"}]}')
        (ModelInfo(id='small'),)
    """
    models = _models(body)
    if models is None:
        raise ProtocolError("the answer is no list of models")
    return models


def _models(body: bytes) -> tuple[ModelInfo, ...] | None:
    try:
        value = parse(body, strict=False)
    except (ValueError, Fault):
        return None
    data = value.get("data") if is_object(value) else None
    if not is_array(data):
        return None
    models: list[ModelInfo] = []
    for entry in data:
        told = entry if is_object(entry) else {}
        name, key = told.get("name"), told.get("id")
        if not isinstance(key, str):
            return None
        models.append(ModelInfo(key, name if isinstance(name, str) else None))
    return tuple(models)
