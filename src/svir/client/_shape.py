"""What a layer may ask of a stream (D28): the same on both faces, since it waits for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.errors import Error
    from svir.exchange import Reply
    from svir.types import Event

__all__ = ["Shaped"]


class Shaped:
    """A stream whose limits can be tightened, and whose events can be watched."""

    if TYPE_CHECKING:  # each face has it

        def _known(self) -> Reply[Any]: ...

    def first_token_by(self, when: float) -> None:
        """Something of the answer must come by ``when`` (``time.monotonic()``); tighter wins (D28)."""
        self._known().first_token_by(when)

    def complete_by(self, when: float) -> None:
        """The answer must be whole by ``when`` (``time.monotonic()``); tighter wins (D28)."""
        self._known().complete_by(when)

    def idle_timeout(self, seconds: float) -> None:
        """The server may be silent for ``seconds`` at most; tighter wins (D28)."""
        self._known().idle_timeout(seconds)

    def inspect(self, watch: Callable[[Event | Error], object]) -> None:
        """Calls ``watch`` with every event handed out from now on, and the error that ends it."""
        self._known().inspect(watch)
