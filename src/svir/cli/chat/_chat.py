"""The chat itself: reads an input, does what it leads to, and goes on.

1. A person goes on after whatever went wrong. A script does not: when standard input is no terminal, the
   first thing that goes wrong ends the chat with its exit code, since what follows builds on it (S104).
2. Standard output gets the answers and nothing else. Markdown, and anything that moves, is for a person who
   sees both what is typed and what is answered on one terminal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

import svir
from svir.cli._commands import show, summary
from svir.cli._connect import choose_model, connect, listed
from svir.cli._exits import CODES, INTERRUPTED, describe
from svir.cli._input import read_line
from svir.cli._output import Output, harmless, mention, one_line, say
from svir.cli._refused import RefusedError
from svir.cli.chat._answer import Kept, PlainScreen
from svir.cli.chat._commands import take
from svir.cli.chat._effects import Ask, ListModels, Quit, Tell
from svir.cli.chat._files import load
from svir.cli.chat._keyboard import Keyboard, put_back
from svir.cli.chat._session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from svir.cli._connect import Server
    from svir.cli.chat._answer import Screen

__all__ = ["Settings", "chat"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a chat begins."""

    system: str | None = None
    effort: svir.Effort | None = None
    max_tokens: int | None = None
    load: Path | None = None
    history: bool = True


def chat(settings: Settings, server: Server) -> int:
    """Holds a chat, and returns the exit code.

    Raises:
        RefusedError: The conversation to load cannot be used.
    """
    session, notes = begin(settings, server)
    output = Output()
    with connect(server, output) as client:
        return Chat(session, client, output, settings, server).run(notes)


def begin(settings: Settings, server: Server) -> tuple[Session, tuple[str, ...]]:
    """The conversation to go on with, and what is to be said of it. What the options say comes first.

    Raises:
        RefusedError: The one to load cannot be used.
    """
    session, notes = Session(svir.Request()), tuple[str, ...]()
    if settings.load is not None:
        notes = session.restore(load(settings.load))
    options = {"system": settings.system, "effort": settings.effort, "max_tokens": settings.max_tokens}
    session.change(**{name: value for name, value in options.items() if value is not None})
    if server.model or server.local:  # a local server has a model of its own
        session.change(model=server.model)
    return session, notes


class Chat:
    """A conversation at a terminal or over a pipe."""

    def __init__(
        self,
        session: Session,
        client: svir.Client,
        output: Output,
        settings: Settings,
        server: Server,
    ) -> None:
        self._session = session
        self._client = client
        self._output = output
        self._server = server
        self._models = list[str]()
        self._person = sys.stdin.isatty()
        self._read: Callable[[], str | None] = read_line
        self._screen: Callable[[], Screen] = lambda: PlainScreen(output)
        self._pretty = False
        if self._person:
            self._meet(settings)

    def _meet(self, settings: Settings) -> None:
        """What a person at a terminal gets in the place of plain lines."""
        from rich.console import Console

        from svir.cli.chat._prompt import Prompt, history_path, open_history

        history = open_history(history_path() if settings.history else None)
        self._read = Prompt(history, self._words).read
        if self._output.terminal and Console().is_interactive:  # not on one that knows no escape codes
            from svir.cli.chat._screen import MarkdownScreen

            self._screen, self._pretty = MarkdownScreen, True

    def run(self, notes: Iterable[str]) -> int:
        """Reads and answers until the end, and returns the exit code."""
        if not self._person:
            return self._talk(notes)
        with put_back(drawn=self._pretty):
            return self._talk(notes)

    def _talk(self, notes: Iterable[str]) -> int:
        tell(notes)
        self._choose()
        if self._person:
            self._remark(f"{self._session.request.model or 'No model yet'}: /help lists the commands.")
        while True:
            try:
                if self._step():
                    return 0
            except RefusedError as refused:
                failure = refused
            except svir.Error as error:
                failure = self._refused(error)
            except KeyboardInterrupt:
                failure = RefusedError("interrupted", code=INTERRUPTED)
            else:
                continue
            say(*lines_of(failure))
            if not self._person:
                return failure.code

    def _step(self) -> bool:
        """Takes one input; true when it was the last."""
        text = self._read()
        if text is None:
            return True
        match take(self._session, text):
            case Quit():
                return True
            case Tell(lines):
                tell(lines)
            case ListModels():
                self._tell_models(self._listed())
            case Ask(request):
                self._ask(request)
        return False

    def _ask(self, request: svir.Request) -> None:
        screen = self._screen()
        keyboard = Keyboard(there=self._person)
        kept = Kept(screen, keyboard)
        try:
            with keyboard:
                try:
                    screen.begin()
                    completion = show(self._client, request, kept)
                finally:
                    kept.end_text()
        except KeyboardInterrupt:
            words = "interrupted: the connection is closed, the answer is not whole"
            failure = RefusedError(words, code=INTERRUPTED)
        except svir.Error as error:
            failure = self._refused(error)
        else:
            self._remark(*summary(completion), self._session.answered(completion))
            tell([""] * self._pretty)
            return
        note = self._session.stopped(kept.shown)
        if self._person:
            failure.advice = f"{failure.advice} {note}".strip()
        raise failure

    def _refused(self, error: svir.Error) -> RefusedError:
        said, advice = describe(error, server=self._server)
        return RefusedError(said.removeprefix("svir: "), advice, code=CODES[error.kind])

    def _choose(self) -> None:
        """Sees to it that there is a model. A person can choose one; a script has to name it.

        Raises:
            svir.Error: They cannot be listed.
            RefusedError: A script has not named one, and there is not just one.
        """
        if self._session.request.model:
            return
        if not self._person:
            self._session.change(model=choose_model(self._client))
            return
        names = self._listed()
        if len(names) == 1:
            self._session.change(model=names[0])
        else:
            self._tell_models(names)
            say("/model ID chooses one.")

    def _listed(self) -> list[str]:
        """The server's models, which can be completed from then on."""
        self._models = listed(self._client)
        return self._models

    def _tell_models(self, names: Iterable[str]) -> None:
        chosen = self._session.request.model
        tell(f"{'*' if name == chosen else ' '} {name}" for name in names)

    def _words(self, kind: str) -> Iterable[str]:
        return {"effort": [*svir.Effort], "model": self._models}.get(kind, ())

    def _remark(self, *lines: str) -> None:
        """Says something of second rank: dimmed for a person."""
        if not self._pretty:
            say(*lines)
        else:
            for line in filter(None, lines):
                self._output.console.print(one_line(line), style="dim", soft_wrap=True)


def tell(lines: Iterable[str]) -> None:
    """Prints lines to standard error, their blanks kept."""
    for line in lines:
        mention(f"{harmless(line)}\n")


def lines_of(refused: RefusedError) -> tuple[str, str]:
    """What to say of it."""
    return f"svir: {refused.problem}", refused.advice
