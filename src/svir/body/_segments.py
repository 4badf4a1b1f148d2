"""How attachments are written: an image as base64, a text file as JSON text.

1. n bytes make 4 * ceil(n / 3) characters of base64.
2. JSON escapes single ASCII bytes only: seven of them take two, the other control characters six, and every
   byte of a multi-byte character stays as it is. Lengths therefore add up over any cut.
3. A text file goes through one incremental UTF-8 decoder, while measuring and while sending: a block may end
   inside a character, and what is not UTF-8 is found before it is handed out. msgspec escapes what comes out
   of it, byte for byte like ``json.dumps(..., ensure_ascii=False)``.
"""

from __future__ import annotations

import binascii
import codecs
from typing import TYPE_CHECKING, Protocol

import msgspec

from svir.body._content import BLOCK_BYTES, Content, content_of
from svir.errors import AttachmentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svir.types import BytesSource, PathSource, TextFile

__all__ = ["Segment", "escaped_len", "image_segment", "text_segment"]

TWO = b'"\\\b\f\n\r\t'
"""Bytes that JSON writes as two characters."""

TEXT_BYTES = 384 * 1024
"""Most bytes of text read at a time: they may become six times as many, twice in memory for a moment."""

SIX = bytes(code for code in range(0x20) if code not in TWO)
"""Bytes that JSON writes as six, for example ``\\u001f``."""


class Segment(Protocol):
    """A part of a body that is written while it is read."""

    @property
    def length(self) -> int:
        """Its encoded length in bytes, exact."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether reading it touches no disk."""
        ...

    def blocks(self, size: int) -> Iterator[bytes]:
        """Its encoded bytes, made of ``size`` bytes of the content at a time (a multiple of 3)."""
        ...


def escaped_len(data: bytes | bytearray | memoryview) -> int:
    """The length of text inside a JSON string, in bytes: what ``TextFile(escaped_len=...)`` takes (D39).

    The lengths of a text's pieces add up, wherever it is cut. Nothing is checked here: whether the text is
    UTF-8 is seen while it is sent.

    Example:
        >>> from svir.body import escaped_len
        >>> escaped_len(b'say "hi"')
        10
    """
    view = memoryview(data).cast("B")
    total = len(view)
    for start in range(0, len(view), BLOCK_BYTES):
        block = bytes(view[start : start + BLOCK_BYTES])
        # translate drops the named bytes: what is missing afterwards is how many there were.
        total += len(block) - len(block.translate(None, TWO))
        total += 5 * (len(block) - len(block.translate(None, SIX)))
    return total


def image_segment(source: PathSource | BytesSource) -> Segment:
    """An image as base64; the size of a file is looked up.

    Raises:
        svir.AttachmentError: There is no such file, or it is no regular file.
    """
    return _Base64(content_of(source))


def text_segment(file: TextFile, *, block_bytes: int = BLOCK_BYTES) -> Segment:
    """A text file as the inside of a JSON string.

    Its length is measured by reading it once, or taken as declared: then only its size is looked up (D39).

    Raises:
        svir.AttachmentError: It cannot be read, is not UTF-8, or cannot have the declared length.
    """
    content = content_of(file.source, file.name)
    declared = file.escaped_len
    if declared is None:
        return _Escaped(content, _measured(content, block_bytes))
    # D39: a byte becomes one, two or six. What is in memory costs no reading, and is measured anyway.
    possible = content.size <= declared <= 6 * content.size
    if not possible or (content.in_memory and declared != _measured(content, block_bytes)):
        raise AttachmentError(f"{content.shown} does not have the escaped length it was declared with")
    return _Escaped(content, declared)


class _Base64:
    __slots__ = ("content", "length")

    def __init__(self, content: Content) -> None:
        self.content = content
        self.length = 4 * ((content.size + 2) // 3)

    @property
    def in_memory(self) -> bool:
        return self.content.in_memory

    def blocks(self, size: int) -> Iterator[bytes]:
        for block in self.content.blocks(size):
            yield binascii.b2a_base64(block, newline=False)


class _Escaped:
    __slots__ = ("content", "length")

    def __init__(self, content: Content, length: int) -> None:
        self.content = content
        self.length = length

    @property
    def in_memory(self) -> bool:
        return self.content.in_memory

    def blocks(self, size: int) -> Iterator[bytes]:
        left = self.length
        for block in _escaped(self.content, size):
            left -= len(block)
            if left < 0:
                break
            yield block
        if left:
            raise AttachmentError(f"{self.content.shown} does not encode to the length it was measured at")


def _measured(content: Content, size: int) -> int:
    return sum(len(block) for block in _escaped(content, size))


def _escaped(content: Content, size: int) -> Iterator[bytes]:
    text = codecs.getincrementaldecoder("utf-8")()
    for block in content.blocks(min(size, TEXT_BYTES)):
        if escaped := _escape(text, block, content.shown):
            yield escaped
    _escape(text, b"", content.shown, final=True)  # a character cut off by the end is found here


def _escape(text: codecs.IncrementalDecoder, block: bytes, shown: str, *, final: bool = False) -> bytes:
    try:
        return msgspec.json.encode(text.decode(block, final))[1:-1]  # without the quotes
    except UnicodeDecodeError:
        pass  # raised below, so that no foreign exception, which quotes the content, stays reachable
    raise AttachmentError(f"{shown} is not UTF-8")
