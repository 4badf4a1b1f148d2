"""Where an API key comes from: only from what the caller named (D17).

The one place of the library that reads an environment variable or a key file, and only the one it was told.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from svir.errors import ConfigError
from svir.exchange._settings import AsyncKeyFunction, KeyFunction, as_key
from svir.exchange._stack import is_async
from svir.exchange._variables import is_variable, unset_variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from svir.exchange._settings import Key

__all__ = ["KEY_OPTIONS", "resolve_key"]

KEY_OPTIONS = ("api_key", "api_key_env", "api_key_file")
FILE_BYTES = 4096


def resolve_key(options: Mapping[str, object]) -> Key | None:
    """The key the options name, read now; a callable is kept, and asked for each request.

    Raises:
        svir.ConfigError: More than one source, an unset variable, an unreadable file, or no key in it.
        TypeError: A source has the wrong type.
    """
    named = [name for name in KEY_OPTIONS if options.get(name) is not None]
    if len(named) > 1:
        raise ConfigError(f"only one of {', '.join(named)} may be given")
    if not named:
        return None
    source, value = named[0], options[named[0]]
    if source == "api_key_file":
        return as_key(_read(value))
    if source == "api_key" and callable(value):
        # What it gives is checked each time.
        return AsyncKeyFunction(value) if is_async(value) else KeyFunction(value)
    if not isinstance(value, str):
        raise TypeError(f"{source} has the wrong type: {type(value).__name__}")
    if source == "api_key":
        return as_key(value)
    # What is not a variable's name may be the key itself, given in the wrong place: it is not repeated.
    if not is_variable(value):
        raise ConfigError("api_key_env wants the name of an environment variable, and this is none")
    if not os.environ.get(value):
        raise unset_variable(value, "api_key_env")
    return as_key(os.environ[value])


def _read(path: object) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"api_key_file has the wrong type: {type(path).__name__}")
    from pathlib import Path  # slow to import, and few clients need it

    try:
        with Path(os.fsdecode(cast("str | os.PathLike[str]", path))).open("rb") as file:
            data = file.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "not a path"
    else:
        problem = f"it is over {FILE_BYTES} bytes" if len(data) > FILE_BYTES else ""
        if not problem and data.isascii():
            return data.decode("ascii")
        problem = problem or "it is not ASCII"
    raise ConfigError(f"the key file (api_key_file) cannot be used: {problem}")
