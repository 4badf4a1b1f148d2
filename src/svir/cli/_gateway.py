"""What goes along with every request, as gateways want it: headers and a query.

1. A value is written on the command line, or it is the name of the environment variable that holds it.
2. S119: a secret comes from a variable, as a key does: a command line is seen by every user of the machine.
   So a name that says that it is a secret takes no written value, and no message ever repeats a value.
3. What a variable holds is hidden wherever a server's words are shown.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from svir.cli._refused import CONFIG, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FORM", "Gateway", "Given", "as_given", "gateway_of"]

FORM = "NAME=VALUE or NAME=env:VARIABLE"
FROM_VARIABLE = "env:"
SECRET_WORDS = frozenset(
    {"apikey", "auth", "authorization", "code", "cookie", "credential", "key", "password", "secret"}
    | {"sig", "signature", "token"}
)
MADE_UP = "svir-probe-wrong-key"
FLAGS = {"headers": "--header", "query": "--query"}
"""The options of a client, and how the command line has them."""


class Given(msgspec.Struct, frozen=True):
    """A header, or a parameter of the query.

    Attributes:
        name: Its name.
        value: Its value; empty when a variable holds it.
        variable: The environment variable that holds the value; empty when it was written.
    """

    name: str
    value: str = ""
    variable: str = ""

    @property
    def source(self) -> str:
        """It as an item of a dict in Python, without the value of a variable."""
        value = f"os.environ[{self.variable!a}]" if self.variable else ascii(self.value)
        return f"{self.name!a}: {value}"


class Gateway(msgspec.Struct, frozen=True, kw_only=True):
    """All that goes along with every request.

    Attributes:
        headers: Added headers.
        query: The parameters of the query.
    """

    headers: tuple[Given, ...] = ()
    query: tuple[Given, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that hold values."""
        return tuple(given.variable for given in (*self.headers, *self.query) if given.variable)

    def options(self, *, made_up: bool = False) -> dict[str, Any]:
        """The options of a client.

        Args:
            made_up: Whether the values of variables are made up, as a wrong key is.

        Raises:
            RefusedError: A variable is not set, or a name was given twice.
        """
        return {name: _values(given, FLAGS[name], made_up=made_up) for name, given in self._told()}

    @property
    def sources(self) -> list[str]:
        """The same as Python to paste, without the values of variables."""
        return [f"{name}={{{', '.join(one.source for one in given)}}}" for name, given in self._told()]

    def _told(self) -> list[tuple[str, tuple[Given, ...]]]:
        return [(name, given) for name in FLAGS if (given := getattr(self, name))]


def gateway_of(headers: Iterable[Given] | None, query: Iterable[Given] | None) -> Gateway:
    """What the two options said, all of them."""
    return Gateway(headers=tuple(headers or ()), query=tuple(query or ()))


def as_given(text: str) -> Given:
    """What one option says.

    Raises:
        ValueError: It is not of the form; the text holds no value.

    Example:
        >>> as_given("api-version=2024-10-21")
        Given(name='api-version', value='2024-10-21', variable='')
        >>> as_given("api-key=env:AZURE_KEY")
        Given(name='api-key', value='', variable='AZURE_KEY')
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"it must be {FORM}")
    if value.startswith(FROM_VARIABLE):
        from svir.exchange import is_variable  # slow to import, and few commands need it

        variable = value.removeprefix(FROM_VARIABLE)
        if not is_variable(variable):
            raise ValueError("after env: comes the name of an environment variable")
        return Given(name, variable=variable)
    if SECRET_WORDS & set(re.split(r"[^a-z0-9]+", name.lower())):
        raise ValueError(
            f"every user of the machine could read this secret: write {name}=env:VARIABLE, and put it there"
        )
    return Given(name, value)


def _values(given: Iterable[Given], option: str, *, made_up: bool) -> dict[str, str]:
    values: dict[str, str] = {}
    for one in given:
        if one.name.lower() in {name.lower() for name in values}:
            raise RefusedError(f"{option} names {one.name} twice", "It can be sent once.")
        if one.variable and not os.environ.get(one.variable):
            from svir.exchange import unset_variable

            problem = unset_variable(one.variable, option).detail
            raise RefusedError(problem, f"Put the value of {one.name} there, and export it.", code=CONFIG)
        held = MADE_UP if made_up else os.environ.get(one.variable, "").strip()
        values[one.name] = held if one.variable else one.value
    return values
