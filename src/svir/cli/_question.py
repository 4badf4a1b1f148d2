"""The request for a question: what the options, the files and standard input say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

import svir
from svir.cli._input import JSON_BYTES, read_file, read_text
from svir.cli._refused import CONFIG, RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Question", "build_request"]

STDIN = "-"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask."""

    prompt: str | None = None
    system: str | None = None
    images: Sequence[str] = ()
    files: Sequence[str] = ()
    effort: svir.Effort | None = None
    max_tokens: int | None = None
    json_schema: Path | None = None
    raw: bool = False


def build_request(question: Question) -> svir.Request:
    """The request for a question.

    Raises:
        RefusedError: There is no prompt, or something given cannot be used.
    """
    if [*question.files, question.prompt].count(STDIN) > 1:
        raise RefusedError(
            "standard input is named twice", "It can be read once: as the prompt, or as a file."
        )
    schema = read_schema(question.json_schema)
    prompt, parts = question.prompt, list[svir.TextFile | svir.Image]()
    for name in question.files:
        parts.append(
            svir.TextFile.from_text("stdin", read_text("text of the file"))
            if name == STDIN
            else svir.TextFile(name)
        )
    parts += [svir.Image(path) for path in question.images]
    if prompt == STDIN or (prompt is None and STDIN not in question.files):
        prompt = read_text("prompt")
    if not (prompt or "").strip() and not parts:
        raise RefusedError(
            "there is no prompt", 'Give one as an argument, as in svir ask "Why?", or on standard input.'
        )
    answer: svir.ResponseFormat = "text" if schema is None else schema
    return svir.Request(
        messages=[svir.user(*([prompt] if prompt else []), *parts)],
        system=question.system,
        response_format=answer,
        max_tokens=question.max_tokens,
        effort=question.effort,
    )


def read_schema(path: Path | None) -> svir.Schema | None:
    """The schema in a file, named after the file.

    Raises:
        RefusedError: It cannot be read, or is no JSON object.
    """
    if path is None:
        return None
    advice = "--json-schema takes a file with a JSON Schema."
    data = read_file(path, JSON_BYTES, "the schema", advice=advice)
    try:
        schema = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        problem = f"the schema {path.name!r} is no JSON object"
    else:
        allowed = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in path.stem)
        return svir.Schema(allowed[:64] or "answer", schema)
    raise RefusedError(problem, advice, code=CONFIG)
