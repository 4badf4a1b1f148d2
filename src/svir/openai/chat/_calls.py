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

import msgspec

from svir.codec._fault import Fault
from svir.errors import ProtocolError, ResponseLimitError
from svir.types import ToolCall, ToolCallDelta

if TYPE_CHECKING:
    from svir.openai.chat._wire import Piece
    from svir.types import Event

__all__ = ["Calls"]


class _Call(msgspec.Struct):
    """One call so far.

    Attributes:
        id: Empty until it came.
        names: The pieces of its name.
        length: Of the name, in characters.
        arguments: The pieces of its arguments.
    """

    id: str
    names: list[str]
    length: int
    arguments: list[str]

    def name(self) -> str:
        """The name so far."""
        if len(self.names) > 1:
            self.names = ["".join(self.names)]
        return self.names[0] if self.names else ""

    def add_name(self, piece: str) -> str:
        """Takes a piece of the name; gives it back, or nothing when it repeats the name."""
        # The lengths are compared first, so that many pieces are not joined for each.
        if len(piece) == self.length and piece == self.name():
            return ""
        self.names.append(piece)
        self.length += len(piece)
        return piece


class Calls(msgspec.Struct):
    """The calls of one answer.

    A struct, as each of its calls: that takes half as long to make as an object that fills itself.

    Args:
        limit: How many there may be; counted by index.
    """

    limit: int
    _calls: dict[int, _Call] = {}  # each has its own: msgspec copies an empty default

    def check(self, pieces: list[Piece]) -> None:
        """Raises ``Fault`` when a piece is beyond the limit, or gives a call another id."""
        fresh: dict[int, str] = {}
        for piece in pieces:
            index, new = piece.index, piece.id
            if index >= self.limit:
                what = f"more than {self.limit} tool calls"
                raise Fault(ResponseLimitError, what, "Limits(tool_calls=...) allows more")
            # The head of a new call is nearly always alone in its chunk: there is no id it can differ from.
            if new and (index in self._calls or len(pieces) > 1):
                call = self._calls.get(index)
                known = (call.id if call else "") or fresh.setdefault(index, new)
                if known != new:
                    raise Fault(ProtocolError, "a tool call whose id changes")

    def add(self, pieces: list[Piece], events: list[Event]) -> None:
        """Takes the pieces, and appends an event for each that brings something."""
        for piece in pieces:
            id_, function = piece.id or "", piece.function
            if function is None:
                name = arguments = ""
            else:
                name, arguments = function.name or "", function.arguments or ""
            call = self._calls.get(piece.index)
            if call is None:
                names = [name] if name else []
                self._calls[piece.index] = _Call(id_, names, len(name), [arguments])
            else:
                if call.id:
                    id_ = ""
                elif id_:
                    call.id = id_
                if name:
                    name = call.add_name(name)
                if arguments:
                    call.arguments.append(arguments)
            if id_ or name or arguments:
                events.append(ToolCallDelta(piece.index, id_ or None, name or None, arguments))

    def add_plain(self, piece: Piece, events: list[Event]) -> bool:
        """Takes a piece that adds arguments to a call and nothing else; False when it is not such a piece."""
        call, function = self._calls.get(piece.index), piece.function
        if call is None or function is None or not function.arguments:
            return False
        if (piece.id and piece.id != call.id) or (function.name and function.name != call.name()):
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
        for index in range(len(self._calls)):
            if (call := self._calls.get(index)) is None:
                raise Fault(ProtocolError, "tool calls with a gap between their indices")
            if not (call.id and call.names):
                raise Fault(ProtocolError, "a tool call without an id or a name")
            calls.append(ToolCall(call.id, "".join(call.names), "".join(call.arguments)))
        if len(calls) > 1 and len({call.id for call in calls}) < len(calls):
            raise Fault(ProtocolError, "two tool calls with the same id")
        return tuple(calls)
