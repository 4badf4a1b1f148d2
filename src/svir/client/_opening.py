"""How the opening of a call goes, decided once for both faces.

1. A call begins once. What became of it stays: asked again, it gives the same reply or the same error.
2. What was interrupted is not begun again: the server may have the request.
3. A call that this program closed says so, whatever else came of it meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from svir.errors import ConfigError, Error, TransportError
from svir.http._seam import Abort

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.exchange import RawReply, Steps

__all__ = ["Opening"]

P = TypeVar("P", bound="RawReply[Any]")


class Opening(Generic[P]):
    """What is known of a call; a face adds the waiting.

    Args:
        steps: Makes the steps that open it.
        abort: What ends them from elsewhere.
    """

    def __init__(self, steps: Callable[[], Steps[P]], abort: Abort | None) -> None:
        self._steps: Callable[[], Steps[P]] | None = steps  # until they are begun
        self._abort = Abort() if abort is None else abort
        self._reply: P | None = None
        self._failure: Error | None = None
        self._closed = False

    def _begin(self) -> Callable[[], Steps[P]]:
        """What makes the steps, for the one who may perform them.

        Raises:
            svir.Error: What became of the call before.
        """
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise _closed_error(unsent=self._steps is not None)
        steps, self._steps = self._steps, None
        if steps is None:
            raise ConfigError("a stream cannot be opened from two places at the same time")
        return steps

    def _failed(self, error: Error) -> Error:
        """Keeps a failure; what to raise, outside the handler, so that nothing hangs on it."""
        self._failure = _closed_error(unsent=error.unsent) if self._closed else error
        return self._failure

    def _interrupted(self) -> None:
        """Keeps that something which is not svir's ended the opening."""
        self._failure = TransportError("opening the call was interrupted", retryable=False)


def _closed_error(*, unsent: bool) -> TransportError:
    return TransportError("the stream was closed by this program", retryable=False, unsent=unsent)
