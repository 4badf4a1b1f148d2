"""What stops a decoder, before it is known where: how the parts of one tell the decoder about a failure.

The decoder catches a fault, adds the place and what was delivered so far, and makes the error its caller
sees. That error is a new object: it has no context, and no frame in which the server's words are found (D19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.errors import Place

if TYPE_CHECKING:
    from svir.errors import Error

__all__ = ["Fault", "Unfinished"]


class Fault(Exception):  # noqa: N818 (an Error is what the caller gets)
    """Stops the decoding.

    Args:
        kind: The class of the error to raise.
        what: What is wrong, in svir's words; never the server's.
        hint: Which switch would accept it.
        at: Where in the stream, in bytes; by default where the current event begins.
        code: The server's machine-readable word.
        server_message: The server's own words.
    """

    def __init__(
        self,
        kind: type[Error],
        what: str,
        hint: str = "",
        *,
        at: int | None = None,
        code: str | None = None,
        server_message: str | None = None,
    ) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what
        self.hint = hint
        self.at = at
        self.code = code
        self.server_message = server_message

    def error(self, events: int, at: int) -> Error:
        """The error to raise, with its place.

        Args:
            events: How many events were whole, the faulty one included if it was.
            at: Where the current event begins, in bytes.
        """
        hint = f"; {self.hint}" if self.hint else ""
        place = Place(events + isinstance(self, Unfinished), at if self.at is None else self.at)
        return self.kind(
            f"{self.what} ({place}){hint}", code=self.code, server_message=self.server_message, place=place
        )


class Unfinished(Fault):
    """A fault of an event whose end has not come: it is the one after the last whole event."""
