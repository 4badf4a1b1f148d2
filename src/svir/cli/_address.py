"""Where a server is, and who said so.

1. What was typed counts more than ``SVIR_URL``.
2. An address is shown as it was understood: scheme, host, port and path. One that was not understood is not
   shown, since what is wrong with it may be that it holds a secret: where it stands is said, and no more.
3. S118: two addresses are the same server when scheme, host, port and path are, as a client reads them. Case,
   a default port, slashes at the end and ``/v1`` make no difference; two names of one machine do.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from svir.cli._advice import respell
from svir.cli._refused import RefusedError
from svir.errors import ConfigError

if TYPE_CHECKING:
    from svir.exchange import Settings

__all__ = ["URL", "Address", "address_of"]

URL = "SVIR_URL"
"""The variable with the server's URL."""
BEGIN = "Begin it with http:// or https://, as in http://localhost:1234."
FORM = "It is a server's address, as http://localhost:1234 or https://example.org/v1."


class Address(msgspec.Struct, frozen=True):
    """A server's URL, and where it stands.

    Attributes:
        url: The URL, as it was given.
        source: The option, the argument or the environment variable.
    """

    url: str
    source: str

    def __str__(self) -> str:
        """Where it stands, and what can be shown of it.

        Example:
            >>> print(Address("HTTP://LocalHost:80/v1/", "--url"), Address("http://user:pw@host", "SVIR_URL"))
            --url: http://localhost/v1 SVIR_URL
        """
        try:
            base = _read(self.url).base
        except ConfigError:
            return self.source
        return f"{self.source}: {base.origin.scheme}://{base.origin.authority}{base.path}"

    def require(self, *, allow_http: bool) -> None:
        """Checks it as a client does.

        Raises:
            RefusedError: It is not accepted.
        """
        try:
            _read(self.url, allow_http=allow_http)
        except ConfigError as error:
            problem, advice = respell(error.detail), FORM if "://" in self.url else BEGIN
        else:
            return
        if self.url.strip() != self.url:
            problem, advice = "there is a blank before or after the URL", "Leave it out."
        raise RefusedError(f"{self}: {problem}", advice)

    def same_server(self, other: Address) -> bool:
        """Whether both are one server's."""
        try:
            one, two = _read(self.url).base, _read(other.url).base
        except ConfigError:
            return False
        return (one.origin, one.prefix) == (two.origin, two.prefix)


def address_of(url: str | None, source: str) -> Address | None:
    """The address that was typed, or that of the environment.

    Args:
        url: What was typed, if anything was.
        source: Where that is typed.
    """
    if url is not None:
        return Address(url, source)
    return Address(url, URL) if (url := os.environ.get(URL)) else None


def _read(url: str, *, allow_http: bool = True) -> Settings:
    from svir.exchange import settings_from  # slow to import, and no help needs it

    return settings_from(url, {"allow_http": allow_http}, None)
