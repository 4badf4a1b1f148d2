"""One request through aiohttp, until its response's head is there.

1. All deadlines are one scope round what aiohttp does; progress moves it.
2. Until aiohttp shows the connection it took, and until it asks for the body, ``unsent`` is certain.
3. aiohttp's errors hold the request, with the key. They are read by type, and ours returned when they are
   gone.
4. What aiohttp took for a head, h11 has to take as well, as in the built-in backend: aiohttp would read a
   body of an encoding that it does not know up to the connection's end, and call that whole.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

import aiohttp
import h11
from yarl import URL

from svir.errors import Error, ProtocolError, TransportError
from svir.http._aiohttp_response import AiohttpResponse
from svir.http._aiohttp_session import NotLocal, Stale, current
from svir.http._aiohttp_wire import Wire, broken
from svir.http._connection import HEAD_BYTES, NO_HTTP
from svir.http._net import Fault, connect_fault
from svir.http._roundtrip import closed_error
from svir.http._scopes import AsyncioScope
from svir.http._seam import Headers
from svir.http._tls import handshake_fault
from svir.http._upload import Upload, content_length

if TYPE_CHECKING:
    from aiohttp.connector import Connection

    from svir.http._aiohttp_session import Session
    from svir.http._net_asyncio import AsyncioNetwork
    from svir.http._roundtrip import Deadlines
    from svir.http._seam import HttpRequest

__all__ = ["Sending"]


class OtherProtocol(Exception):  # noqa: N818 (a value that aiohttp hands back)
    """TLS agreed on something else than HTTP/1.1."""


class Sending:
    """One request on its way.

    Args:
        request: What to send.
        network: The event loop.
        session: Its connections.
        deadlines: By when.
    """

    def __init__(
        self, request: HttpRequest, network: AsyncioNetwork, session: Session, deadlines: Deadlines
    ) -> None:
        self.plain = request.origin.scheme == "http"
        self.scope = AsyncioScope(network.loop, deadlines.end())
        self._request = request
        self._network = network
        self._session = session
        self._deadlines = deadlines
        self._upload = Upload(request, self._progress)
        self._wire: Wire | None = None
        self._on_its_way = False
        self._place = False

    async def perform(self, context: ssl.SSLContext | None) -> AiohttpResponse | Error:
        """Sends it. What went wrong is returned, but what the body raised is raised.

        Args:
            context: For TLS, or None.
        """
        answer: aiohttp.ClientResponse | None = None
        failure: Error | None = None
        token = current.set(self)
        try:
            async with self.scope:
                await self._upload.begin_in(self._network)
                self.scope.move(self._deadlines.connecting())
                await self._take_place()
                while answer is None:
                    with suppress(Stale):
                        answer = await self._ask(context)
        except BaseException as error:
            self._shut()
            if not isinstance(error, Exception):
                raise
            failure = _meaning(error)
        finally:
            current.reset(token)
            if self._wire is None:
                self._give_place()
        if answer is not None and self._wire is not None:
            headers = _headers(answer)
            if isinstance(headers, Headers):
                self._upload.wanted = answer.status < 300
                return AiohttpResponse(answer, headers, self._wire, self._network)
            failure = headers
        self._shut()
        return self._failed(failure)

    def knows(self, connection: Connection) -> bool:
        """Whether a request has gone out on it before."""
        return connection.protocol in self._session.sockets

    def connected(self, connection: Connection) -> None:
        """Says that the request is about to go out."""
        self._wire = Wire(connection, self._session.sockets)
        connection.add_callback(self._give_place)
        if not self._wire.speaks_http_1:
            raise OtherProtocol
        self._on_its_way = True
        self._progress()

    async def _ask(self, context: ssl.SSLContext | None) -> aiohttp.ClientResponse:
        request, origin = self._request, self._request.origin
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        headers = [("host", origin.authority), *request.headers]
        if (length := content_length(request)) is not None:
            headers.append(("content-length", str(length)))
        return await self._session.client.request(
            request.method,
            URL(f"{origin.scheme}://{host}:{origin.port}{request.target}", encoded=True),
            data=self._upload.pieces(self._network) if length else None,
            headers=headers,
            allow_redirects=False,
            ssl=context or True,
        )

    async def _take_place(self) -> None:
        if self._session.places is not None:
            await self._session.places.acquire()
            self._place = True

    def _give_place(self) -> None:
        if self._place and self._session.places is not None:
            self._place = False
            self._session.places.release()

    def _failed(self, failure: Error | None) -> Error:
        unsent = not self._on_its_way and not self._upload.asked
        self._upload.complain(unsent=unsent)
        if self.scope.ended:
            return closed_error(unsent=unsent)
        if self.scope.over:
            return self._deadlines.over(connecting=unsent)
        if failure is None:
            failure = ProtocolError(NO_HTTP)
        failure.unsent = unsent
        return failure

    def _progress(self) -> None:
        self.scope.move(self._deadlines.silence())

    def _shut(self) -> None:
        if self._wire is not None:
            self._wire.abort()


def _meaning(error: Exception) -> Error:
    """What aiohttp says, in svir's words."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return TransportError(_connecting(error.os_error).value)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        wrong = error.certificate_error
        return TransportError(
            (handshake_fault(wrong) if isinstance(wrong, ssl.SSLError) else Fault.TLS_INVALID).value
        )
    if isinstance(error, aiohttp.ClientResponseError):
        return ProtocolError(NO_HTTP)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return TransportError("it was closed by the server before an answer came")
    if isinstance(error, UnicodeError):  # it has no name's form
        return TransportError(Fault.NO_NAME.value)
    if isinstance(error, OtherProtocol):
        return TransportError(Fault.TLS_PROTOCOL.value)
    return TransportError(f"{broken(error).value} before an answer came")


def _headers(answer: aiohttp.ClientResponse) -> Headers | ProtocolError:
    """The fields of a head, as h11 has them, or what is wrong with it: rule 4, and S36."""
    if sum(len(name) + len(value) for name, value in answer.raw_headers) > HEAD_BYTES:
        return ProtocolError(f"the head of the answer is over {HEAD_BYTES // 1024} KiB")
    try:
        head = h11.Response(status_code=answer.status, headers=list(answer.raw_headers))
    except h11.LocalProtocolError:
        return ProtocolError(NO_HTTP)
    return Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers])


def _connecting(error: OSError) -> Fault:
    if isinstance(error, NotLocal):
        return Fault.NOT_LOCAL
    if isinstance(error, socket.gaierror):
        return Fault.NO_NAME
    return handshake_fault(error) if isinstance(error, ssl.SSLError) else connect_fault(error)
