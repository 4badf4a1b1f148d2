"""The row of segments that is sent.

1. Every segment, literal bytes or an attachment, knows its encoded length: the body goes out with
   ``Content-Length``, never chunked.
2. Reading never hands out more than was declared, and a body read to its end has exactly that length.
   Anything else is an ``AttachmentError`` (P13), and what was sent until then is visibly cut off.
3. A body is immutable, and two readings share nothing: each opens its own files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.body._content import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from svir.body._segments import Segment

__all__ = ["Body"]

LONGEST_BLOCK = 1024 * 1024
"""Most bytes handed out at a time; a block of control characters is six times as long once escaped."""


class Body:
    """The bytes of a request, and how many there are.

    ``len(body)`` is exact. Iterating gives the bytes in blocks of at most 1 MiB, as often as one likes and
    from several threads at once; ``bytes(body)`` joins them. Attachments are read from disk meanwhile, in
    constant memory, and an iterator that is dropped half-way closes its file. Sharing a body costs nothing.

    Args:
        segments: Literal bytes and attachments, in order.
        block_bytes: Bytes read from a file at a time, rounded down to a multiple of 3, at least 3.

    Raises:
        svir.AttachmentError: While reading: a file vanished, changed, or is not what was measured (P13).

    Example:
        >>> from svir.body import Body
        >>> body = Body([b'{"model":', b'"m"}'])
        >>> len(body), bytes(body)
        (13, b'{"model":"m"}')
    """

    __slots__ = ("_block_bytes", "_length", "_segments")

    def __init__(self, segments: Iterable[bytes | Segment], *, block_bytes: int = BLOCK_BYTES) -> None:
        # An empty block would end the body for a backend that sends chunks.
        self._segments = tuple(segment for segment in segments if segment != b"")
        # Blocks of 3n bytes make base64 blocks that join without padding between them.
        self._block_bytes = max(3, block_bytes - block_bytes % 3)
        self._length = sum(len(s) if isinstance(s, bytes) else s.length for s in self._segments)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[bytes]:
        for segment in self._segments:
            for block in (segment,) if isinstance(segment, bytes) else segment.blocks(self._block_bytes):
                if len(block) <= LONGEST_BLOCK:
                    yield block
                else:
                    for start in range(0, len(block), LONGEST_BLOCK):
                        yield block[start : start + LONGEST_BLOCK]

    def __bytes__(self) -> bytes:
        return b"".join(self)

    def __repr__(self) -> str:
        return f"Body(<{self._length} bytes>)"

    @property
    def in_memory(self) -> bool:
        """Whether reading the body touches no disk, so that it may be read on an event loop."""
        return all(isinstance(segment, bytes) or segment.in_memory for segment in self._segments)
