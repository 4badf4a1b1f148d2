"""A request's body on its way through somebody else's HTTP library.

1. The length is counted here: libraries cut what is too long, and wait for ever behind what is too short.
2. What the body raises stays here (``failure``). The library is only told that the body ended (``Stopped``),
   so that no traceback or context of its own hangs on the error.
3. It goes out in small pieces: asking for one says that the network took the one before.
4. The first block is read before anything is sent, so a file that is not there costs no request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.errors import AttachmentError, Error
from svir.http._net import Fault

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from svir.http._net import Network
    from svir.http._seam import HttpRequest

__all__ = ["Stopped", "Upload", "content_length"]

PIECE_BYTES = 64 * 1024
"""Most bytes handed to the library at once."""


class Stopped(Exception):  # noqa: N818 (no failure of its own: that is in ``Upload.failure``)
    """The body ends here."""


def content_length(request: HttpRequest) -> int | None:
    """What is announced: a POST without a body says that it has none."""
    if request.body is not None:
        return len(request.body)
    return 0 if request.method == "POST" else None


class Upload:
    """The body of one request.

    Args:
        request: The request.
        taken: Called whenever the network has taken something.
    """

    def __init__(self, request: HttpRequest, taken: Callable[[], object]) -> None:
        body = request.body
        self.in_memory = body is None or body.in_memory
        self.failure: Exception | None = None
        """What the body raised, or what is wrong with its length."""
        self.asked = False
        """Whether the library has begun to take it."""
        self.wanted = True
        """Whether it is to be sent any further."""
        self._blocks = iter(() if body is None else body)
        self._left = 0 if body is None else len(body)
        self._first: bytes | None = None
        self._taken = taken

    def begin(self) -> None:
        """Reads the first block; may wait for a disk.

        Raises:
            Stopped: See ``failure``.
        """
        self._first = self.fetch()

    async def begin_in(self, network: Network) -> None:
        """The same, without holding up an event loop."""
        self._first = await self._fetch_in(network)

    def fetch(self) -> bytes | None:
        """The next block, or None at the end; may wait for a disk.

        Raises:
            Stopped: See ``failure``.
        """
        block = None
        try:
            block = next(self._blocks, None)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is the caller's, who gets it unchanged)
            self.failure = error
        else:
            self._left -= len(block or b"")
            if self._left < 0:
                self.failure = AttachmentError(
                    "the body is longer than its announced length", retryable=False
                )
            elif block is None and self._left:
                self.failure = AttachmentError(
                    "the body is shorter than its announced length", retryable=False
                )
        if self.failure is not None:
            raise Stopped
        return block

    def __iter__(self) -> Generator[bytes, None, None]:
        block = self._first
        while block is not None:
            yield from self._pieces(block)
            block = self.fetch()

    async def pieces(self, network: Network) -> AsyncGenerator[bytes, None]:
        """The same, without holding up an event loop."""
        block = self._first
        while block is not None:
            for piece in self._pieces(block):
                yield piece
            block = await self._fetch_in(network)

    def complain(self, *, unsent: bool) -> None:
        """Raises what the body raised, if it did.

        Args:
            unsent: Whether no byte of the request went out.
        """
        if self.failure is not None:
            if isinstance(self.failure, Error):
                self.failure.unsent = unsent
            raise self.failure

    async def _fetch_in(self, network: Network) -> bytes | None:
        if self.in_memory:
            await network.sleep(0)  # others of the loop have their turn
            return self.fetch()
        fetched = await network.call(self.fetch)
        return None if isinstance(fetched, Fault) else fetched

    def _pieces(self, block: bytes) -> Generator[bytes, None, None]:
        for at in range(0, len(block), PIECE_BYTES):
            self._taken()
            if not self.wanted:
                raise Stopped
            self.asked = True
            yield block[at : at + PIECE_BYTES]
        self._taken()
