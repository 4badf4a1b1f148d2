"""The seam between svir and HTTP: what a backend is given, and what it gives back.

A backend knows no wire API. It sends one request over one connection and hands the body's bytes on as they
come. Everything it raises is a ``svir.Error``: ``TransportError``, ``RequestTimeoutError``,
``TruncatedStreamError`` (the body was cut short), ``ProtocolError`` (no HTTP), ``ConfigError``, or whatever
the request's own body raised while it was read.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import TracebackType
    from typing import NoReturn, Self

    from svir.body import Body

__all__ = [
    "Abort",
    "AsyncBackend",
    "AsyncHttpResponse",
    "Backend",
    "Headers",
    "HttpRequest",
    "HttpResponse",
    "Origin",
    "Secret",
    "withheld",
]

T = TypeVar("T")
F = TypeVar("F", bound="Callable[..., object]")


class Secret:
    """A string that shows itself to no one: ``str`` and ``repr`` are redacted, ``reveal()`` is not.

    It does not pickle (S108): pickles are written to queues, caches and disks. A copy is the secret itself.

    Example:
        >>> from svir.http import Secret
        >>> Secret("sk-1")
        Secret(<4 characters withheld>)
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The string itself."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret(<{len(self._value)} characters withheld>)"

    __str__ = __repr__

    def __rich_repr__(self) -> Iterator[object]:
        yield f"<{len(self._value)} characters withheld>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret does not pickle")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


def withheld(function: F) -> F:
    """A function that is given credentials: when it fails, no frame of svir's shows its locals (S124).

    Debuggers and error trackers show the locals of a traceback's frames. Its lines stay, and the locals of a
    caller's own functions, which are the caller's.
    """

    @wraps(function)
    def called(*args: Any, **options: Any) -> object:
        try:
            return function(*args, **options)
        except BaseException as error:
            args, options = (), {}
            if (own := error.__traceback__) is not None:
                _forget(own.tb_next)
            raise

    return cast("F", called)


def _forget(trace: TracebackType | None) -> None:
    """Empties svir's own frames of a traceback, all of which have ended."""
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "svir":
            with suppress(RuntimeError):  # it runs after all: an error that was raised before
                frame.clear()


class Headers:
    """HTTP header fields: names in any case, in the order they came, values withheld from ``repr``.

    Example:
        >>> from svir.http import Headers
        >>> headers = Headers([("X-Request-Id", "r-1")])
        >>> headers.get("x-request-id"), headers
        ('r-1', Headers(x-request-id))
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: list[tuple[str, str]] | tuple[tuple[str, str], ...] = ()) -> None:
        self._fields = tuple((name.lower(), value) for name, value in fields)

    def get(self, name: str) -> str | None:
        """The value of a field, or None; several of the same name are joined by a comma and a blank."""
        wanted = name.lower()
        values = [value for have, value in self._fields if have == wanted]
        return ", ".join(values) if values else None

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and other._fields == self._fields

    def __hash__(self) -> int:
        return hash(self._fields)

    def __repr__(self) -> str:
        return f"Headers({', '.join(name for name, _ in self._fields)})"

    def __rich_repr__(self) -> Iterator[object]:
        yield from (name for name, _ in self._fields)


class Origin(msgspec.Struct, frozen=True):
    """Where a server lives.

    Attributes:
        scheme: ``http`` or ``https``.
        host: A name or an address; IPv6 without brackets.
        port: The port.
    """

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The value of ``Host``: the port only when it is not the scheme's own."""
        host = self.host.partition("%")[0]  # an IPv6 zone is this machine's own business
        host = f"[{host}]" if ":" in host else host
        return host if self.port == {"http": 80, "https": 443}[self.scheme] else f"{host}:{self.port}"


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. ``headers`` is complete but for ``host`` and ``content-length``, which the backend writes.

    Attributes:
        method: ``GET`` or ``POST``.
        origin: The server.
        target: Path and query, ASCII, starting with ``/``. The query may be a secret.
        headers: Added fields, names lowercase.
        body: The body, of known length, or None.
    """

    method: str
    origin: Origin
    target: str
    headers: Headers
    body: Body | None = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a request with its credentials does not pickle")  # S108

    def __repr__(self) -> str:
        path = self.target.partition("?")[0]
        return f"HttpRequest({self.method} {path}, {self.headers!r}, {self.body!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # Any: the base's own signature
        path = self.target.partition("?")[0]
        return [("method", self.method), ("path", path), ("headers", self.headers), ("body", self.body)]


class Abort:
    """Ends, from another thread or task, what one call is waiting for.

    A backend attaches what shuts the connection as soon as it has one, and again for each further one. A call
    shuts what is attached, at once, and whatever is attached later.

    Example:
        >>> from svir.http import Abort
        >>> abort = Abort()
        >>> _ = abort.attach(lambda: print("shut"))
        >>> _ = abort()
        shut
    """

    __slots__ = ("_children", "_lock", "_shut", "asked")

    def __init__(self) -> None:
        self.asked = False
        """Whether the call is to end."""
        self._shut: Callable[[], object] | None = None
        self._children: list[Abort] = []
        # Held while shutting, so that nothing is shut that the call has already given back.
        self._lock = threading.RLock()

    def attach(self, shut: Callable[[], object]) -> object:
        """Says how to end the wait that follows: a plain call that never waits; its result is handed on."""
        with self._lock:
            self._shut = shut
            return shut() if self.asked else None

    def detach(self) -> None:
        """Says that there is no wait to end any more."""
        with self._lock:
            self._shut = None

    @contextmanager
    def child(self) -> Generator[Abort]:
        """One for a wait beside others: within the block, ending this one ends that one, too."""
        child = Abort()
        with self._lock:
            self._children.append(child)
            child.asked = self.asked
        try:
            yield child
        finally:
            with self._lock:
                self._children.remove(child)

    def __call__(self) -> list[object]:
        """Ends the call; what shutting returned is handed on."""
        with self._lock:
            self.asked = True
            results = [result for child in self._children for result in child()]
            return results if self._shut is None else [*results, self._shut()]


class HttpResponse(Protocol):
    """One response, its head already there."""

    @property
    def status(self) -> int:
        """The status code; never 1xx."""
        ...

    @property
    def headers(self) -> Headers:
        """The header fields, undecoded values as Latin-1 text."""
        ...

    def read(self, timeout: float | None) -> bytes:
        """The next bytes of the body; empty at its end, again and again.

        Args:
            timeout: Seconds to wait for a byte (0 or less: only what is already there); None waits for ever.

        Raises:
            svir.RequestTimeoutError: Nothing came in time. The response stays open, and may be read on.
            svir.TransportError: The connection broke or was closed by this program.
            svir.TruncatedStreamError: The body ended before its announced end.
            svir.ProtocolError: The bytes are no HTTP.
        """
        ...

    def close(self) -> None:
        """Ends the exchange: the connection is kept when the body was read to its end, else it is shut.

        May be called from another thread, more than once, and never waits. A reader that waits in ``read``
        is woken with ``TransportError`` ("closed by this program", not retryable).
        """
        ...


class AsyncHttpResponse(Protocol):
    """The asynchronous twin of ``HttpResponse``."""

    @property
    def status(self) -> int:
        """The status code; never 1xx."""
        ...

    @property
    def headers(self) -> Headers:
        """The header fields, undecoded values as Latin-1 text."""
        ...

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract, in both colours)
        """The next bytes of the body, as ``HttpResponse.read``; cancelling it shuts the connection."""
        ...

    def close(self) -> object:
        """As ``HttpResponse.close``. What a foreign backend returns is awaited, shielded, if it can be."""
        ...


class Backend(Protocol):
    """Sends requests, blocking. Safe to share between threads."""

    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> HttpResponse:
        """Sends a request and waits for the response's head.

        Args:
            request: What to send.
            connect: Seconds for name, connection and TLS together.
            read: The longest silence, in seconds: it starts again whenever the network took a block of the
                body or gave a byte. None: no limit.
            total: Seconds for all of it, until the head is there. None: no limit.
            abort: Where to attach what shuts the connection, so that the wait can be ended: it then fails
                with ``TransportError`` ("closed by this program", not retryable).

        Raises:
            svir.Error: ``unsent`` is true exactly when no byte of the request was handed to the network.
        """
        ...

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits; less when it is aborted."""
        ...

    def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block (a disk read, a caller's function)."""
        ...

    def close(self) -> None:
        """Shuts every connection, idle or not; waiting readers are woken."""
        ...


class AsyncBackend(Protocol):
    """Sends requests under an event loop."""

    async def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> AsyncHttpResponse:
        """As ``Backend.send``; cancelling it shuts the connection."""
        ...

    async def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits; less when it is aborted."""
        ...

    async def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block, in a worker thread."""
        ...

    def close(self) -> object:
        """As ``Backend.close``."""
        ...
