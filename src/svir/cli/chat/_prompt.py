"""Where a chat's lines come from: a person at a terminal, or a pipe.

1. Enter sends. Alt-Enter, or a backslash at the end, makes a new line; what is pasted stays one message.
2. Ctrl-C clears what was typed. Ctrl-D at an empty prompt ends.
3. What was typed before is kept in a file that only the user can read, and only when there is a place for it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import create_output

from svir.cli._input import TEXT_BYTES, size
from svir.cli._output import say
from svir.cli.chat._commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.history import History
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

__all__ = ["Prompt", "history_path", "open_history"]

NEW_LINE = "\\"
"""At the end of a line: the message goes on."""


class Prompt:
    """Reads messages from a terminal.

    Args:
        history: What was typed before.
        words: The words that an argument may be, by its kind (`Command.takes`).
        keys: The terminal's input; by default standard input.
        screen: The terminal's output; by default whichever of standard output and standard error is one.
    """

    def __init__(
        self,
        history: History,
        words: Callable[[str], Iterable[str]],
        *,
        keys: Input | None = None,
        screen: Output | None = None,
    ) -> None:
        self._session = PromptSession[str](
            "> ",
            multiline=True,
            prompt_continuation="  ",
            history=history,
            key_bindings=_bindings(),
            completer=_Completer(words),
            complete_while_typing=Condition(lambda: get_app().current_buffer.text.startswith("/")),
            reserve_space_for_menu=5,
            enable_suspend=True,
            input=keys,
            output=screen or create_output(always_prefer_tty=True),
        )

    def read(self) -> str | None:
        """The next message, or None at the end."""
        while True:
            try:
                # Bytes that are no UTF-8 come as surrogates, which no request can hold.
                return self._session.prompt().encode("utf-8", "replace").decode()
            except KeyboardInterrupt:
                say("Ctrl-D or /quit ends the chat.")
            except EOFError:
                return None


def _bindings() -> KeyBindings:
    bindings = KeyBindings()
    typing = has_focus(DEFAULT_BUFFER)

    @bindings.add("enter", filter=typing)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.endswith(NEW_LINE) and buffer.cursor_position == len(buffer.text):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @bindings.add("escape", "enter", filter=typing)
    def _alt_enter(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @bindings.add("c-c", filter=typing)
    @bindings.add("<sigint>", filter=typing)
    def _interrupt(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    return bindings


class _Completer(Completer):
    """Completes commands, and their arguments."""

    def __init__(self, words: Callable[[str], Iterable[str]]) -> None:
        self._words = words
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        typed = document.text_before_cursor
        name, blank, argument = typed.removeprefix("/").partition(" ")
        if not typed.startswith("/") or "\n" in typed:
            return
        if not blank:
            for known, command in COMMANDS.items():
                if known.startswith(name):
                    yield Completion(f"/{known}", -len(typed), display_meta=command.help)
        elif name in COMMANDS:
            if COMMANDS[name].takes == "path":
                yield from self._paths.get_completions(Document(argument), complete_event)
            for word in self._words(COMMANDS[name].takes):
                if word.startswith(argument):
                    yield Completion(word, -len(argument))


class _FileHistory(FileHistory):
    def store_string(self, string: str) -> None:
        with contextlib.suppress(OSError, UnicodeError):  # a full disk must not end the chat
            super().store_string(string)


def history_path() -> Path:
    """The file of what was typed, by the XDG base directory specification."""
    state = os.environ.get("XDG_STATE_HOME", "")
    return (
        (Path(state) if Path(state).is_absolute() else Path("~/.local/state").expanduser())
        / "svir"
        / "history"
    )


def open_history(path: Path | None) -> History:
    """The history in a file, which is made; without one, or when it cannot be, one that is not kept."""
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(0, "it is no regular file")
            if found.st_size > TEXT_BYTES:
                raise OSError(0, f"it is larger than {size(TEXT_BYTES)}")
            os.fchmod(descriptor, 0o600)  # one that was there may have been open to others
        finally:
            os.close(descriptor)
    except OSError as error:
        say(f"svir: what is typed is not kept: {path} cannot be used: {error.strerror}")
        return InMemoryHistory()
    return _FileHistory(str(path))
