"""The decoder of Chat Completions streams: bytes in, events out, no I/O.

1. Bytes are framed (``codec/_sse.py``), an event's data is read as a chunk (``_read.py``), and the chunk is
   applied to the answer (``_answer.py``).
2. Plain events, which are nearly all of them, take a shortcut (``_fast.py``) that decides nothing by itself.
3. An error comes after every event decoded before it, and stays (P9): a failed decoder cannot look like one
   that simply ended.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from svir.codec._fault import Fault, Unfinished
from svir.codec._json import is_object, parse
from svir.codec._options import Limits, Mode, Think, check_mode, check_think
from svir.codec._sse import Frame, Framing
from svir.errors import (
    ContextOverflowError,
    Partial,
    ProtocolError,
    ResponseLimitError,
    ServerError,
    TruncatedStreamError,
    UnsupportedError,
)
from svir.openai.chat._answer import Answer
from svir.openai.chat._failures import describe, error_in
from svir.openai.chat._fast import FastPath
from svir.openai.chat._read import ChunkReader
from svir.types import Completed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from svir.codec._api import Failure
    from svir.errors import Error
    from svir.types import Event

__all__ = ["Decoder"]

DONE = b"data: [DONE]\n\n"

BLOCK = 32 * 1024
"""Bytes looked at together. It bounds what one look costs, and so keeps the whole linear."""


class Decoder:
    r"""Reads one answer.

    Args:
        mode: ``strict`` (the default) refuses what the protocol does not know; ``lenient`` skips it where the
            answer cannot become wrong by that (D3, P8).
        limits: What the answer may cost.
        think: ``split`` takes ``<think>...</think>`` out of the text as reasoning (D23).
        clock: Seconds; for the completion's timing, counted from the making of the decoder (P7).
        request_id: Goes into the completion and into errors.
        dropped: Goes into the completion: optional fields that the request was sent without (D11).

    Example:
        >>> from svir.openai.chat import Decoder
        >>> decoder = Decoder()
        >>> chunk = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
        >>> list(decoder.push(chunk))
        [TextDelta(text='Hi')]
        >>> [done] = decoder.push(b"data: [DONE]\n\n")
        >>> done.completion.finish, done.completion.text
        (<FinishReason.STOP: 'stop'>, 'Hi')
        >>> decoder.finish()
    """

    __slots__ = (
        "_answer",
        "_done",
        "_dropped",
        "_error",
        "_fast",
        "_framing",
        "_limits",
        "_look",
        "_mode",
        "_number",
        "_request_id",
    )

    def __init__(
        self,
        mode: Mode = "strict",
        *,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        think: Think = "split",
        clock: Callable[[], float] = time.monotonic,
        request_id: str | None = None,
        dropped: tuple[str, ...] = (),
    ) -> None:
        if mode != "strict":
            check_mode(mode)
        if think != "split":
            check_think(think)
        self._mode: Mode = mode
        self._limits = limits
        self._request_id = request_id
        self._dropped = dropped
        self._framing = Framing(mode, limits.event_bytes)
        self._answer = Answer(mode, limits.tool_calls, think, clock)
        self._fast = FastPath(self._answer)
        # Bytes the shortcut may look at. A limit below a block has to be watched byte by byte. Tests set 0.
        self._look = limits.event_bytes if limits.event_bytes >= BLOCK else 0
        self._number = 0  # of events that were read without the shortcut
        self._done = False
        self._error: Error | None = None

    @property
    def done(self) -> bool:
        """Whether the answer is whole: ``Completed`` was decoded."""
        return self._done

    @property
    def partial(self) -> Partial:
        """What was decoded so far: text and reasoning, never calls (D5)."""
        return self._answer.partial()

    def push(self, data: bytes) -> Iterator[Event]:
        """Decodes bytes at once.

        Args:
            data: The next bytes, cut anywhere; empty is fine.

        Returns:
            The events they completed, in wire order. If the bytes also brought an error, the iterator raises
            it after them. After ``Completed`` nothing more is read, and there are no events.

        Raises:
            svir.Error: The one of an earlier push, which every later call raises again.
        """
        if type(data) is not bytes:
            data = _as_bytes(data)
        events: list[Event] = []
        framing, answer = self._framing, self._answer
        # Nothing is taken here after an error or the end, since then there is no pattern.
        try:
            if framing.clean and len(data) <= self._look:
                end = framing.offset + len(data)
                if end <= self._limits.wire_bytes and self._fast.take_one(data, events):
                    framing.offset = end
                    if answer.visible:
                        answer.stamp()
                    return iter(events)
            if self._error is None and not self._done:
                self._push(data, events)
                if answer.visible:
                    answer.stamp()
        except Fault as fault:
            stopped = fault
        except BaseException:
            # What these bytes said is lost, so nothing that follows may be called whole.
            self._fast.forget()
            self._error = self._make_error(Fault(ProtocolError, "the decoding was interrupted"))
            raise
        else:
            if self._error is not None:
                raise self._error.with_traceback(None)
            return iter(events)
        self._fast.forget()
        answer.flush(events)  # what was held back comes before the error
        self._error = self._make_error(stopped)
        return _EventsThenError(events, self._error)

    def flush(self) -> Iterator[Event]:
        """Hands out the tail of the text that was held back since it may begin a think tag.

        For a caller who knows that nothing will come any more, before ``finish`` says what that means.
        """
        events: list[Event] = []
        self._fast.forget()
        self._answer.flush(events)
        return iter(events)

    def finish(self) -> None:
        """Ends the input.

        Raises:
            svir.TruncatedStreamError: The answer is not whole: no finish reason, or no ``[DONE]``.
            svir.Error: The one of an earlier push.
        """
        if self._error is None and not self._done:
            what = "the stream ended before " + ("[DONE]" if self._answer.finish else "a finish reason")
            self._error = self._make_error(Fault(TruncatedStreamError, what))
        if self._error is not None:
            raise self._error.with_traceback(None)

    def _make_error(self, fault: Fault) -> Error:
        error = fault.error(self._number + self._fast.taken, self._framing.event_at)
        error.request_id = self._request_id
        error.partial = self._answer.partial()
        return error

    def _push(self, data: bytes, events: list[Event]) -> None:
        size = len(data)
        if size > BLOCK:
            for start in range(0, size, BLOCK):
                if not self._done:
                    self._push(data[start : start + BLOCK], events)
            return
        framing = self._framing
        left = self._limits.wire_bytes - framing.offset - framing.pending - size
        if left < 0:
            data = data[:left]
        if not framing.clean:
            data = b"" if framing.pending and framing.keep(data) else framing.take(data)
        pos, size = 0, len(data)
        shortcuts = size <= self._look  # with what came before of its first line, it can be more
        while pos < size:
            if shortcuts and framing.clean:
                start = pos
                try:
                    pos = self._fast.take(data, start, events)
                except Fault as fault:
                    fault.at = framing.offset + (fault.at or 0) - start
                    raise
                framing.offset += pos - start
                if pos == size:
                    break
                if data.startswith(DONE, pos):
                    self._number += 1
                    self._complete(framing.offset, events)
                    return
                if framing.keep(data[pos:]):
                    break
            frame, pos = framing.next(data, pos)
            if frame is not None:
                self._number += 1
                self._take(frame, events)
                self._fast.review()
                if self._done:
                    return
        if left < 0:
            raise Unfinished(
                ResponseLimitError,
                f"a response of more than {self._limits.wire_bytes} bytes",
                "Limits(wire_bytes=...) allows more",
                at=self._limits.wire_bytes,
            )

    def _take(self, frame: Frame, events: list[Event]) -> None:
        """Reads one event by every rule."""
        if frame.type == b"error":  # D29: whatever its data
            self._fail(describe(frame.data or b""), frame.at)
        if frame.type not in {b"", b"message"}:
            self._skip(UnsupportedError, "an unknown event type", frame.at)
            return
        data = (frame.data or b"").strip()
        if data == b"[DONE]":
            self._complete(frame.at, events)
            return
        if frame.data is None:
            return
        try:
            value = parse(data, strict=self._mode == "strict")
        except ValueError:
            value = None
            readable = False
        except Fault as fault:
            fault.at = frame.at
            raise
        else:
            readable = True
        if (failure := error_in(value)) is not None:
            self._fail(failure, frame.at)
        if not readable or not is_object(value):
            self._skip(ProtocolError, "data that is no JSON object", frame.at)
            return
        try:
            chunk = ChunkReader(self._mode).read(value, self._answer.index)  # pyright: ignore[reportUnknownArgumentType]  (JSON)
            if chunk is not None:
                self._answer.apply(chunk, events)
        except Fault as fault:
            fault.at = frame.at
            raise

    def _skip(self, kind: type[ProtocolError | UnsupportedError], what: str, at: int) -> None:
        if self._mode == "strict":
            raise Fault(kind, what, "mode='lenient' skips it", at=at)

    def _fail(self, failure: Failure, at: int) -> None:
        """D29, D30: the server's own failure inside the stream."""
        overflow = failure.meaning == "context_overflow"
        raise Fault(
            ContextOverflowError if overflow else ServerError,
            "an error inside the stream",
            at=at,
            code=failure.code,
            server_message=failure.message,
        )

    def _complete(self, at: int, events: list[Event]) -> None:
        """``[DONE]``: the answer is whole, or never will be (D5)."""
        answer = self._answer
        if answer.splitter is not None:
            answer.flush(events)
        try:
            completion = answer.complete(self._request_id, self._dropped)
        except Fault as fault:
            fault.at = at
            raise
        events.append(Completed(completion))
        self._done = True


def _as_bytes(data: object) -> bytes:
    """A copy of a buffer, which its owner may use again."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"push takes bytes, not {type(data).__name__}")
    return bytes(cast("bytes | bytearray | memoryview[int]", data))


class _EventsThenError:
    """Hands out events, then raises; and raises again when asked again."""

    __slots__ = ("_error", "_events")

    def __init__(self, events: list[Event], error: Error) -> None:
        self._events = iter(events)
        self._error = error

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        for event in self._events:
            return event
        raise self._error.with_traceback(None)
