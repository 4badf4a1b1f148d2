"""What `svir decode` does with its options."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import msgspec

import svir
from svir.cli._exits import CODES
from svir.cli._output import said_console, say
from svir.cli._refused import CONFIG, RefusedError
from svir.cli.decode._case import write_case
from svir.cli.decode._cuts import differing_cut
from svir.cli.decode._failure import failure_of
from svir.cli.decode._files import opened, put
from svir.cli.decode._merge import merged
from svir.cli.decode._playback import Playback
from svir.cli.decode._reading import Reading
from svir.cli.decode._recording import Recording
from svir.cli.decode._view import JsonView, TextView, View

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Task", "decode"]

MOST_BYTES = 64 * 1024
"""Of a stream that is cut in every way: a minute or two."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done.

    Attributes:
        file: The recording's path, or ``-``.
        reading: How it is to be read.
        chunk: Bytes given to the decoder at a time; None: as they come.
        every_cut: Try every way to cut the bytes, in the place of showing the events.
        merge: Join neighbouring pieces of the same text.
        as_json: Show JSON.
        case: Write a conformance case of this name, in the place of showing anything.
        output: Where to; None: standard output.
    """

    file: str
    reading: Reading = Reading()
    chunk: int | None = None
    every_cut: bool = False
    merge: bool = False
    as_json: bool = False
    case: str | None = None
    output: Path | None = None


def decode(task: Task) -> int:
    """Does it, and returns the exit code.

    Raises:
        svir.Error: No case can be made of it.
        RefusedError: The file cannot be read.
    """
    with opened(task.file) as file:
        if task.case is not None:
            body = Playback(Recording(file), task.reading).body()
            put(write_case(task.case, body, task.reading), task.output, f"{task.case}.json")
            return 0
        view = JsonView() if task.as_json else TextView()
        read = try_cuts(file, task, view) if task.every_cut else file
        return show(Playback(Recording(read), task.reading, task.chunk), task, view)


def show(playback: Playback, task: Task, view: View) -> int:
    """Shows the events, and how they end."""
    found = playback.events()
    try:
        for located in merged(found) if task.merge else found:
            if not task.every_cut or isinstance(located.event, svir.Completed):
                view.event(located)
    except svir.Error as error:
        failure = failure_of(error, playback)
    else:
        return 0
    view.failure(failure)
    say(failure.text, failure.advice)
    return CODES[failure.kind]


def try_cuts(read: Callable[[int], bytes], task: Task, view: View) -> Callable[[int], bytes]:
    """Tries every cut of the stream in a recording, and returns what reads the recording once more.

    Raises:
        AssertionError: One has another outcome: a fault of svir.
        RefusedError: The stream is too long for that.
    """
    kept = io.BytesIO()

    def keep(size: int) -> bytes:
        data = read(size)
        kept.write(data)
        return data

    def again(size: int) -> bytes:
        return kept.read(size) or read(size)

    try:
        body = Playback(Recording(keep), task.reading).body()
    except svir.Error:
        pass  # it is no stream, as will be told
    else:
        if len(body) > MOST_BYTES:
            raise RefusedError(
                f"--every-cut takes a stream of at most {MOST_BYTES // 1024} KiB, since its time grows with "
                f"the square of that, and this one has {len(body)} bytes",
                "--chunk N cuts it in one way.",
                code=CONFIG,
            )
        with said_console().status(f"trying {len(body) + 1} cuts ..."):
            words, tried = differing_cut(body, task.reading)
        if words is not None:
            raise AssertionError(f"{words}, the bytes have another outcome than whole")
        view.cuts(tried)
    kept.seek(0)
    return again
