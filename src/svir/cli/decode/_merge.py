"""Pieces of the same text that follow each other as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import svir
from svir.cli.decode._playback import Located

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = ["merged"]


def merged(found: Iterable[Located]) -> Generator[Located]:
    """The events with neighbours joined, each at the offset of its first piece; an error comes after them."""
    run: list[Located] = []
    try:
        for located in found:
            if run and kind(run[0].event) != kind(located.event):
                yield joined(run)
                run = []
            run.append(located)
    except svir.Error:
        if run:
            yield joined(run)
        raise
    if run:
        yield joined(run)


def kind(event: svir.Event) -> tuple[object, ...]:
    """What two events must have in common to be joined; an answer's end has it with none."""
    match event:
        case svir.ReasoningDelta(source):
            return (svir.ReasoningDelta, source)
        case svir.ToolCallDelta(index):
            return (svir.ToolCallDelta, index)
        case _:
            return (type(event),)


def joined(run: list[Located]) -> Located:
    """One event of several of a kind."""
    first, events = run[0], [located.event for located in run]
    match first.event:
        case svir.TextDelta():
            text = "".join(event.text for event in events if isinstance(event, svir.TextDelta))
            return Located(first.offset, svir.TextDelta(text))
        case svir.ReasoningDelta(source):
            text = "".join(event.text for event in events if isinstance(event, svir.ReasoningDelta))
            return Located(first.offset, svir.ReasoningDelta(source, text))
        case svir.ToolCallDelta(index):
            pieces = [event for event in events if isinstance(event, svir.ToolCallDelta)]
            names = [piece.name for piece in pieces if piece.name is not None]
            return Located(
                first.offset,
                svir.ToolCallDelta(
                    index,
                    next((piece.id for piece in pieces if piece.id is not None), None),
                    "".join(names) if names else None,
                    "".join(piece.arguments for piece in pieces),
                ),
            )
        case _:
            return first
