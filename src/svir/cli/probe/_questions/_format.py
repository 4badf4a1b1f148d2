"""Answers that must be JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svir.cli.probe._evidence import PROPERTIES
from svir.cli.probe._questions._finding import Finding, broken_off, of_step, tail_of, text_of
from svir.cli.probe._reading import as_json, as_object
from svir.cli.probe._report import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.cli.probe._evidence import Heard

__all__ = ["QUESTIONS"]

TYPES = {"string": str, "integer": int}


def _of_form(fits: Callable[[Any], bool], kept: str, other: str) -> Callable[[Heard], Finding]:
    """A judge of an answer that must have a form."""

    def judge(heard: Heard) -> Finding:
        reading = heard.reading
        text, shown = reading.text.strip(), tail_of(heard)
        value = as_json(text.encode("utf-8", "replace"))
        if fits(value):
            return Finding(Verdict.OK, kept, heard, text_of(heard))
        if text.startswith("```"):
            told = "Accepted, and not kept: the answer stands in a fence of Markdown."
            return Finding(Verdict.DIFFERENT, told, heard, text_of(heard))
        if text and not text.startswith(("{", "[")):
            told = "Accepted, and not kept: the answer is no JSON."
            return Finding(Verdict.DIFFERENT, told, heard, text_of(heard))
        if not heard.complete:
            return Finding(Verdict.UNCLEAR, f"{broken_off(heard)} before it was whole.", heard, shown)
        if reading.finish == "length":
            return Finding(Verdict.UNCLEAR, "The limit cut the answer before it was whole.", heard, shown)
        for key, thought in reading.reasoning.items():
            if not text and fits(as_json(thought.strip().encode("utf-8", "replace"))):
                told = f"The JSON comes as {key}, and the text stays empty."
                return Finding(Verdict.BROKEN, told, heard, shown)
        if not text:
            return Finding(Verdict.UNCLEAR, "Accepted; the answer is empty.", heard, shown)
        told = "Accepted, and not kept: the answer is no JSON." if value is None else other
        return Finding(Verdict.DIFFERENT, told, heard, text_of(heard))

    return judge


def _is_of_schema(value: Any) -> bool:
    found = as_object(value)
    return found.keys() == PROPERTIES.keys() and all(
        type(found[name]) is TYPES[schema["type"]] for name, schema in PROPERTIES.items()
    )


json = _of_form(
    lambda value: isinstance(value, dict), "The answer is a JSON object.", "Accepted; the JSON is no object."
)
schema = _of_form(
    _is_of_schema, "The answer has the schema's form.", "Accepted, and not kept: the JSON has another form."
)

QUESTIONS = (
    of_step("format.json", "Can it be held to JSON?", "json", json),
    of_step("format.schema", "Can it be held to a schema?", "schema", schema),
    of_step("format.strict", "Can it be held to a strict schema?", "strict", schema),
)
