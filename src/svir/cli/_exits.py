"""How a command ends: its exit code, and what it says when it fails.

1. Every kind of error has an exit code of its own, so that a script can act on it (`CODES`).
2. An error is one line, and one of advice at most (`_advice`). There is never a traceback: what is left then
   is a fault of svir itself, and says so.
3. The server's words are shown here, and nowhere else in svir: as text, made safe for a terminal, and without
   the key, which some servers repeat.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from svir.cli._advice import advise, is_page
from svir.cli._connect import KEY
from svir.cli._local import LocalServerError
from svir.cli._output import OutputError, one_line, say, writing
from svir.cli._refused import CONFIG, USAGE, RefusedError
from svir.cli._withheld import withheld
from svir.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.cli._connect import Server
    from svir.errors import ErrorKind

__all__ = [
    "BUG",
    "CODES",
    "EXIT_CODES",
    "INTERRUPTED",
    "LOCAL_SERVER",
    "NO_MEMORY",
    "NO_OUTPUT",
    "NO_READER",
    "USAGE",
    "describe",
    "finish",
    "settle",
]

LOCAL_SERVER = 30
BUG = 70
NO_MEMORY = 71
NO_OUTPUT = 74
INTERRUPTED = 130
NO_READER = 141
"""What a shell reports for a program that SIGPIPE ended."""

CODES: dict[ErrorKind, int] = {
    "transport": 10,
    "timeout": 11,
    "rate_limited": 12,
    "truncated_stream": 13,
    "authentication": 14,
    "context_overflow": 15,
    "content_filter": 16,
    "protocol": 17,
    "server": 18,
    "unsupported": 19,
    "response_limit": 20,
    "attachment": 21,
    "config": CONFIG,
    "answer": 23,
}

EXIT_CODES = (
    "0 complete (how: last line)",
    f"{USAGE} usage",
    *(f"{code} {kind}" for kind, code in CODES.items()),
    f"{LOCAL_SERVER} no local server",
    f"{BUG} bug",
    f"{NO_MEMORY} no memory",
    f"{NO_OUTPUT} no output",
    f"{INTERRUPTED} interrupted",
    f"{NO_READER} no reader",
)

SERVER_MESSAGE_CHARACTERS = 300
TITLE = re.compile(r"(?is)<title[^<>]*>([^<]*)")


def finish(work: Callable[[], int], *, server: Server | None = None, recorded: bool = False) -> int:
    """Does the work, and returns the exit code of however it went.

    Args:
        work: What to do.
        server: The server that is asked.
        recorded: Whether no server is asked, but a recording read.
    """
    try:
        code = work()
        with writing():
            sys.stdout.flush()
    except BrokenPipeError:
        settle()
        return NO_READER
    except OutputError as error:
        if os.environ.get("SVIR_TRACEBACK"):
            raise
        settle()
        say(f"svir: the output cannot be written: {error}")
        return NO_OUTPUT
    except KeyboardInterrupt:
        say("svir: interrupted")
        return INTERRUPTED
    except LocalServerError as error:
        say(f"svir: {error.problem}", error.advice)
        return LOCAL_SERVER
    except RefusedError as error:
        say(f"svir: {error.problem}", error.advice)
        return error.code
    except Error as error:
        say(*describe(error, server=server, recorded=recorded))
        return CODES[error.kind]
    except MemoryError:
        if os.environ.get("SVIR_TRACEBACK"):
            raise
        say("svir: memory ran out")
        return NO_MEMORY
    except Exception as error:
        if os.environ.get("SVIR_TRACEBACK"):
            raise
        say(
            f"svir: a fault of svir itself: {type(error).__name__}: {error}",
            "Please report it, with what SVIR_TRACEBACK=1 in the environment shows.",
        )
        return BUG
    return code


def describe(error: Error, *, server: Server | None = None, recorded: bool = False) -> tuple[str, str]:
    """What happened, with the server's own words, and the advice; the arguments are those of ``finish``."""
    secrets = () if server is None else server.secrets
    said, advice, where = advise(error, keyed=bool(secrets), recorded=recorded)
    line = f"svir: {said}"
    if server is not None:
        if error.kind == "authentication" and server.unsent_key:
            advice = f"{server.unsent_key}. If it is this server's: --api-key-env {KEY}."
        if where and server.address is not None:
            line += f" ({server.address})"
    if error.server_message:
        line += _quoted(error, [os.environ.get(name, "").strip() for name in secrets])
    return line, advice


def _quoted(error: Error, keys: list[str]) -> str:
    """The server's words as a sentence of their own; of a web page its title."""
    text, says = error.server_message or "", "The server says"
    if is_page(error):
        title = TITLE.search(text)
        text, says = title[1] if title else "", "The server sends a web page"
    words = one_line(withheld(text, *keys))
    more = "..." if len(words) > SERVER_MESSAGE_CHARACTERS else ""
    return f'. {says}: "{words[:SERVER_MESSAGE_CHARACTERS]}{more}"' if words else f". {says}"


def settle() -> None:
    """Writes what is left, or gives it up, so that the interpreter's last flush does not fail as well."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nothing, stream.fileno())
    os.close(nothing)
