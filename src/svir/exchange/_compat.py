"""What was learned about servers: which optional fields each model at each server does not take (D11).

Learned from one rejection and one success without the fields; inspectable, and forgotten on request, because
a single odd rejection would otherwise change every later call in silence.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from svir.types._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from svir.http._seam import Origin

__all__ = ["Compatibility", "Learned"]


class Learned(Value, frozen=True, kw_only=True):
    """One thing learned.

    Attributes:
        server: The server's origin.
        model: The model asked for.
        fields: The optional fields that are left out for it from now on.
        status: The status of the rejection that taught it.
        server_message: What the server said then; withheld from ``repr``.
        when: When, in seconds since the epoch.
    """

    server: str
    model: str
    fields: tuple[str, ...]
    status: int | None
    server_message: str | None
    when: float

    def __repr__(self) -> str:
        withheld = f"<{len((self.server_message or '').encode())} bytes withheld>"
        return (
            f"Learned(server={self.server!r}, model={self.model!r}, fields={self.fields!r}, "
            f"status={self.status}, server_message={withheld}, when={self.when})"
        )

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  (msgspec types it as a list)
        for name in ("server", "model", "fields", "status", "when"):
            yield name, getattr(self, name)


class Compatibility:
    """The memory of what servers do not take; may be shared between clients and threads.

    Example:
        >>> from svir import Compatibility
        >>> memory = Compatibility()
        >>> memory.learned
        ()
    """

    def __init__(self, *, wall_clock: Callable[[], float] = time.time) -> None:
        self._wall_clock = wall_clock
        self._lock = threading.Lock()
        self._learned: dict[tuple[str, str], Learned] = {}

    @property
    def learned(self) -> tuple[Learned, ...]:
        """Everything learned, oldest first."""
        with self._lock:
            return tuple(self._learned.values())

    def reset(self) -> None:
        """Forgets everything: the next request carries all its fields again."""
        with self._lock:
            self._learned.clear()

    def omitted(self, origin: Origin, model: str) -> frozenset[str]:
        """The fields to leave out."""
        with self._lock:
            known = self._learned.get((_name(origin), model))
        return frozenset(known.fields) if known else frozenset()

    def learn(
        self, origin: Origin, model: str, fields: tuple[str, ...], *, status: int | None, message: str | None
    ) -> None:
        """Remembers that a server took the request once these fields were left out; warns once in the log."""
        key = _name(origin), model
        with self._lock:
            before = self._learned.get(key)
            if before is not None:
                fields = (*before.fields, *(field for field in fields if field not in before.fields))
                if fields == before.fields:
                    return
            self._learned[key] = Learned(
                server=key[0],
                model=model,
                fields=fields,
                status=status,
                server_message=message,
                when=self._wall_clock(),
            )
        import logging

        logger = logging.getLogger("svir")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # a library prints nothing by itself
        logger.warning(
            "a server answered HTTP %s to a request with %s and took it without: they are left out for this "
            "model from now on (see client.compatibility)",
            status,
            ", ".join(fields),
        )

    def __repr__(self) -> str:
        return f"Compatibility(<{len(self.learned)} learned>)"


def _name(origin: Origin) -> str:
    return f"{origin.scheme}://{origin.authority}"
