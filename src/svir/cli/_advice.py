"""What the command says about an error, and what it advises, in the command's own words.

1. The kind decides, with the status where one says more (`ADVICE`, and `RECORDED` when nothing was asked but
   a recording read; the closest entry counts). Where it may be the address that is wrong, it is told.
2. Only an error that may pass is told with the advice to try again (`Error.retryable`).
3. The library names its own arguments where a switch helps, and only there: so no advice here says
   `--lenient`. Nobody can type those at a prompt, so each becomes the option that stands for it, or goes
   where the command has none (`SPELLINGS`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from svir.errors import Error

__all__ = ["ADVICE", "LISTING", "RECORDED", "Told", "advise", "is_page", "respell"]

AGAIN = "Trying again may help."
CHECK_KEY = "Check SVIR_KEY, or what --api-key-env or --header names: is it this server's key?"
CHECK_URL = "Check the URL: is this the address of a model server?"
LISTING = "It was asked for the list of its models."
"""The note of an error when that was what the server was asked for."""
SHOWN_RAW = "`svir ask --raw` shows what the server sends."


class Advice(NamedTuple):
    """What to do, and what happened where the library's words do not fit the command.

    With ``again``, an error that may pass is told with the advice to try again; with ``where``, the address
    that was asked is told.
    """

    advice: str
    detail: str | None = None
    again: bool = True
    where: bool = False


class Told(NamedTuple):
    """What is told: what happened, what to do, and whether the address belongs to it."""

    said: str
    advice: str
    where: bool


ALWAYS_WHERE = frozenset({"transport", "timeout"})
"""The kinds that are first of all a matter of the address."""
NO_LIST = Advice(f"{CHECK_URL} One that lists no models is asked with --model ID.", where=True)
PLAIN = Advice("If it speaks plain HTTP, begin the URL with http: and not with https:.", again=False)

# What an error is about where neither kind nor status tells: by words of svir's own in its text. Their
# names there are not public, and the command line uses no others; for each, the tests ask a real server.
ABOUT = {"speak TLS": "tls", "answered with JSON": "json", "a web page": "page"}

# kind, or "kind status", or "kind 5xx", perhaps with a word: "models" is an error of listing them, "html" one
# whose body is a page, "keyed" one of a request that had a key, "stream" one found in a stream, "final" one
# that stays, and those of `ABOUT`.
ADVICE = {
    "transport": Advice("Does the server run, and at that address?"),
    "transport tls": PLAIN,
    "transport 5xx": Advice("The server's own log says more."),
    "transport 5xx html": Advice("The page is mostly a proxy's: does the model server behind it run?"),
    "timeout": Advice("A server may still be loading the model."),
    "timeout tls": PLAIN,
    "rate_limited": Advice("Wait a while first."),
    "rate_limited final": Advice("Whoever runs the server can say what the quota is."),
    "truncated_stream": Advice("What was printed is not the whole answer."),
    "authentication": Advice("Name the environment variable that holds the key: --api-key-env NAME."),
    "authentication 401": Advice(
        "Name the environment variable that holds the key: --api-key-env NAME.", "it wants a key"
    ),
    "authentication 403": Advice(
        "If it wants a key, name the environment variable that holds it: --api-key-env NAME.",
        "it does not allow this",
    ),
    "authentication keyed": Advice(CHECK_KEY),
    "authentication 401 keyed": Advice(
        CHECK_KEY,
        "the key was not accepted",
    ),
    "authentication 403 keyed": Advice("Another key may be allowed this, or this key another model."),
    "context_overflow": Advice("Shorten the prompt or the files, or ask for fewer --max-tokens."),
    "content_filter": Advice("The server's filter blocked the prompt: say it differently."),
    "protocol": Advice(CHECK_URL, where=True),
    "protocol stream": Advice(SHOWN_RAW),
    "server": Advice("The server's own log says more."),
    "unsupported": Advice(
        "Check what was asked, and the URL: is this the address of a model server?", where=True
    ),
    "unsupported json": Advice(
        "Something between may collect the answer: ask the server itself, or see its settings."
    ),
    "unsupported page": Advice(
        "Open the URL in a browser: a login page, or another program at this address?", where=True
    ),
    "unsupported html": Advice(CHECK_URL, where=True),
    "unsupported stream": Advice(SHOWN_RAW),
    "unsupported 4xx": Advice("Leave out what this server does not know."),
    "unsupported 4xx html": Advice(CHECK_URL, where=True),
    "unsupported 4xx models": NO_LIST,
    "unsupported 5xx": Advice("Leave out what this server does not know."),
    "unsupported 5xx html": Advice(CHECK_URL, where=True),
    "unsupported 5xx models": NO_LIST,
    "unsupported 3xx": Advice("Give the address that the server redirects to.", where=True),
    "unsupported 404": Advice(
        "Check the URL and the model: `svir models` lists the models.", "no such path or model", where=True
    ),
    "unsupported 404 html": Advice(CHECK_URL, "no such path", where=True),
    "unsupported 404 models": NO_LIST._replace(detail="no such path"),
    "unsupported 405": Advice(CHECK_URL, where=True),
    "unsupported 405 models": NO_LIST,
    "response_limit": Advice("`svir ask --raw` prints the server's bytes without reading them."),
    "attachment": Advice("Check the files given with --image and --file."),
    "config": Advice("`svir --help`, and --help after a command, list the options."),
    "answer": Advice("What was printed is not the JSON that was asked for."),
}

PAGES = ("<!doctype html", "<html", "<head", "<body")
PAGE_CHARACTERS = 16
"""Enough of a text to see how it begins."""

SHOWN = "The piece shown is what the server sent."
REFUSED = "The server refused the request: there is no answer to decode."
RECORDED = {
    "transport": Advice("The server failed when this was recorded: its own log says more."),
    "timeout": Advice("The server gave up when this was recorded."),
    "rate_limited": Advice("The server took no more requests when this was recorded."),
    "truncated_stream": Advice("The server, its connection or the recording ended early."),
    "authentication": Advice("The request had no key that this server takes."),
    "authentication 401": Advice("The request had no key that this server takes.", "it wants a key"),
    "context_overflow": Advice("The conversation was too long for the model."),
    "content_filter": Advice("The server's filter blocked the prompt."),
    "protocol": Advice("The server, or what recorded it, is at fault: this is no HTTP."),
    "protocol stream": Advice(SHOWN),
    "server": Advice("The server failed while it answered: its own log says more."),
    "unsupported": Advice("There is no event stream in it to decode."),
    "unsupported stream": Advice(SHOWN),
    "unsupported 3xx": Advice("The server redirects to another address: there is no answer to decode."),
    "unsupported 404": Advice(REFUSED, "no such path or model"),
    "unsupported 4xx": Advice(REFUSED),
    "unsupported 5xx": Advice(REFUSED),
    "response_limit": Advice("--limit NAME=N allows more."),
    "attachment": Advice("`svir decode --help` lists the options."),
    "config": Advice("`svir decode --help` lists the options."),
    "answer": Advice("`svir decode --help` lists the options."),
}

SPELLINGS = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r" \(server_message has its words\)$", ""),  # `_exits` shows them
        (
            r"allow_http=True on a trusted network",
            "--allow-http on a trusted network (the key goes there too)",
        ),
        (r"; give it with query=, where it is kept out of logs", ": --query NAME=VALUE gives it"),
        (r", or use path=", ""),
        (r": set media_type=", ": use a png, jpg, gif or webp file"),
        (r"(; )?(see Limits\.\w+|Limits\(\w+=\.\.\.\) allows more)", ""),
        (
            r"name one in the request or in the client \(client\.models\(\) lists them\)",
            "--model ID names one",
        ),
        (r"client\.models\(\)", "`svir models`"),
        (r"api_key=, api_key_env= or api_key_file=", "--api-key-env NAME"),
        (r"\b(path|query)=", r"--\1"),
        (r"\bapi_key(_env)?=", "--api-key-env NAME"),
        (r"\bapi_key_env\b", "--api-key-env"),
        (r"\bmax_tokens=", "--max-tokens"),
        (r"\ballow_http=True", "--allow-http"),
        (r"\bmode='lenient'", "--lenient"),
    )
]


def respell(text: str) -> str:
    """The library's words with the command's options in the place of its arguments.

    Example:
        >>> respell("the length limit cut it; allow more with max_tokens=")
        'the length limit cut it; allow more with --max-tokens'
    """
    for pattern, words in SPELLINGS:
        text = pattern.sub(words, text)
    return text


def is_page(error: Error) -> bool:
    """Whether the server's own words are a web page."""
    begins = (error.server_message or "").lstrip()[:PAGE_CHARACTERS].lower()
    return begins.startswith(PAGES)


def advise(error: Error, *, keyed: bool = False, recorded: bool = False) -> Told:
    """What happened and what to do.

    Args:
        error: The error.
        keyed: Whether the user named a key.
        recorded: Whether no server was asked, but a recording read.
    """
    table = RECORDED if recorded else ADVICE
    found = next(table[place] for place in places(error, _words(error, keyed)) if place in table)
    if found.detail:
        said = f"{error.phrase}: HTTP {error.status}: {found.detail}"
    elif error.kind == "config" and error.detail:
        said = respell(error.detail)  # whose configuration it is does not interest who typed a command
    else:
        said = respell(str(error))
    if error.status is not None and str(error.status) not in said:
        said += f" (HTTP {error.status})"
    return Told(said, _advice(error, found, recorded), found.where or error.kind in ALWAYS_WHERE)


def _words(error: Error, keyed: bool) -> list[str]:
    words = ["models"] if LISTING in getattr(error, "__notes__", ()) else []
    if is_page(error):
        words.append("html")
    if keyed:
        words.append("keyed")
    if error.place is not None:
        words.append("stream")
    return words + [word for text, word in ABOUT.items() if text in error.detail]


def _advice(error: Error, found: Advice, recorded: bool) -> str:
    if recorded or not error.retryable:
        return found.advice
    if (wait := error.retry_after if error.retry_after_sent is None else error.retry_after_sent) is not None:
        return f"The server asks to wait {wait:.15g} seconds, then try again."
    return f"{found.advice} {AGAIN}" if found.again else found.advice


def places(error: Error, words: list[str]) -> list[str]:
    """Where the advice for an error is looked up, the closest place first."""
    kind, status = error.kind, error.status
    names = [kind] if status is None else [f"{kind} {status}", f"{kind} {status // 100}xx", kind]
    words = words if error.retryable else [*words, "final"]
    return [place for name in names for place in (*(f"{name} {word}" for word in words), name)]
