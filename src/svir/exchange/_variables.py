"""S122: names of environment variables, and when a message may repeat one.

Where a name is asked for, a key is given by mistake, and a key is often a valid name (``gsk_AbC123``). So a
name is repeated only when it looks like nothing but a name: words of capital letters, two at least, joined by
underscores, and perhaps a digit at the end.
"""

from __future__ import annotations

import re

from svir.errors import ConfigError

__all__ = ["is_variable", "unset_variable"]

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PLAIN_NAME = re.compile(r"[A-Z]{1,16}(?:_[A-Z]{1,16})+(?:_?[0-9])?")


def is_variable(name: str) -> bool:
    """Whether an environment variable can have this name; it may be a key nevertheless."""
    return VARIABLE.fullmatch(name) is not None


def unset_variable(name: str, option: str) -> ConfigError:
    """What to raise when no variable of this name has a value.

    Args:
        name: What was given as the variable's name.
        option: The option that gave it.

    Example:
        >>> unset_variable("EXAMPLE_KEY", "api_key_env").detail
        'the environment variable EXAMPLE_KEY (api_key_env) is not set'
        >>> unset_variable("gsk_AbC123def456", "api_key_env").detail
        'the environment variable that api_key_env names is not set (the name is not shown: it may be a key)'
    """
    if PLAIN_NAME.fullmatch(name):
        return ConfigError(f"the environment variable {name} ({option}) is not set")
    return ConfigError(
        f"the environment variable that {option} names is not set (the name is not shown: it may be a key)"
    )
