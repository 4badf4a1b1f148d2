"""What all adapters share: a job is read, an adapter asks, and what came of it is written down as JSON.

Only the standard library is used. Nothing is judged here.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType, TracebackType

QUESTION = "Why do rivers meander?"
TOOL_QUESTION = "What is the weather in Oslo?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather in a city.", "parameters": SCHEMA},
}

DEEPEST = 8
MOST = 50_000
"""How far a key is searched for in an error: attributes and items deep, and objects in all."""


@dataclass(frozen=True)
class Job:
    """What is to be asked: ``url`` has no path, ``ask`` is ``text``, ``tool`` or ``image``."""

    url: str
    key: str
    words: str
    ask: str
    out: str
    small: str
    large: str


@dataclass
class Answer:
    """What a library gave the application that asked.

    Attributes:
        text: The answer's text.
        reasoning: What it gave as reasoning, apart from the text.
        calls: The arguments of each call it gave, as it gave them.
        ran: The arguments with which it ran the application's tool itself.
        finish: The finish reason, where it gives one.
    """

    text: str = ""
    reasoning: str = ""
    calls: list[object] = field(default_factory=list)
    ran: list[object] = field(default_factory=list)
    finish: str | None = None


Ask = Callable[[Job, str | None], Answer]
"""Asks, streaming; the second argument is the image's path, or None."""


def main(ask: Ask) -> None:
    """Does the job that the first argument is."""
    job = Job(**json.loads(sys.argv[1]))
    seen: dict[str, object] = {}
    try:
        if job.ask == "image":
            ask(job, job.small)
            before = _reset_peak()
            answer = ask(job, job.large)
            seen["extra"] = _peak() - before
        else:
            answer = ask(job, None)
        seen["answer"] = asdict(answer)
    except BaseException as error:  # whatever comes is what is looked for
        Path(job.out).with_suffix(".ended").touch()  # what looking at the error costs is not the library's
        seen["error"] = described(error, job)
    Path(job.out).write_text(json.dumps(seen, default=repr))


def _peak() -> int:
    """The process's peak resident size in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _reset_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def described(error: BaseException, job: Job) -> dict[str, object]:
    """An error as an application, a log and another process see it."""
    texts = f"{error} {error!r}"
    return {
        "type": type(error).__name__,
        "module": type(error).__module__,
        "text": str(error)[:300],
        "says_words": job.words in texts,
        "says_key": job.key in texts,
        "holds_key": _way_to(job.key, error),
        "pickles": _pickled(error),
    }


def _pickled(error: BaseException) -> str:
    """Empty when the error comes back as it was, else what is wrong."""
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception as problem:  # that is the finding
        return type(problem).__name__
    if type(again) is not type(error):
        return f"comes back as {type(again).__name__}"
    return "" if str(again) == str(error) else "comes back with another text"


def _way_to(key: str, error: BaseException) -> str | None:
    """The attributes and items that lead from an error to the key; None when none do."""
    queue: list[tuple[object, str]] = [(error, "")]
    known = {id(error)}
    kept = []  # what is made on the way must live on, or its id could come again
    while queue and len(known) < MOST:
        thing, way = queue.pop(0)
        if (isinstance(thing, str) and key in thing) or (isinstance(thing, bytes) and key.encode() in thing):
            return way
        if way.count(".") + way.count("[") >= DEEPEST:
            continue
        for step, part in _parts(thing):
            if id(part) not in known:
                known.add(id(part))
                kept.append(part)
                queue.append((part, way + step))
    return None


PLAIN = (str, bytes, int, float, type(None))
CODE = (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType, FrameType, TracebackType)


def _parts(thing: object) -> list[tuple[str, object]]:
    parts: list[tuple[str, object]] = []
    if isinstance(thing, PLAIN + CODE):
        return parts
    if isinstance(thing, Mapping):
        parts += [("[...]", part) for item in list(thing.items()) for part in item]
    elif isinstance(thing, list | tuple | set | frozenset):
        parts += [("[...]", part) for part in thing]
    names = list(getattr(thing, "__dict__", ()))
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    if isinstance(thing, BaseException):
        names += ["args", "__cause__", "__context__"]
    for name in names:
        try:
            parts.append((f".{name}", getattr(thing, name)))
        except Exception:  # a slot without a value
            continue
    return parts


def data_url(path: str) -> str:
    """An image as all documents of this API show it."""
    return f"data:image/png;base64,{base64.b64encode(Path(path).read_bytes()).decode()}"
