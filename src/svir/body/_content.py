"""An attachment's own bytes, in memory or on disk, in blocks.

A file is a promise: the size noted when the body was built must be what is there when it is sent. It is
opened for each reading, and its last block is handed out only when one more read has confirmed that the file
ends there. Every failure names the file's own name, never a path: errors travel further than files do.
"""

from __future__ import annotations

import io
import os
import stat
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

from svir.errors import AttachmentError
from svir.types import BytesSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from svir.types import PathSource

__all__ = ["BLOCK_BYTES", "Content", "content_of"]

BLOCK_BYTES = 768 * 1024
"""Bytes read from a file at a time: 1 MiB of base64."""

LONGEST_NAME = 100
"""Most characters of a file's name in an error."""


class Content(Protocol):
    """The bytes of an attachment: how many there are, and what to call them in an error."""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        ...

    @property
    def shown(self) -> str:
        """The attachment's name, quoted."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether reading touches no disk."""
        ...

    def blocks(self, size: int) -> Iterator[bytes]:
        """Blocks of exactly ``size`` bytes, but for the last one."""
        ...


def content_of(source: PathSource | BytesSource, name: str | None = None) -> Content:
    """What a source holds; the size of a file is looked up.

    Raises:
        svir.AttachmentError: There is no such file, or it is no regular file: a pipe or a device has no size.
    """
    if isinstance(source, BytesSource):
        return _Memory(source.data, _quoted(name or "in memory"))
    shown = _quoted(PurePath(source.path).name if name is None else name)
    try:
        found = os.stat(source.path)  # noqa: PTH116 (a path may hold NUL: os.stat says so, and Path adds nothing)
        problem = _problem(found)
    except (OSError, ValueError) as error:
        problem, found = _reason(error), None
    if found is None or problem:
        raise AttachmentError(f"{shown} {problem}")
    return _File(source.path, shown, found.st_size)


class _Memory:
    __slots__ = ("data", "shown", "size")
    in_memory = True

    def __init__(self, data: bytes, shown: str) -> None:
        self.data = data
        self.size = len(data)
        self.shown = shown

    def blocks(self, size: int) -> Iterator[bytes]:
        for start in range(0, self.size, size):
            yield self.data[start : start + size]


class _File:
    __slots__ = ("path", "shown", "size")
    in_memory = False

    def __init__(self, path: str, shown: str, size: int) -> None:
        self.path = path
        self.shown = shown
        self.size = size

    def blocks(self, size: int) -> Iterator[bytes]:
        left = self.size
        with _opened(self.path, self.shown) as file:
            while True:
                wanted = min(size, left)
                block = _read(file, wanted, self.shown)
                left -= len(block)
                if len(block) < wanted:
                    raise AttachmentError(f"{self.shown} is shorter than it was measured")
                # P13: the recorded size is used up, so the file must end here.
                if not left and _read(file, 1, self.shown):
                    raise AttachmentError(f"{self.shown} is longer than it was measured")
                if block:
                    yield block
                if not left:
                    return


def _opened(path: str, shown: str) -> io.FileIO:
    try:
        file = io.FileIO(path, "rb", opener=_without_waiting)
        problem = _problem(os.fstat(file.fileno()))
        if not problem:
            return file
        file.close()
    except (OSError, ValueError) as error:
        problem = _reason(error)
    # Raised outside the handler, so that the foreign exception, which holds the path, is not reachable.
    raise AttachmentError(f"{shown} {problem}")


def _without_waiting(path: str, flags: int) -> int:
    """Opening a pipe would wait for its writer; regular files take no notice of the flag."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: io.FileIO, size: int, shown: str) -> bytes:
    """As many bytes as asked for, unless the file ends before."""
    data = b""
    try:
        while len(data) < size and (more := file.read(size - len(data))):
            data = data + more if data else more
    except OSError as error:
        problem = _reason(error)
    else:
        return data
    raise AttachmentError(f"{shown} {problem}")


def _problem(found: os.stat_result) -> str:
    return "" if stat.S_ISREG(found.st_mode) else "is no regular file"


def _reason(error: OSError | ValueError) -> str:
    words = error.strerror if isinstance(error, OSError) else "the path is not valid"
    return f"cannot be read ({words})"


def _quoted(name: str) -> str:
    """A name in quotes, its control characters and lone surrogates escaped."""
    return repr(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}...")
