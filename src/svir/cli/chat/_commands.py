"""What can be typed at a chat: messages, and the slash commands of the table below."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Literal

import msgspec

import svir
from svir.cli._refused import RefusedError
from svir.cli.chat._effects import Ask, Effect, ListModels, Quit, Tell
from svir.cli.chat._files import as_path, load, read_image, read_text_file, save

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.cli.chat._session import Session

__all__ = ["COMMANDS", "Command", "take"]

NOTHING = "-"
"""The argument that takes something back."""
BLANKS = re.compile(r"\s+")
LONGEST_NAME = 40
"""Most characters shown of what is no command: it may be a whole page that was pasted."""


def take(session: Session, text: str) -> Effect:
    """What an input leads to: a message, a command, or nothing when it is blank.

    Raises:
        RefusedError: It cannot be done.
    """
    if not text.strip():
        return Tell()
    if text.startswith("//"):
        return Ask(session.ask(text[1:]))
    if not text.startswith("/"):
        return Ask(session.ask(text))
    name, *rest = BLANKS.split(text[1:], maxsplit=1)
    if name not in COMMANDS:
        raise _unknown(name[:LONGEST_NAME])
    return COMMANDS[name].run(session, "".join(rest).strip())


def _unknown(name: str) -> RefusedError:
    close = difflib.get_close_matches(name, COMMANDS, 1)
    meant = f"Did you mean /{close[0]}? " if close else ""
    return RefusedError(
        f"there is no command /{name}",
        f"{meant}/help lists them; a message that begins with / is typed with two.",
    )


def _image(session: Session, argument: str) -> Effect:
    return _attach(session, argument, read_image)


def _file(session: Session, argument: str) -> Effect:
    return _attach(session, argument, read_text_file)


def _attach(session: Session, argument: str, read: Callable[..., svir.Image | svir.TextFile]) -> Effect:
    if argument == NOTHING:
        session.attached = ()
    elif argument:
        session.attach(read(as_path(argument)))
    count = len(session.attached)
    return Tell((f"{count} attached to the next message" if count else "nothing is attached",))


def _system(session: Session, argument: str) -> Effect:
    if argument:
        session.change(system=None if argument == NOTHING else argument)
    prompt = session.request.system
    return Tell(("system prompt:", *prompt.splitlines()) if prompt else ("no system prompt",))


def _model(session: Session, argument: str) -> Effect:
    if not argument:
        return ListModels()
    session.change(model=argument)
    return Tell((f"model {argument}",))


def _effort(session: Session, argument: str) -> Effect:
    if argument and argument != NOTHING and argument not in set(svir.Effort):
        raise RefusedError(f"{argument!r} is no effort", f"It is one of {', '.join(svir.Effort)}.")
    if argument:
        session.change(effort=None if argument == NOTHING else argument)
    return Tell((f"effort {session.request.effort or 'as the server likes'}",))


def _retry(session: Session, _argument: str) -> Effect:
    return Ask(session.again())


def _save(session: Session, argument: str, *, overwrite: bool = False) -> Effect:
    path = as_path(_needed(argument, "/save FILE"))
    save(path, session.stored(), overwrite=overwrite)
    return Tell((f"saved to {path}",))


def _save_anyway(session: Session, argument: str) -> Effect:
    return _save(session, argument, overwrite=True)


def _load(session: Session, argument: str) -> Effect:
    return Tell(session.restore(load(as_path(_needed(argument, "/load FILE")))))


def _reasoning(session: Session, _argument: str) -> Effect:
    return Tell(tuple(session.reasoning.splitlines()) or ("the last answer came without reasoning",))


def _usage(session: Session, _argument: str) -> Effect:
    return Tell(session.spent.lines())


def _clear(session: Session, _argument: str) -> Effect:
    session.clear()
    return Tell(("started anew; model, system prompt and effort stay",))


def _help(_session: Session, _argument: str) -> Effect:
    return Tell((*(f"  {command.usage:16} {command.help}" for command in COMMANDS.values()), *KEYS))


def _quit(_session: Session, _argument: str) -> Effect:
    return Quit()


def _needed(argument: str, usage: str) -> str:
    if not argument:
        raise RefusedError(f"it takes a path: {usage}")
    return argument


class Command(msgspec.Struct, frozen=True):
    """A slash command.

    Attributes:
        usage: How it is typed.
        help: What it does, in a few words.
        run: Does it: the session and the rest of the input.
        takes: What its argument is, for completion.
    """

    usage: str
    help: str
    run: Callable[[Session, str], Effect]
    takes: Literal["", "path", "model", "effort"] = ""


COMMANDS = {
    "image": Command("/image PATH", "attach an image to the next message", _image, "path"),
    "file": Command("/file PATH", "attach a text file; - takes all back", _file, "path"),
    "system": Command("/system [TEXT]", "show or set the system prompt; - removes it", _system),
    "model": Command("/model [ID]", "list the server's models, or choose one", _model, "model"),
    "effort": Command("/effort [WORD]", "show or set how much to reason; - unsets it", _effort, "effort"),
    "retry": Command("/retry", "ask the last question again; its answer is dropped", _retry),
    "reasoning": Command("/reasoning", "show the last answer's reasoning", _reasoning),
    "usage": Command("/usage", "tokens of the last answer and of the chat", _usage),
    "save": Command("/save FILE", "store the conversation", _save, "path"),
    "save!": Command("/save! FILE", "the same, over a file that exists", _save_anyway, "path"),
    "load": Command("/load FILE", "go on with a stored conversation", _load, "path"),
    "clear": Command("/clear", "start anew", _clear),
    "help": Command("/help", "show this", _help),
    "quit": Command("/quit", "end the chat", _quit),
}

KEYS = (
    "Enter sends; Alt-Enter, or a \\ at the end of the line, makes a new line.",
    "Ctrl-C stops the answer, or clears the line. Ctrl-D ends the chat.",
    "// sends a message that begins with a /.",
)
