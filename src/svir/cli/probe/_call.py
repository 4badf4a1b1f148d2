"""The `Client.openai(...)` call that fits a server, ready to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["call_for"]

WIDTH = 76
UNREADABLE = "# svir takes none of its answers for whole, whatever the options."


def call_for(
    url: str,
    model: str,
    follow: Iterable[str] = (),
    *,
    api_key_env: str | None = None,
    allow_http: bool = False,
    unreadable: bool = False,
) -> str:
    """The call, as Python source.

    Args:
        url: The server.
        model: The model.
        follow: Options that follow from what was found; of several with a name the first.
        api_key_env: The variable with the key.
        allow_http: Whether plain HTTP goes to another machine.
        unreadable: Whether svir takes no answer of this server for whole, also with these options.

    Example:
        >>> print(call_for("http://127.0.0.1:1234", "m", ["include_usage=False"]))
        svir.Client.openai('http://127.0.0.1:1234', model='m', include_usage=False)
    """
    options = {"model": ascii(model)}
    if api_key_env is not None:
        options["api_key_env"] = ascii(api_key_env)
    if allow_http:
        options["allow_http"] = "True"
    for option in follow:
        name, _, value = option.partition("=")
        options.setdefault(name, value)
    arguments = [ascii(url), *(f"{name}={value}" for name, value in options.items())]
    line = f"svir.Client.openai({', '.join(arguments)})"
    lines = ["svir.Client.openai(", *(f"    {argument}," for argument in arguments), ")"]
    head = [UNREADABLE] if unreadable else []
    return "\n".join(head + ([line] if len(line) <= WIDTH else lines))
