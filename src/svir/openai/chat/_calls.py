"""Tool calls out of the pieces they arrive in.

1. A piece belongs to the call of its index, and calls may interleave (P6).
2. An id may repeat, not change (P10). An empty id or name counts as not sent.
3. A name may come in pieces. A piece that equals the whole name so far repeats it, since some servers send
   the head of a call with every piece.
4. What cannot be answered is no call: at the end every index from 0 on has an id of its own, and a name.
5. ``check`` judges the pieces of a chunk before ``add`` takes them: a bad chunk leaves nothing behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.codec._fault import Fault
from svir.errors import ProtocolError, ResponseLimitError
from svir.types import ToolCall, ToolCallDelta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.openai.chat._wire import Piece
    from svir.types import Event

__all__ = ["Calls"]


class _Call:
    __slots__ = ("_length", "_name", "arguments", "id")

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.arguments: list[str] = []
        self._name: list[str] = []
        self._length = 0

    @property
    def name(self) -> str:
        if len(self._name) > 1:
            self._name = ["".join(self._name)]
        return self._name[0] if self._name else ""

    def add_name(self, piece: str) -> str | None:
        """Takes a piece of the name; None when it adds nothing."""
        # The lengths are compared first, so that many pieces are not joined for each.
        if not piece or (len(piece) == self._length and piece == self.name):
            return None
        self._name.append(piece)
        self._length += len(piece)
        return piece


class Calls:
    """The calls of one answer.

    Args:
        limit: How many there may be; counted by index.
    """

    __slots__ = ("_calls", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._calls: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def check(self, pieces: Iterable[Piece]) -> None:
        """Raises ``Fault`` when a piece is beyond the limit, or gives a call another id."""
        fresh: dict[int, str] = {}
        for piece in pieces:
            index, new = piece.index, piece.id
            if index >= self._limit:
                what = f"more than {self._limit} tool calls"
                raise Fault(ResponseLimitError, what, "Limits(tool_calls=...) allows more")
            if new:
                call = self._calls.get(index)
                known = (call.id if call else "") or fresh.setdefault(index, new)
                if known != new:
                    raise Fault(ProtocolError, "a tool call whose id changes")

    def add(self, pieces: Iterable[Piece], events: list[Event]) -> None:
        """Takes the pieces, and appends an event for each that brings something."""
        for piece in pieces:
            index, new_id = piece.index, piece.id or None
            call = self._calls.get(index)
            if call is None:
                call = self._calls[index] = _Call(new_id or "")
            elif call.id:
                new_id = None
            elif new_id:
                call.id = new_id
            name, arguments = None, ""
            if (function := piece.function) is not None:
                if function.name:
                    name = call.add_name(function.name)
                if function.arguments:
                    arguments = function.arguments
                    call.arguments.append(arguments)
            if new_id or name or arguments:
                events.append(ToolCallDelta(index, new_id, name, arguments))

    def add_plain(self, piece: Piece, events: list[Event]) -> bool:
        """Takes a piece that adds arguments to a call and nothing else; False when it is not such a piece."""
        call, function = self._calls.get(piece.index), piece.function
        if call is None or function is None or not function.arguments:
            return False
        if (piece.id and piece.id != call.id) or (function.name and function.name != call.name):
            return False
        call.arguments.append(function.arguments)
        events.append(ToolCallDelta(piece.index, None, None, function.arguments))
        return True

    def add_arguments(self, index: int, arguments: str) -> None:
        """Takes arguments of a call that is known."""
        self._calls[index].arguments.append(arguments)

    def finish(self) -> tuple[ToolCall, ...]:
        """The calls in the order of their indices.

        Raises:
            Fault: One of them could not be answered.
        """
        if not self._calls:
            return ()
        calls: list[ToolCall] = []
        for index in sorted(self._calls):
            call = self._calls[index]
            if index != len(calls):
                raise Fault(ProtocolError, "tool calls with a gap between their indices")
            name = call.name
            if not (call.id and name):
                raise Fault(ProtocolError, "a tool call without an id or a name")
            calls.append(ToolCall(call.id, name, "".join(call.arguments)))
        if len(calls) > 1 and len({call.id for call in calls}) < len(calls):
            raise Fault(ProtocolError, "two tool calls with the same id")
        return tuple(calls)
