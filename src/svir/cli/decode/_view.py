"""What is shown of a recording: lines for a person, or a JSON object a line for a program.

A line of either begins with the place in the file. Nothing of the recording drives the terminal (`_text`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

import svir
from svir.cli._output import write, write_bytes
from svir.cli.decode._text import quoted

if TYPE_CHECKING:
    from svir.cli.decode._failure import Failure
    from svir.cli.decode._playback import Located

__all__ = ["JsonView", "TextView", "View"]


class View(Protocol):
    """Shows what is found, as it is found."""

    def event(self, located: Located) -> None:
        """An event."""
        ...

    def cuts(self, tried: int) -> None:
        """So many cuts have one outcome."""
        ...

    def failure(self, failure: Failure) -> None:
        """The end, when it is none."""
        ...


class JsonView:
    """One JSON object a line, in UTF-8: the event's serialized form beside its offset."""

    def event(self, located: Located) -> None:
        """``{"offset": ..., "text": ...}`` and the like: what ``svir.to_dict`` gives."""
        self._write({"offset": located.offset, **svir.to_dict(located.event)})

    def cuts(self, tried: int) -> None:
        """``{"cuts": ...}``."""
        self._write({"cuts": tried})

    def failure(self, failure: Failure) -> None:
        """``{"offset": ..., "error": {...}}``."""
        told = {name: value for name, value in msgspec.to_builtins(failure).items() if value is not None}
        self._write({"offset": told.pop("offset", None), "error": told})

    def _write(self, value: dict[str, Any]) -> None:
        write_bytes(msgspec.json.encode(value) + b"\n")


class TextView:
    """A line for each event: its offset, what it is, and what it brings."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.style import Style

        # Escape codes only where rich finds a terminal that has them.
        self._dim = Style(dim=bool(Console(file=sys.stdout).color_system))

    def event(self, located: Located) -> None:
        """A line; a call of the whole answer has one, too."""
        at, event = located
        match event:
            case svir.TextDelta(text):
                self._line(at, "text", quoted(text))
            case svir.ReasoningDelta(_, text):
                self._line(at, "reasoning", self._dim.render(quoted(text)))
            case svir.ToolCallDelta(index, name=name, arguments=arguments):
                parts = {"id": event.id, "name": name, "arguments": arguments or None}
                told = ", ".join(
                    f"{key} {quoted(value)}" for key, value in parts.items() if value is not None
                )
                self._line(at, f"call {index}", told)
            case svir.Completed(completion):
                self._line(at, "completed", "; ".join(summary(completion)))
                for call in completion.calls:
                    self._line(
                        None, "  call", f"{quoted(call.id)} {quoted(call.name)} {quoted(call.arguments)}"
                    )
                for call in completion.cut_calls:
                    self._line(
                        None, "  cut", f"{quoted(call.id)} {quoted(call.name)} {quoted(call.arguments)}"
                    )

    def cuts(self, tried: int) -> None:
        """A line of its own."""
        write(sys.stdout, f"{tried} ways to cut the bytes, one outcome\n")

    def failure(self, failure: Failure) -> None:
        """The place and the piece; what is wrong there is said on standard error."""
        if failure.piece:
            self._line(failure.offset, "error", failure.piece)

    def _line(self, at: int | None, what: str, told: str) -> None:
        write(sys.stdout, f"{'' if at is None else at:>8}  {what:<9}  {told}\n")


def summary(completion: svir.Completion) -> list[str]:
    """What there is to know of an answer beside its events."""
    told = [f"finish {completion.finish}", f"{len(completion.text)} characters of text"]
    told += [f"{len(part.text)} of reasoning ({part.source})" for part in completion.reasoning]
    if (usage := completion.usage) is not None:
        told += [f"{usage.input} tokens in", f"{usage.output} out"]
    if completion.model is not None:
        told.append(f"model {quoted(completion.model)}")
    if completion.response_id is not None:
        told.append(f"id {quoted(completion.response_id)}")
    return told
