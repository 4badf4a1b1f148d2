"""What the observations mean, as tables: each cell is judged by a function, and none is written by hand.

A judge is given what was seen of one subject, by case, and says it in a few words. ``NotRun`` is raised where
nothing was seen that it could speak of; its text becomes a note below the table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.peers.cases import CASES

if TYPE_CHECKING:
    from collections.abc import Callable

Seen = dict[str, Any]
"""What ``run.observe`` returned for one case."""

TEXT = "Because water is lazy."
THOUGHT = "Hm."
WHOLE_CALL = {"city": "Oslo"}


class NotRun(Exception):  # noqa: N818 (it is an outcome)
    """A cell for which there is no observation."""


@dataclass(frozen=True)
class Column:
    """One behaviour.

    Attributes:
        title: Its heading.
        cases: The cases it is judged by; the first one is described below the table.
        judge: What it says of one subject, from the observations of these cases.
    """

    title: str
    cases: tuple[str, ...]
    judge: Callable[..., str]


@dataclass(frozen=True)
class Table:
    """One topic."""

    key: str
    title: str
    intro: str
    columns: tuple[Column, ...]


def cell(column: Column, seen: dict[str, Seen]) -> str:
    """What a column says of a subject.

    Raises:
        NotRun: Something it is judged by was not observed.
    """
    for control in ("plain", "call")[: 1 + any(CASES[name].ask == "tool" for name in column.cases)]:
        if control not in column.cases:
            require(control, seen)
    for name in column.cases:
        if name not in seen:
            raise NotRun("it was not asked")
        if seen[name]["ended"] == "crashed":
            raise NotRun(f"the adapter failed: {seen[name]['log']}")
        if seen[name]["ended"] != "by itself" and not seen[name]["server"]:
            raise NotRun("it sent no request in time")
        if any(request["streamed"] is False for request in seen[name]["server"]):
            raise NotRun("it did not ask for a stream")
    return column.judge(*(seen[name] for name in column.cases))


def require(control: str, seen: dict[str, Seen]) -> None:
    """A library that cannot do the plain thing is not judged by what it does otherwise."""
    said = {"plain": plain, "call": call}[control](seen[control]) if control in seen else "not asked"
    if said != "yes":
        what = {"plain": "a whole answer", "call": "a whole call that comes in pieces"}[control]
        raise NotRun(f"given {what}, it says: {said}")


# ---- judges --------------------------------------------------------------------------------


def failed(seen: Seen) -> str | None:
    """The error that came, or how the process had to be ended."""
    if "error" in seen:
        return f"*{seen['error']['type']}*"
    return None if "answer" in seen else "did not end"


def plain(seen: Seen) -> str:
    answer = seen.get("answer", {})
    return failed(seen) or ("yes" if answer["text"] == TEXT else f"`{answer['text']}`")


def as_object(arguments: object) -> object:
    """A call's arguments, read where they are JSON."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def call(seen: Seen) -> str:
    if said := failed(seen):
        return said
    given = [as_object(one) for one in seen["answer"]["calls"] + seen["answer"]["ran"]]
    return "yes" if given == [WHOLE_CALL] else f"calls {given}"


def taken(seen: Seen) -> str:
    """Whether something that is no whole answer was given as one."""
    return failed(seen) or ("an answer" if seen["answer"]["text"] else "an empty answer")


def handed_out(seen: Seen) -> str:
    """What became of a call that is not whole."""
    if said := failed(seen):
        return f"the model asked again, then {said}" if len(seen["server"]) > 1 else said
    if ran := seen["answer"]["ran"]:
        return f"tool run with `{json.dumps(ran[0])}`"
    if calls := seen["answer"]["calls"]:
        shown = calls[0] if isinstance(calls[0], str) else json.dumps(calls[0])
        return f"handed out: `{shown}`" if shown else "handed out, without arguments"
    return "no call handed out" if len(seen["server"]) == 1 else "tool not run; the model was asked again"


def split(seen: Seen) -> str:
    if said := failed(seen):
        return said
    text, reasoning = seen["answer"]["text"], seen["answer"]["reasoning"]
    if (text, reasoning) == (TEXT, THOUGHT):
        return "apart from the text"
    if (text, reasoning) == (TEXT, ""):
        return "not handed out"
    return "left in the text" if text == f"<think>{THOUGHT}</think>{TEXT}" else f"text `{text}`"


def bounded(seen: Seen) -> str:
    sent = f"{seen['server'][0]['sent'] / 1e6:.0f} MB"
    if said := failed(seen) if seen["ended"] == "by itself" else None:
        return f"{said} after {sent}"
    grown = f"+{seen['grown'] / 1e6:.0f} MB of memory"
    return (
        f"none seen: {grown} after {sent}" if seen["ended"] == "memory" else f"none in time: {sent}, {grown}"
    )


def along(seen: Seen) -> str:
    """What another server than the one that was named was sent."""
    if not seen["other"]:
        return "no"
    asked = any(request["asked"] for request in seen["other"])
    keyed = any(request["keyed"] for request in seen["other"])
    return f"yes, {'with' if asked else 'without'} the prompt, {'with' if keyed else 'without'} the key"


def requests(seen: Seen) -> str:
    return str(len(seen["server"]))


def told_apart(overflow: Seen, other: Seen) -> str:
    if "error" not in overflow or "error" not in other:
        return failed(overflow) or "no error"
    kind = overflow["error"]["type"]
    return f"*{kind}*" + (", as for a wrong field" if kind == other["error"]["type"] else "")


def words(seen: Seen) -> str:
    return ("yes" if seen["error"]["says_words"] else "no") if "error" in seen else "no error"


def key_said(plainly: Seen, repeated: Seen) -> str:
    if "error" not in plainly or "error" not in repeated:
        return "no error"
    if plainly["error"]["says_key"]:
        return "yes"
    return "when the server repeats it" if repeated["error"]["says_key"] else "no"


def key_held(seen: Seen) -> str:
    if "error" not in seen:
        return "no error"
    way = seen["error"]["holds_key"]
    return "no" if way is None else f"yes: `{way.partition('[')[0]}`"


def pickles(*seen: Seen) -> str:
    problems = {one["error"]["pickles"] if "error" in one else "no error" for one in seen} - {""}
    return f"no: {', '.join(sorted(problems))}" if problems else "yes"


def megabytes(seen: Seen) -> str:
    return failed(seen) or f"{seen['extra'] / 1e6:.0f} MB"


# ---- tables --------------------------------------------------------------------------------

TABLES = (
    Table(
        "controls",
        "To begin with",
        "Whether each library is used rightly: an answer and a call that are whole come out whole. Of one "
        "that cannot do this, the rest is not judged.",
        (Column("answer", ("plain",), plain), Column("call", ("call",), call)),
    ),
    Table(
        "broken",
        "An answer that breaks off",
        "Does the application get an error, or half an answer as if it were one?",
        (
            Column("connection breaks", ("cut",), taken),
            Column("ends early, in order", ("ended",), taken),
            Column("without `[DONE]`", ("no-done",), taken),
        ),
    ),
    Table(
        "calls",
        "A call that breaks off",
        "Can an application that trusts the library come to run half a call?",
        (
            Column("inside its arguments", ("call-cut",), handed_out),
            Column("after its name", ("call-named",), handed_out),
        ),
    ),
    Table(
        "length",
        "A call that the length limit cut",
        "The finish reason says that the answer is not whole. The arguments may look whole all the same.",
        (
            Column("half an object", ("call-length",), handed_out),
            Column("looks whole", ("call-length-whole",), handed_out),
        ),
    ),
    Table(
        "within",
        "A failure inside of a success",
        "The status was 200, and then something else than an answer came.",
        (
            Column("error object", ("error-object",), taken),
            Column("error event", ("error-event",), taken),
            Column("a page of HTML", ("html",), taken),
        ),
    ),
    Table(
        "reasoning",
        "Reasoning",
        "Is what the model thought kept apart from what it says?",
        (
            Column("`<think>` in pieces", ("think",), split),
            Column("`reasoning_content`", ("reasoning",), split),
        ),
    ),
    Table(
        "limits",
        "A server that does not stop",
        "Is there a limit? What comes is kept, as an application that wants the answer does. The process was "
        "ended when it had grown by 200 MB, or after two minutes.",
        (
            Column("answer without end", ("endless",), bounded),
            Column("line without end", ("endless-line",), bounded),
        ),
    ),
    Table(
        "where",
        "Where a request goes",
        "Does another server get to see the prompt and the key?",
        (
            Column("redirect to a port", ("redirect-port",), along),
            Column("redirect to a host", ("redirect-host",), along),
            Column("proxy of the environment", ("proxy",), along),
        ),
    ),
    Table(
        "retries",
        "How often one call asks",
        "How many requests one call made by itself, as the server counted them.",
        (Column("requests", ("busy",), requests),),
    ),
    Table(
        "overflow",
        "A conversation that is too long",
        "Can the application tell it from other refusals by the error's class?",
        (
            Column("as OpenAI says it", ("overflow", "bad-request"), told_apart),
            Column("as llama.cpp says it", ("overflow-local", "bad-request"), told_apart),
        ),
    ),
    Table(
        "secrets",
        "What an error shows",
        "Its `str` and `repr` go into logs; its attributes to whoever collects errors.",
        (
            Column("server's words in its text", ("unauthorized",), words),
            Column("key in its text", ("unauthorized", "unauthorized-echo"), key_said),
            Column("key within reach", ("unauthorized",), key_held),
        ),
    ),
    Table(
        "pickle",
        "An error that crosses processes",
        "Do a refused key and a broken connection come out of `pickle` as what they were?",
        (Column("pickles", ("unauthorized", "cut"), pickles),),
    ),
    Table(
        "image",
        "A large image",
        "By how much the process's peak memory grows while an image of 100 MB is sent.",
        (Column("memory", ("image",), megabytes),),
    ),
)
