"""The `Client.openai(...)` call that fits a server, ready to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.cli.probe._report import Row

__all__ = ["call_for"]

WIDTH = 76


def call_for(
    url: str, model: str, rows: Iterable[Row], *, api_key_env: str | None = None, allow_http: bool = False
) -> str:
    """The call, as Python source.

    Args:
        url: The server.
        model: The model.
        rows: What was found; their options go into it, the first of a name.
        api_key_env: The variable with the key.
        allow_http: Whether plain HTTP goes to another machine.

    Example:
        >>> print(call_for("http://127.0.0.1:1234", "m", []))
        svir.Client.openai('http://127.0.0.1:1234', model='m')
    """
    options = {"model": ascii(model)}
    if api_key_env is not None:
        options["api_key_env"] = ascii(api_key_env)
    if allow_http:
        options["allow_http"] = "True"
    for row in rows:
        for option in row.options:
            name, _, value = option.partition("=")
            options.setdefault(name, value)
    arguments = [ascii(url), *(f"{name}={value}" for name, value in options.items())]
    line = f"svir.Client.openai({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return line
    return "\n".join(["svir.Client.openai(", *(f"    {argument}," for argument in arguments), ")"])
