"""A recording as a conformance case: the notation of docs/conformance.md.

What the case expects is what the present decoder gives. It says so, until a person has judged it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

import svir
from svir.cli.decode._cuts import Outcome, outcome

if TYPE_CHECKING:
    from svir.cli.decode._reading import Reading

__all__ = ["write_case"]

EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
STRIDES = [1, 3, 8192]
OTHER_ENDINGS = (b"\r\n", b"\r")


def write_case(name: str, body: bytes, reading: Reading) -> str:
    """The text of the case's file.

    Args:
        name: What it shows, as ``delta-key-unknown``.
        body: The bytes of the stream.
        reading: How it is read. The mode does not matter: a case has both.
    """
    case: dict[str, Any] = {
        "description": f"{name.replace('-', ' ')} (as svir {svir.__version__} decodes it: to be judged)",
        "chunks": [_piece(found[0]) for found in EVENT.finditer(body)],
        "strides": STRIDES,
    }
    modes = [msgspec.structs.replace(reading, lenient=lenient) for lenient in (False, True)]
    outcomes = [_told(outcome([body], one)) for one in modes]
    # Only when it does not matter is the case about other line ends, too.
    endings = [body.replace(b"\n", ending) for ending in OTHER_ENDINGS] if b"\r" not in body else []
    if endings and all([_told(outcome([data], one)) for one in modes] == outcomes for data in endings):
        case["line_endings"] = ["lf", "crlf"]
    if options := _options(reading):
        case["options"] = options
    strict, lenient = outcomes
    case["expect"] = {"strict": strict, "lenient": "same" if lenient == strict else lenient}
    return json.dumps(case, indent=1) + "\n"


def _piece(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def _options(reading: Reading) -> dict[str, Any]:
    usual = svir.Limits()
    names = [n for n in usual.__struct_fields__ if getattr(reading.limits, n) != getattr(usual, n)]
    limits = {name: getattr(reading.limits, name) for name in names}
    return ({"think": reading.think} if reading.think != "split" else {}) | (
        {"limits": limits} if limits else {}
    )


def _told(found: Outcome) -> dict[str, Any]:
    """An outcome in the notation of the cases."""
    if found.error is None:
        (*_, last) = found.events
        return {"completion": _completion(last.completion)} if isinstance(last, svir.Completed) else {}
    partial = found.error.partial or svir.Partial()
    told: dict[str, Any] = {"error": found.error.kind}
    if found.error.server_message is not None:
        told["message"] = found.error.server_message
    return told | {"partial": {"text": partial.text, "reasoning": partial.reasoning}}


def _completion(completion: svir.Completion) -> dict[str, Any]:
    """A completion without what is empty; calls and cut calls are one list there."""
    usage = completion.usage
    counts = (
        {} if usage is None else {n: getattr(usage, n) for n in ("input", "output", "total", "reasoning")}
    )
    told: dict[str, Any] = {
        "text": completion.text,
        "reasoning": [{"source": part.source, "text": part.text} for part in completion.reasoning],
        "calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in (*completion.calls, *completion.cut_calls)
        ],
        "usage": {name: count for name, count in counts.items() if count is not None},
    }
    return {"finish": str(completion.finish)} | {name: value for name, value in told.items() if value}
