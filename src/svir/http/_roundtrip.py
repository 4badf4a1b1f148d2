"""One request and its response on one connection, for every face.

1. Every wait has a deadline made of two: the silence the caller allows, counted afresh whenever the network
   took or gave something, and the end of the whole.
2. ``unsent`` is counted, never guessed: it is whether no byte of the request was handed to the network.
3. An answer may come while the body is still being sent. A 1xx is skipped; an error or a redirect ends the
   sending; a 2xx is a server that began early, which still gets the rest, until its answer is whole or its
   connection ends. When a write fails, the answer may be there already, so it is looked for before the
   connection is given up.
4. The connection is given away exactly once, whoever comes first: the reader at the end of the body,
   ``close`` from any thread, or the garbage collector.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

from svir.errors import ConfigError, Error, RequestTimeoutError, TransportError
from svir.http._net import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from svir.body import Body
    from svir.http._connection import Connection
    from svir.http._net import Network, Stream
    from svir.http._seam import Headers

__all__ = ["Deadlines", "Roundtrip", "closed_error"]

JOINED_BYTES = 64 * 1024
"""A first block up to this size goes out together with the head."""

EARLY_BYTES = 256 * 1024
"""Most bytes of an answer taken in while the body is still being sent; about as many as a head may have."""


def closed_error(*, unsent: bool = False, client: bool = False) -> TransportError:
    """What whoever waits gets when the connection was closed under him, or the whole client."""
    what = "the client was " if client else ""
    return TransportError(f"{what}{Fault.CLOSED.value}", retryable=False, unsent=unsent)


class Deadlines:
    """The moments by which things must have happened, from the durations of one ``send``."""

    def __init__(
        self, clock: Callable[[], float], connect: float | None, read: float | None, total: float | None
    ) -> None:
        self._clock = clock
        self._connect = connect
        self._read = read
        self._total = total
        self._end = None if total is None else clock() + total

    def connecting(self) -> float | None:
        """When a connection that is begun now must be there."""
        return self._soonest(self._connect)

    def silence(self) -> float | None:
        """When the network must have taken or given something, asked now."""
        return self._soonest(self._read)

    def end(self) -> float | None:
        """When the head must be there."""
        return self._end

    def over(self, *, connecting: bool = False, handshake: bool = False) -> RequestTimeoutError:
        """The error for a deadline that passed, before the connection was there or in its TLS handshake."""
        limit = self._connect if connecting else self._read
        if self._end is not None and (limit is None or self._clock() >= self._end):
            return RequestTimeoutError(f"no answer within {self._total:g} s (timeout)", unsent=connecting)
        if connecting:
            missed, hint = (
                ("TLS handshake", ": does the server speak TLS?") if handshake else ("connection", "")
            )
            return RequestTimeoutError(
                f"no {missed} within {self._connect:g} s (connect_timeout){hint}", unsent=True
            )
        return RequestTimeoutError(f"the server was silent for {self._read:g} s (idle_timeout)")

    def _soonest(self, seconds: float | None) -> float | None:
        if seconds is None:
            return self._end
        until = self._clock() + seconds
        return until if self._end is None else min(until, self._end)


class Roundtrip:
    """One exchange on a stream, and the stream's owner until it is given back or shut.

    Args:
        connection: The HTTP of it, fresh.
        stream: The network of it, clean.
        network: The face.
        done: Takes the stream away: to be reused, or, when false, shut.
    """

    def __init__(
        self, connection: Connection, stream: Stream, network: Network, done: Callable[[Stream, bool], None]
    ) -> None:
        self.network = network
        self._connection = connection
        self._stream = stream
        self._done = done
        self._owned = [True]  # popped by whoever gives the stream away: one operation, so only one can
        self._reading = False
        self._closed = False
        self._ended = False
        self._error: Error | None = None
        self._early = 0  # bytes of the answer that came before the request was sent
        self._broken: Fault | None = None  # why the request could not be sent
        stream.sent = 0

    @property
    def status(self) -> int:
        """The status code, once ``open`` has returned None."""
        return self._connection.status or 0

    @property
    def headers(self) -> Headers:
        """The header fields of the response."""
        return self._connection.headers

    async def open(self, body: Body | None, deadlines: Deadlines) -> Error | None:
        """Sends the request and waits for the response's head; what went wrong is returned.

        Raises:
            svir.AttachmentError: The body cannot be read.
        """
        try:
            failure = await self._open(body, deadlines)
        except BaseException as error:
            self.shut()
            if isinstance(error, Error):
                error.unsent = self._stream.sent == 0
            raise
        if failure is not None:
            failure.unsent = self._stream.sent == 0
            self.shut()
        return failure

    async def read(self, timeout: float | None) -> bytes:  # noqa: ASYNC109 (the seam's contract)
        """The next bytes of the body; see ``HttpResponse.read``."""
        if self._reading:
            raise ConfigError("a response cannot be read from two places at the same time")
        if self._closed and not self._ended:
            raise closed_error()
        self._reading = True
        connection = self._connection
        until = None
        finish = True  # whatever leaves this way, a cancellation too, ends the connection
        try:
            while True:
                piece = connection.piece()
                if piece is not None:
                    finish = self._ended = not piece
                    return piece
                if self._error is not None:
                    raise self._error.with_traceback(None)
                if until is None and timeout is not None:
                    until = self.network.clock() + timeout
                got = await self._stream.read(until)
                if got == b"" and self._broken is not None:
                    got = self._broken  # the kernel tells of a reset once, and of an end ever after
                if isinstance(got, bytes):
                    if got:
                        connection.receive(got)
                    else:
                        connection.receive_eof()
                elif got is Fault.TIMEOUT:
                    finish = False
                    raise RequestTimeoutError(f"the server was silent for {timeout:g} s (idle_timeout)")
                elif got is Fault.CLOSED:
                    raise closed_error()
                else:
                    self._error = TransportError(f"{got.value} before the body's end")
        finally:
            self._reading = False
            if finish or self._closed:
                self._give_away(reuse=self._ended)

    def close(self) -> None:
        """Ends the exchange; see ``HttpResponse.close``."""
        self._closed = True
        # While a reader is at work, the connection's state is the reader's, and it must be woken anyway.
        self._give_away(reuse=not self._reading)

    def shut(self) -> None:
        """Ends the exchange and the connection."""
        self._give_away(reuse=False)

    def _give_away(self, *, reuse: bool) -> None:
        try:
            self._owned.pop()
        except IndexError:
            return
        self._stream.streamed = self._connection.headers.get("content-length") is None
        self._done(self._stream, reuse and self._connection.reusable)

    def __del__(self) -> None:
        # Nothing is scheduled, and no lock is waited for: a socket is shut by a plain call.
        if getattr(self, "_owned", None):
            watch = self._stream.watch
            connection = self._connection
            unfinished = connection.status is not None and not connection.complete
            unfinished = unfinished and not watch.closed and watch.ours
            self._give_away(reuse=False)
            if unfinished:
                warnings.warn(
                    "a response was dropped unfinished, and its connection shut: close it when done",
                    ResourceWarning,
                    source=self,
                    stacklevel=2,
                )

    # Opening

    async def _open(self, body: Body | None, deadlines: Deadlines) -> Error | None:
        connection = self._connection
        fault = await self._send(body, deadlines)
        if fault not in {None, Fault.TIMEOUT, Fault.CLOSED}:
            self._broken, fault = fault, None  # the answer may have come before the connection broke
        while fault is None and connection.status is None and not connection.failed:
            got = await self._stream.read(deadlines.silence())
            if isinstance(got, Fault):
                fault = got
            elif got:
                connection.receive(got)
            else:
                connection.receive_eof()
        if connection.status is not None:
            return None
        if fault is Fault.TIMEOUT:
            return deadlines.over()
        if fault is Fault.CLOSED:
            return closed_error()
        if (reason := self._broken or fault) is not None:
            return TransportError(f"{reason.value} before an answer came")
        return connection.failure

    async def _send(self, body: Body | None, deadlines: Deadlines) -> Fault | None:
        """Sends the request, or as much of it as the server wants; what went wrong is returned."""
        connection = self._connection
        blocks = iter(() if body is None else body)
        in_memory = body is None or body.in_memory
        head = connection.head()
        block = await self._next_block(blocks, in_memory, deadlines)
        if isinstance(block, bytes) and len(head) + len(block) <= JOINED_BYTES:
            parts = [memoryview(b"".join((head, block)))]
        else:
            parts = [head, memoryview(block)] if isinstance(block, bytes) else [head]
        look = False  # the stream was found quiet a moment ago
        while not isinstance(block, Fault):
            for part in parts:
                taken = await self._write(part, deadlines, look=look)
                if taken is not True:
                    return taken or None
                look = True
            if block is None:
                connection.end()
                return None
            if in_memory:
                await self.network.sleep(0)  # others of the loop have their turn
            block = await self._next_block(blocks, in_memory, deadlines)
            parts = [memoryview(block)] if isinstance(block, bytes) else []
        return block

    async def _next_block(
        self, blocks: Iterator[bytes], in_memory: bool, deadlines: Deadlines
    ) -> bytes | Literal[Fault.TIMEOUT] | None:
        if in_memory:
            block = next(blocks, None)
        else:
            fetched = await self.network.call(lambda: next(blocks, None), deadlines.end())
            if isinstance(fetched, Fault):
                return fetched
            block = fetched
        if block is not None:
            self._connection.block(block)
        return block

    async def _write(self, data: memoryview, deadlines: Deadlines, *, look: bool) -> bool | Fault:
        """Sends a part of the request; false when the server has answered and wants no more."""
        connection = self._connection
        while data:
            look = look and self._early < EARLY_BYTES
            outcome = await self._stream.write(data, deadlines.silence(), look=look)
            if isinstance(outcome, int):
                data = data[outcome:]
            elif isinstance(outcome, Fault):
                return outcome
            else:
                if outcome:
                    connection.receive(outcome)
                    self._early += len(outcome)
                else:
                    connection.receive_eof()
                refused = connection.status is not None and connection.status >= 300
                if refused or connection.complete or connection.failed:
                    return False
        return True
