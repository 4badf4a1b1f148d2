"""Where a recording comes from, and where a case goes to."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from svir.cli._input import stdin
from svir.cli._new_file import NewFile
from svir.cli._output import say, write
from svir.cli._refused import CONFIG, RefusedError
from svir.cli.decode._recording import FORM

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["opened", "put"]

STDIN = "-"


@contextlib.contextmanager
def opened(name: str) -> Generator[Callable[[int], bytes]]:
    """What reads the recording: as much as is there, so that events are shown while they arrive in a pipe.

    Raises:
        RefusedError: There is no such file.
    """
    if name == STDIN:
        yield functools.partial(os.read, stdin("recording").fileno())
        return
    try:
        file = io.FileIO(name)
    except OSError as error:
        problem = error.strerror
    except ValueError:  # a lone surrogate, or a NUL
        problem = "no file can be called that"
    else:
        with file:
            yield file.read
        return
    raise RefusedError(
        f"the recording {Path(name).name!r} cannot be read: {problem}",
        FORM,
        code=CONFIG,
    )


def put(text: str, output: Path | None, name: str) -> None:
    """Writes a case to standard output, into a file, or into a folder under its own name.

    Raises:
        RefusedError: The file cannot be written.
    """
    if output is None:
        write(sys.stdout, text)
        return
    path = output
    with contextlib.suppress(OSError):  # what is no path fails when the file is made
        path = output / name if output.is_dir() else output
    with NewFile(path) as file:
        file.put(text)
    say(f"svir: {path} says what this version makes of the recording: judge it before you keep it")
