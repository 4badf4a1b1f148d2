"""What a chat reads from disk, and writes there.

1. An attachment is read when it is attached (S103): what was said stays said, whatever becomes of the file,
   and one that cannot be read is told before anything is asked. So it is with those of a loaded conversation.
2. A conversation is stored in svir's serialized form (D22), which other implementations read and write.
3. No file is overwritten unless the command says so; then what was there stays until all of the new one is.
"""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import Any

import msgspec

import svir
from svir.cli._exits import CODES
from svir.cli._input import CONVERSATION_BYTES, TEXT_BYTES, read_file, reason, size
from svir.cli._new_file import NewFile
from svir.cli._refused import RefusedError

__all__ = ["Stored", "as_path", "load", "read_image", "read_text_file", "save"]

BEYOND = ", all that a chat keeps: `svir ask` sends files of any size"


def as_path(argument: str) -> Path:
    """The path somebody typed, or dragged into the terminal, which then quotes it.

    Example:
        >>> as_path("my notes.txt").name, as_path("'my notes.txt'").name
        ('my notes.txt', 'my notes.txt')
    """
    path = Path(argument)
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # what is no path fails when it is opened
        if not path.exists():
            words = shlex.split(argument)
            path = Path(words[0] if len(words) == 1 else argument).expanduser()
    return path


def read_text_file(path: Path, name: str | None = None) -> svir.TextFile:
    """A text file with its content, named as told, or after the path.

    Raises:
        RefusedError: It cannot be read, or is no UTF-8 text.
    """
    data = _attachment(path)
    try:
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return svir.TextFile(svir.BytesSource(data), name=name or path.name)
    raise RefusedError(f"{path.name!r} is not UTF-8 text", code=CODES["attachment"])


def read_image(path: Path, kind: str | None = None, detail: svir.Detail | None = None) -> svir.Image:
    """An image with its content, of the media type told, or the one that the name's ending tells.

    Raises:
        RefusedError: It cannot be read, or nothing tells its media type.
    """
    data = _attachment(path)
    kind = kind or svir.Image(path).media_type
    if kind is None:
        problem = f"{path.name!r} is no image by its name"
        raise RefusedError(problem, "It must end with png, jpg, gif or webp.", code=CODES["attachment"])
    return svir.Image.from_bytes(data, kind, detail=detail)


class Stored(msgspec.Struct, frozen=True):
    """A conversation from a file.

    Attributes:
        conversation: The whole request, or nothing but its messages: both are forms to store one in.
        paths: The files that it named, whose content it has now.
    """

    conversation: svir.Request | tuple[svir.Message, ...]
    paths: tuple[str, ...] = ()


def load(path: Path) -> Stored:
    """The conversation in a file.

    Raises:
        RefusedError: It cannot be read, is no conversation, or names a file that cannot be read.
    """
    data = read_file(path, CONVERSATION_BYTES, regular=True)
    problem = "holds no conversation: neither a request nor a list of messages"
    try:
        form = msgspec.json.decode(data, type=list[Any] | dict[str, Any])
        if isinstance(form, list):
            return _with_files(svir.from_dict(tuple[svir.Message, ...], form))
        if "messages" in form:
            return _with_files(svir.from_dict(svir.Request, form))
    except svir.ConfigError as error:
        problem = f"holds no conversation: {error.detail}"
    except (msgspec.MsgspecError, RecursionError):
        pass
    raise RefusedError(f"{path.name!r} {problem}", code=CODES["config"])


def save(path: Path, request: svir.Request, *, overwrite: bool = False) -> None:
    """Stores a conversation.

    Raises:
        RefusedError: The file exists and is not to be overwritten, or cannot be written.
    """
    text = msgspec.json.format(msgspec.json.encode(svir.to_dict(request)), indent=2).decode() + "\n"
    if len(text.encode()) > CONVERSATION_BYTES:
        problem = f"would be larger than {size(CONVERSATION_BYTES)}, all that /load takes"
        raise RefusedError(f"{path.name!r} {problem}", code=CODES["config"])
    try:
        if overwrite:
            with NewFile(path) as replacement:
                replacement.put(text)
        else:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    except FileExistsError:
        problem, advice = "exists", "/save! FILE overwrites it."
    except (OSError, ValueError) as error:
        problem, advice = f"cannot be written: {reason(error)}", ""
    else:
        return
    raise RefusedError(f"{path.name!r} {problem}", advice, code=CODES["config"])


def _attachment(path: Path) -> bytes:
    return read_file(path, TEXT_BYTES, regular=True, beyond=BEYOND, code=CODES["attachment"])


def _with_files(conversation: svir.Request | tuple[svir.Message, ...]) -> Stored:
    messages = conversation if isinstance(conversation, tuple) else conversation.messages
    paths = list[str]()

    def content(part: svir.Part) -> svir.Part:
        match part:
            case svir.Image(svir.PathSource(path)):
                paths.append(path)
                return read_image(Path(path), part.media_type, part.detail)
            case svir.TextFile(svir.PathSource(path)):
                paths.append(path)
                return read_text_file(Path(path), part.name)
            case _:
                return part

    whole = tuple(svir.Message(message.role, map(content, message.parts)) for message in messages)
    kept = whole if isinstance(conversation, tuple) else conversation.replace(messages=whole)
    return Stored(kept, tuple(paths))
