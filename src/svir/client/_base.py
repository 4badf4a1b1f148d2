"""What the two faces have in common: options to settings, and what is asked to a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self

from svir.client._keys import KEY_OPTIONS, resolve_key
from svir.errors import ConfigError
from svir.exchange import Compatibility, Exchange, Options, Server, settings_from, stack
from svir.exchange._stack import is_async
from svir.http._seam import withheld
from svir.types import Completion, Message, Request, Schema, ToolResult
from svir.types._value import check, several

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from typing_extensions import TypeForm

    from svir.codec._api import WireApi
    from svir.exchange._settings import Key
    from svir.types import Turn

__all__ = ["ClientBase", "as_many", "as_request", "as_typed_request"]

ELSEWHERE = ("chat", "completions", "responses")
"""Where other clients have what asks."""
POOL_OPTIONS = ("max_connections", "ca_file", "ssl_context")
"""Options of the built-in backend: they concern the pool, which derived clients share."""


class ClientBase:
    """Settings, layers and what was learned; a face adds the backend and performs the steps."""

    _colour: ClassVar[str]
    _builtin: ClassVar[Callable[..., Any]]
    """Makes the built-in backend of this face."""
    _driven_by: ClassVar[Callable[..., Any]]
    """Makes the driver of this face from a backend."""

    _api: WireApi
    _url: str
    _options: dict[str, Any]
    _key: Key | None
    _layers: tuple[object, ...]
    _exchange: Exchange
    _driver: Any

    @withheld
    def __init__(self, *_: Never, **__: Never) -> None:
        raise TypeError(f"make it with {type(self).__name__}.openai(url, model=...)")

    def _configure(
        self,
        api: WireApi,
        url: str,
        options: Mapping[str, Any],
        layers: Sequence[object],
        key: Key | None,
        compatibility: Compatibility,
    ) -> None:
        for name in options:
            if name not in Options.__annotations__:
                raise _no_option(name)
        if self._colour == "sync" and callable(key) and is_async(key):
            raise ConfigError("an async function for api_key needs AsyncClient")
        if (shared := options.get("compatibility")) is not None:
            check(shared, Compatibility, "compatibility")
            compatibility = shared
        self._api, self._url, self._key = api, url, key
        self._layers = several(layers, "layers must be a list of layers")
        # Keys are not kept among the options, which are only there to derive further clients.
        self._options = {name: value for name, value in options.items() if name not in KEY_OPTIONS}
        self._exchange = Exchange(api, settings_from(url, options, key), compatibility)
        origin = self._exchange.settings.base.origin
        exchange = self._exchange
        server = Server(origin.host, origin.port, api.name, exchange.settings.model, exchange.clock)
        self._open = stack(self._layers, self._exchange.open, server, colour=self._colour)

    @classmethod
    def _built(
        cls, api: WireApi, url: str, options: Mapping[str, Any], layers: Sequence[object], backend: object
    ) -> Self:
        """A client of this face, with a backend of the caller's or the built-in one."""
        client = cls.__new__(cls)
        client._configure(api, url, options, layers, resolve_key(options), Compatibility())
        if backend is None:
            backend = cls._builtin(**{name: options.get(name) for name in POOL_OPTIONS})
        else:
            _require_no_pool_options(options, "the built-in backend, which backend= replaces")
            send = getattr(backend, "send", None)
            if not callable(send):
                raise TypeError("backend must be a backend: an object with send()")
            if is_async(send) != (cls._colour == "async"):
                wanted = "an asynchronous" if cls._colour == "async" else "a blocking"
                raise ConfigError(f"{cls.__name__} needs {wanted} backend, not {type(backend).__name__}")
        client._driver = cls._driven_by(backend)
        return client

    def _derived(self, changes: Mapping[str, Any], layers: Sequence[object] | None) -> Self:
        """A client with other options, sharing connections, key and what was learned."""
        _require_no_pool_options(changes, "the pool, which derived clients share")
        key = resolve_key(changes) if any(name in changes for name in KEY_OPTIONS) else self._key
        client = type(self).__new__(type(self))
        client._driver = self._driver
        client._configure(
            self._api,
            self._url,
            {**self._options, **changes},
            self._layers if layers is None else layers,
            key,
            self.compatibility,
        )
        return client

    if not TYPE_CHECKING:  # for a type checker, every name would be one

        def __getattr__(self, name: str) -> Never:
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in ELSEWHERE:
                said += ": client.complete() and client.stream() ask; docs/migrating.md has both side by side"
            raise AttributeError(said, name=name, obj=self)

    @property
    def compatibility(self) -> Compatibility:
        """What was learned about the server, and the way to forget it."""
        return self._exchange.compatibility

    def __repr__(self) -> str:
        if not hasattr(self, "_exchange"):  # shown while it is being built, in the traceback of a refusal
            return f"{type(self).__name__}(not built)"
        origin = self._exchange.settings.base.origin
        model = self._exchange.settings.model
        named = f", model={model!r}" if model else ""
        return f"{type(self).__name__}({self._api.name} at {origin.authority}{named})"


def _require_no_pool_options(options: Mapping[str, Any], owner: str) -> None:
    """Raises for options of the built-in backend where they would have no effect.

    Raises:
        svir.ConfigError: There is one; the text names it and ``owner``.
    """
    for name in POOL_OPTIONS:
        if options.get(name) is not None:
            raise ConfigError(f"{name} belongs to {owner}")


def as_many(requests: Iterable[Any]) -> Iterable[Any]:
    """Several things to ask; one of them alone would be taken apart into its characters or fields."""
    kind: type = type(requests)
    if issubclass(kind, (str, bytes, Mapping, Request, Message, Completion, ToolResult)):
        raise TypeError(f"complete_all takes several requests, not one {kind.__name__}")
    return requests


def _no_option(name: str) -> TypeError:
    from svir.types._elsewhere import OPTIONS, no_such_name  # for a mistake only

    here = dict.fromkeys(
        Request.__struct_fields__, f"it is a field of a request: client.complete(..., {name}=...)"
    )
    return no_such_name("a client has no option", name, Options.__annotations__, {**here, **OPTIONS})


def _no_field(name: str) -> TypeError:
    from svir.types._elsewhere import FIELDS, no_such_name

    here = dict.fromkeys(
        Options.__annotations__, f"it is an option of a client: client.with_options({name}=...)"
    )
    extra = "extra={...} sends what svir does not know"
    known = Request.__struct_fields__
    return no_such_name("a request has no field", name, known, {**here, **FIELDS}, extra)


def as_request(given: Request | Turn | Iterable[Turn], fields: Mapping[str, Any]) -> Request:
    """What is asked: a request, perhaps with other fields, or turns with the fields of one."""
    for name in fields:
        if name not in Request.__struct_fields__:
            raise _no_field(name)
    if isinstance(given, Request):
        return given.replace(**fields) if fields else given
    if "messages" in fields:
        if given != ():
            raise TypeError("the turns were given twice: as the first argument and as messages=")
        return Request(**fields)
    turns = (given,) if isinstance(given, (str, Message, Completion, ToolResult)) else given
    return Request(messages=turns, **fields)


def as_typed_request(
    kind: TypeForm[Any], given: Request | Turn | Iterable[Turn], fields: Mapping[str, Any], *, strict: bool
) -> Request:
    """What is asked when the answer is to be read as a type: that, and the type's schema (D40, D41).

    Raises:
        svir.ConfigError: The type has no such schema, or the request asks for another form of answer.
    """
    if "response_format" in fields:
        raise TypeError("the type says what the answer must be: leave response_format out")
    request = as_request(given, fields)
    schema = Schema.of(kind, strict=strict)
    if request.response_format not in ("text", schema):
        raise ConfigError(
            "the request asks for another form of answer: complete it, and parse the completion"
        )
    return request.replace(response_format=schema)
