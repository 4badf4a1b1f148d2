"""A file that is there as a whole, or not at all.

1. It is made before the work whose outcome goes into it: what is wrong with its place is said at once.
2. It gets its name when all of it is on the disk. What was there under that name stays until then.
3. Only a regular file is replaced: no link is followed, no device, pipe or folder is written to.
4. A file that is replaced hands on its permissions; a new one gets what the umask leaves.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING

from svir.cli._refused import CONFIG, RefusedError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

__all__ = ["NewFile"]


class NewFile:
    """A file that is about to be written, as a context; without `put` nothing remains of it.

    Args:
        path: Where it will be.

    Raises:
        RefusedError: No file can be made there, or what is there is not to be replaced.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unnamed = path.with_name(f".svir-{secrets.token_hex(8)}") if path.name else path
        try:
            mode = mode_to_keep(path)
            self._file = os.open(self._unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            problem = None
        except OSError as error:
            mode, problem = None, error
        if problem is not None:
            raise refused(path, problem)
        if mode is not None:
            with contextlib.suppress(OSError):  # where files have no permissions of their own
                os.fchmod(self._file, mode)

    def put(self, text: str) -> None:
        """Writes all of it, and gives it its name.

        Raises:
            RefusedError: It cannot be written; what was there is still there.
        """
        try:
            with open(self._file, "wb", closefd=False) as file:
                file.write(text.encode())
            os.fsync(self._file)
            self._unnamed.replace(self._path)
            problem = None
        except OSError as error:
            problem = error
        if problem is not None:
            raise refused(self._path, problem)

    def close(self) -> None:
        """Removes what has got no name."""
        os.close(self._file)
        with contextlib.suppress(FileNotFoundError):
            self._unnamed.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def refused(path: Path, error: OSError) -> RefusedError:
    problem = f"the file {path.name!r} cannot be written: {error.strerror}"
    return RefusedError(problem, "Name a regular file, or none that is there yet.", code=CONFIG)


def mode_to_keep(path: Path) -> int | None:
    """The permissions of the file that is there; None when there is none."""
    if str(path) == "-":
        raise OSError(0, "give it a name")  # elsewhere a dash is standard input or output
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "what is there is no regular file")
    return stat.S_IMODE(found.st_mode)
