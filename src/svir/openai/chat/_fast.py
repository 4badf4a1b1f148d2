"""The shortcut for plain events, which are nearly all of them. It decides nothing: see the rules.

1. An event is taken here only when it is one ``data`` line and the typed reader takes it. Anything else is
   left where it is, for the complete reading of ``_read.py``. What follows from a chunk is decided in
   ``_answer.py`` either way.
2. The events of a stream differ in one string. When an event has been read, and was nothing but a piece of
   one kind, the bytes around its string make a pattern (``_Pattern``): every event with the same bytes around
   another string says the same, with that string.
3. A pattern is proved, not guessed: the event is read once more with another string in its place, and must
   come out the same but for that string.
4. A run of events of one pattern is split at the bytes between their strings, and the strings are decoded
   together. The parser still judges each of them: a quote or a line end that does not belong there ends the
   run.
5. Learning costs as much as reading several events. It is not begun for the few that are left, and is given
   up for a while when something else differs from event to event.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from svir.codec._fault import Fault
from svir.codec._json import MAX_DEPTH, too_deep
from svir.openai.chat._wire import read_typed

if TYPE_CHECKING:
    from svir.openai.chat._answer import Answer, Kind
    from svir.openai.chat._wire import Chunk, Delta, Function
    from svir.types import Event

__all__ = ["FastPath"]

LF, CR = b"\n\r"
COMMENT_OR_EMPTY = b":\n"
PROBE = b"#"
PROBE_TEXT = "#"
DEEP = 2 * (MAX_DEPTH + 1) + len(b'"choices":[],"":')
"""Bytes of the shortest chunk that is nested too deeply: all levels but its own are arrays."""
DEEP_OBJECTS = len(b'{"":}') * MAX_DEPTH + len(b"{}")
"""The same when all levels are objects; a level that is an array takes three bytes less."""
PATIENCE = 2
"""Events before a pattern is learned."""
WORTH = 16
"""Events that have to follow for a pattern to pay: much of its cost is running code that is used once."""
LONGEST_WAIT = 1024
"""Events between two attempts to learn a pattern, at most."""

# The string under a key, without its quotes.
_VALUES = {
    kind: re.compile(rb'"%b": ?"((?:[^"\\]|\\.)*+)"' % kind.encode())
    for kind in ("content", "reasoning_content", "reasoning", "arguments")
}
_string = msgspec.json.Decoder(str).decode
_strings = msgspec.json.Decoder(list[str]).decode


class _Pattern(msgspec.Struct, gc=False):
    """The bytes of an event around its one string, with the blank line after it.

    Attributes:
        kind: What the string is a piece of.
        index: Of which call, for arguments.
        head: What stands before the string.
        tail: What stands after it.
        joint: What stands between the strings of two such events: tail and head.
        line: Where in the tail its line ends.
        string: Where the string is in an event of its own, with the quotes.
        several: How long bytes are that are likely to be several events.
        named: Whether it repeats the name of its call.
    """

    kind: Kind
    index: int
    head: bytes
    tail: bytes
    joint: bytes
    line: int
    string: slice
    several: int
    named: bool


class FastPath:
    """Takes plain events of one stream.

    Attributes:
        taken: How many events were taken so far.
    """

    __slots__ = ("_answer", "_next_wait", "_pattern", "_steady", "_wait", "taken")

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._pattern: _Pattern | None = None
        self._wait = PATIENCE  # events until a pattern is learned again
        self._next_wait = PATIENCE
        self._steady = False  # whether the last run went on to the end of what was there
        self.taken = 0

    def forget(self) -> None:
        """Gives the pattern up."""
        self._pattern = None

    def review(self) -> None:
        """Gives the pattern up if an event that was not plain can have changed what its events mean.

        They are content, which after a finish reason or a refusal is an error; and a piece of a call can
        bring a name, which is a repetition only as long as the call's name stays the same.
        """
        pattern, answer = self._pattern, self._answer
        if pattern is not None and (answer.finish or answer.refused or pattern.named):
            self._pattern = None

    def take_one(self, data: bytes, events: list[Event]) -> bool:
        """Takes bytes that are exactly one event of the pattern: the usual read of a live stream."""
        pattern = self._pattern
        if (
            pattern is None
            or len(data) >= pattern.several
            or not data.startswith(pattern.head)
            or not data.endswith(pattern.tail)
        ):
            return False
        try:
            text = _string(data[pattern.string])  # when head and tail overlap, it is none
        except msgspec.DecodeError:
            return False
        self.taken += 1
        self._wait, self._next_wait = PATIENCE, PATIENCE
        self._answer.take_text(pattern.kind, pattern.index, text, events)
        return True

    def take(self, data: bytes, pos: int, events: list[Event]) -> int:
        """Takes events from ``pos``, where one begins, as long as they are whole and plain.

        Returns:
            The position of the first event that was not taken.

        Raises:
            Fault: A chunk contradicts what came before; its ``at`` is a position in ``data``.
        """
        answer = self._answer
        if answer.index:  # lenient mode reads another choice than the typed reader does
            return pos
        size = len(data)
        before_last = size - 1
        # One look at the whole spares one at each line.
        ascii_lines = data.isascii() and CR not in data
        while True:
            pattern = self._pattern
            if pattern is not None and data.startswith(pattern.head, pos):
                pos = self._run(pattern, data, pos, events)
            if not data.startswith((b"data: {", b"data:{"), pos):
                if pos == size or data[pos] not in COMMENT_OR_EMPTY:
                    return pos
                lf = data.find(b"\n", pos)
                if lf < 0 or (not ascii_lines and data.find(b"\r", pos, lf) >= 0):
                    return pos
                # A comment, mostly with an empty line after it, or an empty line that ends nothing.
                pos = lf + 2 if lf + 1 < size and data[lf + 1] == LF else lf + 1
                continue
            end = data.find(b"\n", pos, before_last)  # with a byte after it
            if end < 0:
                return pos
            after = end + 2
            if data[end + 1] != LF:
                if not data.startswith(b"\r\n\r\n", end - 1):
                    return pos  # its blank line is missing, or it has several lines
                end -= 1
                after += 1
            line = data[pos + 5 : end]
            if not (ascii_lines or _is_line(line)):
                return pos
            try:
                chunk = read_typed(line)
            except (msgspec.DecodeError, RecursionError):
                return pos
            if (
                len(line) >= DEEP
                and len(line) >= DEEP_OBJECTS - 3 * line.count(b"[")  # one count spares the other, mostly
                and too_deep(line)
            ):
                return pos
            self.taken += 1
            try:
                kind = answer.take_plain(chunk, events) if answer.index == 0 and not answer.finish else None
                if kind is None:
                    answer.apply(chunk, events)
            except Fault as fault:
                fault.at = pos
                raise
            if kind is None or kind == "other":
                if self._pattern is not None:
                    self.review()
            elif self._wait:
                self._wait -= 1
            elif size - after < after - pos or size - after > WORTH * (after - pos):
                # No whole event follows, so nobody knows how many will; or enough of them do.
                self._learn(kind, chunk, data, pos, after)
            pos = after

    def _run(self, pattern: _Pattern, data: bytes, pos: int, events: list[Event]) -> int:
        """Takes as many events of the pattern as follow each other; the position after them."""
        start = pos + len(pattern.head)
        lf = data.find(b"\n", start, len(data) - 1)
        if lf < 0:  # not whole yet: the rest of it will come
            return pos
        end = lf - pattern.line
        if end < start or not data.startswith(pattern.tail, end):
            self._pattern = None
            return pos
        if not data.startswith(pattern.joint, end):
            parts, after = [data[start:end]], end + len(pattern.tail)
        else:
            found = _split_all(pattern, data, pos) if self._steady else None
            parts, after = found or _split(pattern, data, pos)
            # Splitting all at once is for nothing when something else comes in between.
            self._steady = data.find(b"\n", after) < 0
        texts = _decode(parts)
        if len(texts) != len(parts):
            strings = sum(len(part) for part in parts[: len(texts)])
            after = pos + strings + len(texts) * len(pattern.joint)
        if len(texts) > PATIENCE or (texts and data.find(b"\n", after) < 0):
            self._wait, self._next_wait = PATIENCE, PATIENCE  # it pays
        self.taken += len(texts)
        if len(texts) == 1:
            self._answer.take_text(pattern.kind, pattern.index, texts[0], events)
        else:
            self._answer.take_texts(pattern.kind, pattern.index, texts, events)
        return after

    def _learn(self, kind: Kind, chunk: Chunk, data: bytes, pos: int, after: int) -> None:
        """Makes a pattern of a plain event, if that can be proved right."""
        self._pattern = None
        # Until this pattern turns out to be of use, learn less and less often.
        self._wait = self._next_wait = min(self._next_wait * 2, LONGEST_WAIT)
        found = _VALUES[kind].search(data, pos, after)
        if found is None:
            return
        start, end = found.span(1)
        head, tail = data[pos:start], data[end:after]
        if not head.startswith(data[after : after + start - pos]):
            return  # what follows, as far as it is there, is something else
        try:
            probed = read_typed(b"%b%b%b%b" % (head[5:], found[1], PROBE, tail))
        except (msgspec.DecodeError, RecursionError):
            return
        # The string is the piece, and nothing else of the chunk depends on it.
        delta, other = chunk.choices[0].delta, probed.choices[0].delta
        index, named = 0, False
        if kind == "arguments":
            function, changed = _function(delta), _function(other)
            if (
                function is None
                or changed is None
                or changed.arguments != f"{function.arguments}{PROBE_TEXT}"
            ):
                return
            changed.arguments = function.arguments
            index = delta.tool_calls[0].index if delta.tool_calls else 0
            named = bool(function.name)
        else:
            text = getattr(delta, kind)
            if getattr(other, kind) != f"{text}{PROBE_TEXT}":
                return
            setattr(other, kind, text)
        if probed == chunk:
            line, string = tail.index(b"\n"), slice(len(head) - 1, 1 - len(tail))
            joint = tail + head
            self._pattern = _Pattern(kind, index, head, tail, joint, line, string, 2 * len(joint), named)


def _function(delta: Delta) -> Function | None:
    """What the only piece of a call adds."""
    return delta.tool_calls[0].function if delta.tool_calls else None


def _split_all(pattern: _Pattern, data: bytes, pos: int) -> tuple[list[bytes], int] | None:
    """The strings of the events up to the last one of the pattern, and the position after it.

    None unless these are all of the pattern: that is seen when put together again they are the same bytes.
    """
    head, tail, line = pattern.head, pattern.tail, pattern.line
    after = data.rfind(tail) + len(tail)
    run = data[pos:after]
    skip, end = len(head), -line
    parts = [one[skip:end] for one in run.split(b"\n")[:-2:2]]
    return (parts, after) if head + pattern.joint.join(parts) + tail == run else None


def _split(pattern: _Pattern, data: bytes, pos: int) -> tuple[list[bytes], int]:
    """The strings of the events that follow each other, and the position after the last one."""
    joint, tail, line = pattern.joint, pattern.tail, pattern.line
    parts: list[bytes] = []
    start = pos + len(pattern.head)
    while True:
        end = data.find(b"\n", start) - line
        if end >= start and data.startswith(joint, end):
            parts.append(data[start:end])
            start = end + len(joint)
        elif end >= start and data.startswith(tail, end):
            parts.append(data[start:end])
            return parts, end + len(tail)
        else:
            return parts, start - len(pattern.head)


def _decode(parts: list[bytes]) -> list[str]:
    """The strings, as many of the first ones as are JSON."""
    if len(parts) > 1:
        joined = b'","'.join(parts)
        quotes = 2 * (len(parts) - 1)
        # When nothing is escaped but by one backslash, and no part ends with one, all quotes that are not
        # escaped are the added ones: then it is as many strings as there are parts.
        if b"\\" not in joined:
            plain = joined.count(b'"') == quotes
        else:
            plain = (
                b"\\\\" not in joined
                and b'\\","' not in joined
                and joined.count(b'"') - joined.count(b'\\"') == quotes
            )
        if plain:
            try:
                return _strings(b'["%b"]' % joined)
            except msgspec.DecodeError:
                pass
    texts: list[str] = []
    for part in parts:
        try:
            texts.append(_string(b'"%b"' % part))
        except msgspec.DecodeError:
            break
    return texts


def _is_line(line: bytes) -> bool:
    """Whether it is one line, and its bytes are text."""
    if CR in line:
        return False
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
