"""What a user with an own HTTP client, or an own transport around the codec, writes; never run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, assert_type

from svir import Client, Event, Request
from svir.body import Body
from svir.http import Abort, Headers, HttpRequest, HttpResponse
from svir.openai.chat import Decoder, Encoder

T = TypeVar("T")


class OwnResponse:
    status = 200
    headers = Headers([("content-type", "text/event-stream")])

    def read(self, timeout: float | None) -> bytes:
        return b""

    def close(self) -> None:
        pass


class OwnBackend:
    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> HttpResponse:
        assert_type(request.body, Body | None)
        return OwnResponse()

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        pass

    def call(self, function: Callable[[], T]) -> T:
        return function()

    def close(self) -> None:
        pass


def with_own_backend() -> Client:
    return Client.openai("https://example.com", backend=OwnBackend())


def without_a_transport(request: Request, answer: Iterator[bytes]) -> Iterator[Event]:
    body = Encoder(include_usage=True).encode(request)
    assert_type(len(body), int)
    assert_type(bytes(body), bytes)
    decoder = Decoder("lenient")
    for data in answer:
        yield from decoder.push(data)
    decoder.finish()
