"""What the command says about an error, and what it advises, in the command's own words.

1. The kind decides, with the status where one says more (`ADVICE`; the closest entry counts).
2. Only an error that may pass is told with the advice to try again (`Error.retryable`).
3. The library names its own arguments where a switch helps. Nobody can type those at a prompt, so each
   becomes the option that stands for it, or goes where the command has none (`SPELLINGS`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from svir.errors import Error

__all__ = ["ADVICE", "advise", "respell"]

AGAIN = "Trying again may help."


class Advice(NamedTuple):
    """What to do, and what happened where the library's words do not fit the command."""

    advice: str
    detail: str | None = None


# kind, or "kind status", or "kind 5xx"; "keyed" is a request that carried a key, "final" an error that stays.
ADVICE = {
    "transport": Advice("Does the server run, and at that address?"),
    "transport 5xx": Advice("The server's own log says more."),
    "timeout": Advice("A server may still be loading the model."),
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
    "authentication keyed": Advice("Check the variable that --api-key-env names: is it this server's key?"),
    "authentication 401 keyed": Advice(
        "Check the variable that --api-key-env names: is it this server's key?", "the key was not accepted"
    ),
    "authentication 403 keyed": Advice("Another key may be allowed this, or this key another model."),
    "context_overflow": Advice("Shorten the prompt or the files, or ask for fewer --max-tokens."),
    "content_filter": Advice("The server's filter blocked the prompt: say it differently."),
    "protocol": Advice("--lenient reads more than the protocol allows; --raw shows what the server sends."),
    "server": Advice("The server's own log says more."),
    "unsupported": Advice(
        "Leave out what this server does not know, or try --lenient; --raw shows its answer."
    ),
    "unsupported 3xx": Advice("Give --url the address that the server redirects to."),
    "unsupported 404": Advice(
        "Check the URL and the model: `svir models` lists the models.", "no such path or model"
    ),
    "unsupported 405": Advice("Check the URL: is this the address of a model server?"),
    "response_limit": Advice("--raw prints the server's bytes without reading them."),
    "attachment": Advice("Check the files given with --image and --file."),
    "config": Advice("`svir --help`, and --help after a command, list the options."),
    "answer": Advice("What was printed is not the JSON that was asked for."),
}

SPELLINGS = [
    (re.compile(pattern), words)
    for pattern, words in (
        (
            r"allow_http=True on a trusted network",
            "--allow-http on a trusted network (the key goes there too)",
        ),
        (r"; give it with query=, where it is kept out of logs", ", which the command has no option for"),
        (r", or use path=", ""),
        (r": set media_type=", ": use a png, jpg, gif or webp file"),
        (r"(; )?(see Limits\.\w+|Limits\(\w+=\.\.\.\) allows more)", ""),
        (
            r"name one in the request or in the client \(client\.models\(\) lists them\)",
            "--model ID names one",
        ),
        (r"client\.models\(\)", "`svir models`"),
        (r"api_key=, api_key_env= or api_key_file=", "--api-key-env NAME"),
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


def advise(error: Error, *, keyed: bool) -> tuple[str, str]:
    """What happened and what to do; ``keyed`` when the user named a key."""
    found = next(ADVICE[place] for place in places(error, keyed=keyed) if place in ADVICE)
    said = f"{error.phrase}: HTTP {error.status}: {found.detail}" if found.detail else respell(str(error))
    if not error.retryable:
        return said, found.advice
    if error.retry_after is not None:
        return said, f"The server asks to wait {error.retry_after:g} seconds, then try again."
    return said, f"{found.advice} {AGAIN}"


def places(error: Error, *, keyed: bool) -> list[str]:
    """Where the advice for an error is looked up, the closest place first."""
    kind, status = error.kind, error.status
    names = [kind] if status is None else [f"{kind} {status}", f"{kind} {status // 100}xx", kind]
    first = [f"{name} keyed" for name in names] if keyed else []
    if not error.retryable:
        first += [f"{name} final" for name in names]
    return first + names
