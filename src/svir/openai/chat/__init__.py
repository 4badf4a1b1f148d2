"""OpenAI-compatible Chat Completions: the codec alone, for a transport of one's own or a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svir.openai.chat._api import API as API
    from svir.openai.chat._decoder import Decoder as Decoder
    from svir.openai.chat._encoder import Encoder as Encoder

_WHERE = {"API": "_api", "Decoder": "_decoder", "Encoder": "_encoder"}

__all__ = ["API", "Decoder", "Encoder"]


def __getattr__(name: str) -> object:
    if (module := _WHERE.get(name)) is None:
        raise AttributeError(f"module 'svir.openai.chat' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"svir.openai.chat.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
