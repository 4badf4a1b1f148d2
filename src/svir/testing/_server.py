"""A scripted model server on loopback.

1. Everything happens in threads: the test may be blocking, or run under asyncio or trio.
2. The end is the same every time, and no clock decides it. First the clients made here are closed. Then every
   connection that was ever opened is accepted, and shut down: a thread still reads what its client had sent,
   then comes to the end of it. So a request that was sent is counted, and none is waited for.
3. Whatever fails in a thread fails the test.
"""

from __future__ import annotations

import selectors
import socket
import threading
from typing import TYPE_CHECKING, Self

from svir.errors import ConfigError
from svir.http._seam import withheld
from svir.testing._connection import Connection
from svir.testing._script import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType
    from typing import Unpack

    from svir.client import AsyncClient, Client
    from svir.client._async import AsyncLayer
    from svir.client._sync import Layer
    from svir.exchange import Options
    from svir.testing._reply import Reply

__all__ = ["MockServer"]

PATIENCE = 10.0
"""Seconds a thread may take to end once its connection is shut: far more than it needs."""

MODEL = "test-model"
"""The model of the ready clients, when the test names none."""


class MockServer(Scripted):
    """A real HTTP server on loopback that answers as scripted.

    Use it in a ``with`` or ``async with`` block, and script it before it is asked. Replies are given in the
    order in which requests arrive. Leaving the block fails the test when more was asked than was scripted,
    or less, or when the server itself failed; a block that is failing already keeps its own failure, with
    the requests that the server saw in a note.

    Args:
        replies: The first replies: ``Reply`` values, or strings as their text.

    Raises:
        AssertionError: When the block is left: the script was not followed.

    Example:
        >>> from svir.testing import MockServer
        >>> with MockServer() as server:
        ...     _ = server.reply(text="Because they can.")
        ...     server.client().complete("Why do rivers meander?").text
        'Because they can.'
        >>> server.requests[0].body["messages"]
        [{'role': 'user', 'content': 'Why do rivers meander?'}]
    """

    def __init__(self, replies: Iterable[Reply | str] = ()) -> None:
        super().__init__(replies)
        self._port = 0
        self._ended = threading.Event()
        self._connections: list[Connection] = []
        self._threads: list[threading.Thread] = []
        self._closing: list[Callable[[], object]] = []
        self._closing_async: list[AsyncClient] = []

    @property
    def url(self) -> str:
        """The base URL, ``http://127.0.0.1:<port>``.

        Raises:
            svir.ConfigError: The block has not been entered yet.
        """
        if not self._port:
            raise ConfigError("a MockServer runs only inside its with block")
        return f"http://127.0.0.1:{self._port}"

    @withheld
    def client(self, *, layers: Sequence[Layer] = (), **options: Unpack[Options]) -> Client:
        """A client for this server, closed with it.

        Args:
            layers: As for ``svir.Client.openai``.
            **options: The same; the model is ``test-model`` unless one is named.
        """
        from svir.client import Client

        client = Client.openai(self.url, layers=layers, **_with_model(options))
        self._closing.append(client.close)
        return client

    @withheld
    def async_client(self, *, layers: Sequence[AsyncLayer] = (), **options: Unpack[Options]) -> AsyncClient:
        """An asynchronous client for this server, closed with it; as ``client``."""
        from svir.client import AsyncClient

        client = AsyncClient.openai(self.url, layers=layers, **_with_model(options))
        self._closing_async.append(client)
        return client

    def __enter__(self) -> Self:
        if self._port:
            raise ConfigError("a MockServer serves one block")
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        self._wake, woken = socket.socketpair()
        self._spawn(lambda: self._accept(listener, woken))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._closing_async:
            _run_at_once(client)
        self._end()
        self.script.check(error, type(self).__name__)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for client in self._closing_async:
                await client.aclose()
        finally:  # also when this task is being cancelled
            self._end()
        self.script.check(error, type(self).__name__)

    def __repr__(self) -> str:
        return f"MockServer({self.url})" if self._port else "MockServer()"

    def _end(self) -> None:
        for close in self._closing:
            close()
        self._ended.set()
        self._wake.close()  # which wakes the accepting thread
        self._threads[0].join()
        for connection in self._connections:  # from here on there are no new ones
            connection.end()
        for thread in self._threads[1:]:
            thread.join(PATIENCE)
            if thread.is_alive():
                self.script.fail("a thread of the server does not end")

    def _spawn(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name="svir MockServer", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket, woken: socket.socket) -> None:
        """Accepts connections until the end, and then those that are already there."""
        with listener, woken, selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            try:
                while not self._ended.is_set():
                    selector.select()
                    self._accept_all(listener)
                self._accept_all(listener)
            except OSError as error:  # out of sockets, say
                self.script.fail(f"the server can accept no connection: {error}")

    def _accept_all(self, listener: socket.socket) -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except BlockingIOError:
                return
            except ConnectionError:
                continue  # a client that left while it waited
            sock.setblocking(True)
            connection = Connection(sock, self.script, self._ended)
            self._connections.append(connection)
            self._spawn(connection.serve)


def _with_model(options: Options) -> Options:
    return {"model": MODEL, **options}


def _run_at_once(client: AsyncClient) -> None:
    """Closes an asynchronous client outside of its loop: closing the built-in backend never waits."""
    closing = client.aclose()
    try:
        closing.send(None)
    except StopIteration:
        return
    closing.close()
