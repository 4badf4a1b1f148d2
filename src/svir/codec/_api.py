"""What a wire API is to the rest of svir: the one interface a new one has to fill in.

A wire API lives in a folder of its own and exports ``API`` (an object of this shape), ``Encoder`` and
``Decoder``. Nothing above it names a concrete one, but the constructor of a client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from svir.body import Body
    from svir.codec._options import Limits, Mode, Think
    from svir.errors import Partial
    from svir.types import Event, ModelInfo, Request

__all__ = ["AnyDecoder", "AnyEncoder", "Failure", "WireApi"]


class Failure(msgspec.Struct, frozen=True):
    """What an error told about itself, in the body of a status or inside a stream.

    Attributes:
        message: The server's words; withheld when this is shown (D19).
        code: Its machine-readable word, at most 64 of ``[A-Za-z0-9_.-]``.
        meaning: What the words say beyond the status: the conversation does not fit (D30), the prompt was
            blocked (D36), or a quota is used up, so that waiting does not help.
    """

    message: str | None = None
    code: str | None = None
    meaning: Literal["context_overflow", "content_filter", "quota"] | None = None

    def __repr__(self) -> str:
        withheld = None if self.message is None else f"<{len(self.message)} characters withheld>"
        return f"Failure(message={withheld}, code={self.code!r}, meaning={self.meaning!r})"

    def __rich_repr__(self) -> list[tuple[str, str | None]]:
        return [("code", self.code), ("meaning", self.meaning)]


class AnyEncoder(Protocol):
    """Writes requests."""

    def encode(self, request: Request) -> Body:
        """The request's body, its length exact; reads the files it has to measure.

        Raises:
            svir.UnsupportedError: The wire API cannot say this.
            svir.AttachmentError: A file cannot be measured.
            svir.ContextOverflowError: The request was not admitted (P14).
            svir.ConfigError: ``extra`` sets a field that is not its own.
        """
        ...


class AnyDecoder(Protocol):
    """Reads one answer; does no I/O."""

    @property
    def partial(self) -> Partial:
        """What was decoded so far, for an error that comes from elsewhere."""
        ...

    def push(self, data: bytes) -> Iterator[Event]:
        """Decodes bytes; the iterator gives what they completed, then raises the error, if any."""
        ...

    def flush(self) -> Iterator[Event]:
        """Gives what was held back for the next bytes to decide, when there will be none."""
        ...

    def finish(self) -> None:
        """Ends the input: raises unless the answer is whole."""
        ...


class WireApi(Protocol):
    """One wire API."""

    @property
    def name(self) -> str:
        """Its name in logs and layers, for example ``openai.chat``."""
        ...

    @property
    def answer_path(self) -> str:
        """Where requests go, below the base URL: ``/v1/chat/completions``."""
        ...

    @property
    def models_path(self) -> str:
        """Where models are listed, below the base URL: ``/v1/models``."""
        ...

    def encoder(
        self,
        *,
        include_usage: bool,
        omit: Collection[str],
        context_tokens: int | None,
        max_tokens_field: str,
    ) -> AnyEncoder:
        """An encoder that leaves out the optional fields named in ``omit``."""
        ...

    def optional_fields(self, request: Request, *, include_usage: bool) -> tuple[str, ...]:
        """The fields this request would carry that the answer can do without (D11)."""
        ...

    def decoder(
        self,
        *,
        mode: Mode,
        limits: Limits,
        think: Think,
        clock: Callable[[], float],
        request_id: str | None,
        dropped: tuple[str, ...],
    ) -> AnyDecoder:
        """A decoder for one answer; the last two go into its completion."""
        ...

    def read_failure(self, status: int, body: bytes) -> Failure:
        """What the body of an unsuccessful response says; never raises."""
        ...

    def read_models(self, body: bytes) -> tuple[ModelInfo, ...]:
        """The models a listing names.

        Raises:
            svir.ProtocolError: It is no listing.
        """
        ...
