"""A backend of one's own: it keeps what went over the wire, for looking at it and for tests.

    python examples/custom_backend.py http://127.0.0.1:8080 qwen3-27b wire

Writes ``wire/1.json``, what was asked, and ``wire/1.sse``, the bytes of the answer, which
``MockServer().reply(file="wire/1.sse")`` plays again. The key is in neither: it is in the headers.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import svir
from svir.http import Abort, Backend, Headers, Http11Backend, HttpRequest, HttpResponse

T = TypeVar("T")


class KeptResponse:
    """Writes bytes down as they are read."""

    def __init__(self, response: HttpResponse, path: Path) -> None:
        self._response, self._path = response, path
        self.status: int = response.status
        self.headers: Headers = response.headers
        path.write_bytes(b"")

    def read(self, timeout: float | None) -> bytes:
        data = self._response.read(timeout)
        with self._path.open("ab") as file:  # no open file to look after: close() may come from any thread
            file.write(data)
        return data

    def close(self) -> None:
        self._response.close()


class Keeping:
    """Sends by another backend, and keeps requests and answers in a folder."""

    def __init__(self, folder: Path, inner: Backend) -> None:
        self._folder, self._inner = folder, inner
        self._numbers = itertools.count(1)

    def send(
        self,
        request: HttpRequest,
        *,
        connect: float | None,
        read: float | None,
        total: float | None = None,
        abort: Abort | None = None,
    ) -> HttpResponse:
        path = self._folder / str(next(self._numbers))
        if request.body is not None:
            path.with_suffix(".json").write_bytes(bytes(request.body))
        response = self._inner.send(request, connect=connect, read=read, total=total, abort=abort)
        return KeptResponse(response, path.with_suffix(".sse"))

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        self._inner.sleep(seconds, abort)

    def call(self, function: Callable[[], T]) -> T:
        return self._inner.call(function)

    def close(self) -> None:
        self._inner.close()


def main(url: str = "http://127.0.0.1:8080", model: str = "qwen3-27b", folder: str = "wire") -> None:
    Path(folder).mkdir(exist_ok=True)
    backend = Keeping(Path(folder), Http11Backend())
    with svir.Client.openai(url, model=model, api_key=os.environ.get("SVIR_KEY"), backend=backend) as client:
        print(client.complete("Why do rivers meander?", max_tokens=200).text)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except svir.Error as error:
        sys.exit(str(error))
