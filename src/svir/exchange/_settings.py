"""What a client was told, checked once when it is built."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from svir import __version__
from svir.codec._options import Limits, Mode, Think, check_mode, check_think
from svir.errors import ConfigError
from svir.exchange._deadlines import check_seconds
from svir.exchange._headers import RESERVED, TOKEN, checked_headers
from svir.exchange._url import Base, as_query, check_path, parse_base
from svir.http._seam import Headers, HttpRequest, Secret, withheld
from svir.types._value import check, check_count, check_text

if TYPE_CHECKING:
    import os
    import ssl
    from collections.abc import Awaitable

    from svir.body import Body
    from svir.exchange._compat import Compatibility

__all__ = [
    "AsyncKeyFunction",
    "Key",
    "KeyFunction",
    "Options",
    "Settings",
    "as_key",
    "given_key",
    "settings_from",
]

Key = Secret | Callable[[], "str | Awaitable[str]"]
"""An API key, or what gives one for each request."""


class KeyFunction:
    """A caller's function that gives a key; what it is bound to may hold one too, and is not shown (S124)."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def __call__(self) -> Any:
        return self._function()

    def __repr__(self) -> str:
        return "<a function>"


class AsyncKeyFunction(KeyFunction):
    """The same, when calling it gives a coroutine."""

    __slots__ = ()

    async def __call__(self) -> Any:
        return await self._function()


class Options(TypedDict, total=False):
    """The options of a client of either face; see ``svir.Client.openai`` for what they mean."""

    model: str
    api_key: str | Callable[[], str | Awaitable[str]] | None
    api_key_env: str | None
    api_key_file: str | os.PathLike[str] | None
    api_key_header: str
    headers: Mapping[str, str]
    path: str | None
    query: str | Mapping[str, str] | None
    allow_http: bool
    ca_file: str | os.PathLike[str] | None
    ssl_context: ssl.SSLContext | None
    include_usage: bool
    max_tokens_field: str
    mode: Mode
    limits: Limits
    think: Think
    context_tokens: int | None
    connect_timeout: float | None
    idle_timeout: float | None
    timeout: float | None
    max_connections: int | None
    compatibility: Compatibility


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a client that the exchange needs; holds no connection.

    Attributes:
        base: The server's address, taken apart.
        path: The path of requests below it, in place of the wire API's.
        query: The query of every request.
        model: The model of requests that name none.
        key: Gives the key for a request.
        key_header: The header that the key is sent in.
        headers: The caller's headers for every request.
        include_usage: Whether token counts are asked for.
        max_tokens_field: The wire's name for the limit on tokens.
        mode: How strictly answers are read.
        limits: What one answer may cost.
        think: Whether ``<think>`` is split out of the text.
        context_tokens: The context's size, or None.
        connect_timeout: Seconds to connect; None: no limit.
        idle_timeout: Seconds of silence; None: no limit.
        timeout: Seconds for a whole call; None: no limit.
    """

    base: Base
    path: str | None = None
    query: Secret = Secret("")
    model: str = ""
    key: Key | None = None
    key_header: str = "authorization"
    headers: Headers = Headers()
    include_usage: bool = True
    max_tokens_field: str = "max_tokens"
    mode: Mode = "strict"
    limits: Limits = Limits()
    think: Think = "split"
    context_tokens: int | None = None
    connect_timeout: float | None = 10.0
    idle_timeout: float | None = 300.0
    timeout: float | None = None

    def __post_init__(self) -> None:
        check_mode(self.mode)
        check_think(self.think)
        check(self.limits, Limits, "limits")
        check_count(self.context_tokens, "context_tokens")
        check(self.include_usage, bool, "include_usage")
        check_text(self.model, "model")
        check_text(self.max_tokens_field, "max_tokens_field")
        if self.context_tokens == 0 or not self.max_tokens_field:
            raise ConfigError("context_tokens must be at least 1, and max_tokens_field not empty")
        for name in ("connect_timeout", "idle_timeout", "timeout"):
            if (seconds := getattr(self, name)) is not None:
                check_seconds(seconds, name)

    def http_request(
        self,
        method: str,
        api_path: str,
        key: Secret | None,
        body: Body | None = None,
        added: Headers = Headers(),  # noqa: B008 (it is immutable)
    ) -> HttpRequest:
        """The HTTP request with every header svir writes and those the caller added.

        ``api_path`` is the wire API's; a POST goes to the caller's own ``path`` instead, if there is one.
        ``added`` are headers of this one request: they win over the client's of the same name.

        Raises:
            svir.ConfigError: One of ``added`` is the header the key is sent in.
        """
        if key is not None and added.get(self.key_header) is not None:
            raise ConfigError(f"the header {self.key_header} is written by svir and cannot be set")
        fields = [("user-agent", f"svir/{__version__}"), ("accept-encoding", "identity")]
        if body is None:
            fields.append(("accept", "application/json"))
        else:
            fields += [("accept", "text/event-stream"), ("content-type", "application/json")]
        if key is not None:
            bearer = "Bearer " if self.key_header == "authorization" else ""
            fields.append((self.key_header, bearer + key.reveal()))
        own = self.path if body is not None else None
        target = self.base.prefix + api_path if own is None else self.base.path + own
        own_headers = [(name, value) for name, value in self.headers if added.get(name) is None]
        query = self.query.reveal()
        return HttpRequest(
            method=method,
            origin=self.base.origin,
            target=target + (f"?{query}" if query else ""),
            headers=Headers([*fields, *own_headers, *added]),
            body=body,
        )


KEY = re.compile(r"[!-~]+")  # printable ASCII, no blanks

# Options that are settings as they are.
PLAIN = (
    "connect_timeout",
    "context_tokens",
    "idle_timeout",
    "include_usage",
    "limits",
    "max_tokens_field",
    "mode",
    "model",
    "think",
    "timeout",
)


def settings_from(url: str, options: Mapping[str, Any], key: Key | None) -> Settings:
    """Checks the options of a client; those that concern keys and the backend are not for the exchange.

    Raises:
        svir.ConfigError: A value is not accepted; secrets are never in the text.
        TypeError: An option has the wrong type.
    """
    check_text(url, "url")
    allow_http = options.get("allow_http", False)
    check(allow_http, bool, "allow_http")
    key_header = options.get("api_key_header", "authorization")
    check_text(key_header, "api_key_header")
    key_header = key_header.lower()
    if TOKEN.fullmatch(key_header) is None or key_header in RESERVED - {"authorization"}:
        raise ConfigError("api_key_header is not a header a key can be sent in")
    return Settings(
        base=parse_base(url, allow_http=allow_http),
        path=check_path(options["path"]) if options.get("path") is not None else None,
        query=Secret(as_query(options.get("query"))),
        key=key,
        key_header=key_header,
        headers=checked_headers(options.get("headers", {}), key_header if key is not None else None),
        **{name: options[name] for name in PLAIN if name in options},
    )


def as_key(text: str) -> Secret:
    """A key as it may be sent: one token of printable ASCII, surrounding blanks removed.

    Raises:
        svir.ConfigError: It is empty, or holds blanks, line breaks or control characters.
    """
    key = text.strip()
    if not key:
        raise ConfigError("the API key is empty")
    if KEY.fullmatch(key) is None:
        schemed = key[:7].lower() == "bearer "
        without = ": leave out the word Bearer, which svir adds" if schemed else ""
        raise ConfigError(f"the API key must be one word of printable ASCII{without}")
    return Secret(key)


@withheld
def given_key(given: object) -> Secret:
    """The key that a caller's function gave.

    Raises:
        svir.ConfigError: It gave something else, or what cannot be sent.
    """
    if isinstance(given, Secret):
        return as_key(given.reveal())
    if isinstance(given, str):  # of an async function
        return as_key(given)
    if isinstance(given, Coroutine):  # not awaited: this is the blocking face
        given.close()
        raise ConfigError("an async function for api_key needs AsyncClient")
    raise ConfigError("api_key gave no string")
