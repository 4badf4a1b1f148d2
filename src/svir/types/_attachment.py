"""Attachments: images and text files, and where their bytes are.

Creating one does no I/O: a path is only noted. Its size is measured when a body is built, and what is read
while the body is sent must agree with what was measured (P13).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from svir.errors import ConfigError
from svir.types._value import Value, check, check_count, check_text, keep_texts, store, word

__all__ = ["BytesSource", "Detail", "Image", "PathSource", "Source", "TextFile", "UrlSource"]

Detail = Literal["auto", "low", "high"]
"""How closely a model looks at an image, where the server knows the field."""

DETAILS: tuple[Detail, ...] = ("auto", "low", "high")

MEDIA_TYPES = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
"""Media types told by a file name's ending, in any letter case."""

ADDRESSES = ("http://", "https://", "data:")
"""What an address begins with, in any letter case; a file of such a name is ``PathSource(name)``."""


class PathSource(Value, frozen=True):
    """A file, read block by block while the body is sent.

    Attributes:
        path: The file's path, as text.
    """

    path: str

    if TYPE_CHECKING:

        def __init__(self, path: str | os.PathLike[str]) -> None: ...

    def __post_init__(self) -> None:
        store(self, "path", os.fspath(self.path))
        keep_texts(self, "path")


class BytesSource(Value, frozen=True):
    """Bytes in memory.

    Attributes:
        data: The bytes; other kinds of buffers are copied.
    """

    data: bytes

    if TYPE_CHECKING:

        def __init__(self, data: bytes | bytearray | memoryview) -> None: ...

    def __post_init__(self) -> None:
        check(self.data, (bytes, bytearray, memoryview), "data")
        store(self, "data", bytes(self.data))


class UrlSource(Value, frozen=True):
    """An address the *server* fetches. svir never does. It may carry a token, so ``repr`` withholds it.

    Attributes:
        url: The address, sent as it is.
    """

    url: str

    def __post_init__(self) -> None:
        keep_texts(self, "url")

    def __repr__(self) -> str:
        return f"UrlSource(<{self._length()} characters>)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("length", self._length())]

    def _length(self) -> int:
        url: object = self.url  # it may be shown before it is checked
        return len(url) if isinstance(url, str) else 0


Source = PathSource | BytesSource | UrlSource
"""Where an attachment is: in a file, in memory, or at an address that the server fetches."""


class _ImageHead(Value, frozen=True):
    source: Source


class Image(_ImageHead, frozen=True, kw_only=True):
    """An image of a user's message.

    Args:
        source: The file's path, or a source.
        media_type: For example ``image/png``; told by the file name's ending when left out (png, jpg, jpeg,
            gif, webp). An image without one fails when the body is built.
        detail: ``auto``, ``low`` or ``high``, sent as it is; not sent when None.

    Raises:
        svir.ConfigError: An address (``https:``, ``http:``, ``data:``) in the place of a path.

    Example:
        >>> from svir import Image
        >>> Image("before.png").media_type
        'image/png'
        >>> Image.from_bytes(b"GIF89a", "image/gif")
        Image(source=BytesSource(data=<6 bytes>), media_type='image/gif')
    """

    media_type: str | None = None
    detail: Detail | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            source: str | os.PathLike[str] | Source,
            *,
            media_type: str | None = None,
            detail: Detail | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        store(self, "source", _as_source(self.source))
        keep_texts(self, "media_type", optional=True)
        if self.detail is not None:
            store(self, "detail", word(DETAILS, self.detail, "Image.detail"))
        if self.media_type is None and isinstance(self.source, PathSource):
            store(self, "media_type", MEDIA_TYPES.get(_ending(self.source.path)))

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, media_type: str, *, detail: Detail | None = None
    ) -> Image:
        """An image in memory."""
        return cls(BytesSource(data), media_type=media_type, detail=detail)

    @classmethod
    def from_url(cls, url: str, *, detail: Detail | None = None) -> Image:
        """An image the server fetches itself; the address is sent as it is."""
        return cls(UrlSource(url), detail=detail)


class _TextFileHead(Value, frozen=True):
    source: PathSource | BytesSource


class TextFile(_TextFileHead, frozen=True, kw_only=True):
    """A UTF-8 text file of a user's message, sent as text inside ``<file name="...">`` tags (P12).

    Args:
        source: The file's path, or a source.
        name: The name the model sees; the path's last part when left out.
        escaped_len: The content's length inside a JSON string, in bytes, when it is known from before
            (``svir.body.escaped_len``): then the file is read once, while it is sent, and fails there when
            the length is wrong (D39).

    Example:
        >>> from svir import TextFile
        >>> TextFile("src/diff.patch").name
        'diff.patch'
        >>> TextFile.from_text("notes.txt", "Hello").name
        'notes.txt'
    """

    name: str | None = None
    escaped_len: int | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            source: str | os.PathLike[str] | PathSource | BytesSource,
            *,
            name: str | None = None,
            escaped_len: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        source = _as_source(self.source)
        check(source, (PathSource, BytesSource), "TextFile.source")
        store(self, "source", source)
        keep_texts(self, "name", optional=True)
        check_count(self.escaped_len, "TextFile.escaped_len")
        if self.name is None:
            if not isinstance(source, PathSource):
                raise ConfigError("a text file in memory needs a name=")
            store(self, "name", _last_part(source.path))

    @classmethod
    def from_text(cls, name: str, text: str) -> TextFile:
        """A text file in memory. Text that is not valid Unicode fails when the body is built."""
        check_text(text, "text")
        return cls(BytesSource(text.encode("utf-8", "surrogatepass")), name=name)


# Without pathlib, whose import takes longer than that of all values.


def _last_part(path: str) -> str:
    return os.path.basename(path.rstrip(f"/{os.sep}"))  # noqa: PTH119


def _ending(path: str) -> str:
    return os.path.splitext(_last_part(path))[1].lower()  # noqa: PTH122


def _as_source(given: object) -> object:
    if isinstance(given, (bytes, bytearray, memoryview)):
        raise TypeError(
            "an attachment takes a path; for bytes there are Image.from_bytes and TextFile.from_text"
        )
    if isinstance(given, str) and given[:8].lower().startswith(ADDRESSES):
        raise ConfigError("an attachment takes a path, and this is an address: use Image.from_url(...)")
    return given if isinstance(given, (PathSource, BytesSource, UrlSource)) else PathSource(given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  (checked there)
