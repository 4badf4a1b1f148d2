"""How a command ends: its exit code, and what it says when it fails.

1. Every kind of error has an exit code of its own, so that a script can act on it (`CODES`).
2. An error is one line, and one of advice at most. There is never a traceback: what is left then is a fault
   of svir itself, and says so.
3. The server's words are shown here, and nowhere else in svir: as text, made safe for a terminal.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from svir.cli._local import LocalServerError
from svir.cli._output import one_line, say
from svir.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.errors import ErrorKind

__all__ = ["BUG", "CODES", "EPILOG", "INTERRUPTED", "LOCAL_SERVER", "NO_READER", "finish"]

USAGE = 2
LOCAL_SERVER = 30
BUG = 70
INTERRUPTED = 130
NO_READER = 141
"""What a shell reports for a program that SIGPIPE ended."""

# kind: (exit code, advice)
KINDS: dict[ErrorKind, tuple[int, str]] = {
    "transport": (10, "Does the server run, and at that address? Trying again may help."),
    "timeout": (11, "Trying again may help: a server may still be loading the model."),
    "rate_limited": (12, "Wait a while, then try again."),
    "truncated_stream": (13, "What was printed is not the whole answer. Trying again may help."),
    "authentication": (14, "Name the environment variable that holds the key: --api-key-env NAME."),
    "context_overflow": (15, "Shorten the prompt or the files, or ask for fewer --max-tokens."),
    "content_filter": (16, "The server's filter blocked the prompt: say it differently."),
    "protocol": (17, "--lenient reads more than the protocol allows; --raw shows what the server sends."),
    "server": (18, "The server's own log says more. Trying again may help."),
    "unsupported": (
        19,
        "Leave out what this server does not know, or try --lenient; --raw shows its answer.",
    ),
    "response_limit": (20, "--raw prints the server's bytes without reading them."),
    "attachment": (21, "Check the files given with --image and --file."),
    "config": (22, "`svir --help`, and --help after a command, list the options."),
    "answer": (23, "What was printed is not the JSON that was asked for."),
}
CODES: dict[ErrorKind, int] = {kind: code for kind, (code, _) in KINDS.items()}

EPILOG = (
    "Exit codes: 0 a whole answer; 2 wrong usage; "
    + "; ".join(f"{code} {kind}" for kind, code in CODES.items())
    + f"; {LOCAL_SERVER} the local server cannot start; {BUG} a fault of svir; {INTERRUPTED} interrupted; "
    + f"{NO_READER} nobody reads the output."
)

SERVER_MESSAGE_CHARACTERS = 300


def finish(work: Callable[[], int]) -> int:
    """Does the work, and returns the exit code of however it went."""
    try:
        code = work()
        sys.stdout.flush()
    except BrokenPipeError:
        leave_pipe()
        return NO_READER
    except KeyboardInterrupt:
        say("svir: interrupted")
        return INTERRUPTED
    except LocalServerError as error:
        say(f"svir: {error.problem}", error.advice)
        return LOCAL_SERVER
    except Error as error:
        say(*describe(error))
        return CODES[error.kind]
    except Exception as error:
        if os.environ.get("SVIR_TRACEBACK"):
            raise
        say(
            f"svir: a fault of svir itself: {type(error).__name__}: {error}",
            "Please report it, with what SVIR_TRACEBACK=1 in the environment shows.",
        )
        return BUG
    return code


def describe(error: Error) -> tuple[str, str]:
    """What happened, with the server's own words, and the advice."""
    line = f"svir: {error}"
    if error.status is not None and str(error.status) not in line:
        line += f" (HTTP {error.status})"
    if error.server_message:
        words = one_line(error.server_message)
        more = "..." if len(words) > SERVER_MESSAGE_CHARACTERS else ""
        line += f'. The server says: "{words[:SERVER_MESSAGE_CHARACTERS]}{more}"'
    advice = KINDS[error.kind][1]
    if error.retry_after is not None:
        advice = f"The server asks to wait {error.retry_after:g} seconds, then try again."
    elif error.kind == "transport" and error.status is not None:
        advice = "The server's own log says more. Trying again may help."
    elif "allow_http" in error.detail:
        advice = "--allow-http sends the request, and the key, over plain HTTP all the same."
    return line, advice


def leave_pipe() -> None:
    """Points standard output at nothing, so that the interpreter's last flush does not fail as well."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nothing, stream.fileno())
    os.close(nothing)
