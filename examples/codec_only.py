"""The encoder and the decoder without any client of svir's, here around the standard library's http.client.

    python examples/codec_only.py http://127.0.0.1:8080 qwen3-27b "Why do rivers meander?"

For whoever has a transport already. Neither does any input or output, and the decoder takes bytes however
they were cut; deadlines, statuses and connections are then yours.
"""

from __future__ import annotations

import http.client
import os
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import svir
from svir.openai.chat import Decoder, Encoder


def answer(connection: http.client.HTTPConnection, request: svir.Request) -> Iterator[svir.Event]:
    body = Encoder().encode(request)  # blocks of bytes; its length is exact, also with files in it
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    if key := os.environ.get("SVIR_KEY"):
        headers["authorization"] = f"Bearer {key}"
    connection.request("POST", "/v1/chat/completions", iter(body), headers)
    response = connection.getresponse()
    if response.status != http.client.OK:
        raise http.client.HTTPException(f"the status is {response.status}")
    decoder = Decoder()
    try:
        while data := response.read1(64 * 1024):
            yield from decoder.push(data)  # raises what is wrong with the answer, a svir.Error
    except http.client.IncompleteRead:
        pass  # what is missing, the decoder knows better
    yield from decoder.flush()
    decoder.finish()  # raises unless the answer is whole


def connected(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise http.client.InvalidURL("the server's URL begins with http:// or https://")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname, parts.port, timeout=300)


def main(
    url: str = "http://127.0.0.1:8080",
    model: str = "qwen3-27b",
    question: str = "Why do rivers meander?",
) -> None:
    connection = connected(url)
    try:
        for event in answer(connection, svir.Request(model, messages=question)):
            if isinstance(event, svir.TextDelta):
                print(event.text, end="", flush=True)
            elif isinstance(event, svir.Completed):
                print(f"\n[{event.completion.finish}]")
    finally:
        connection.close()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (svir.Error, OSError, ValueError, http.client.HTTPException) as error:
        sys.exit(f"\n{error}")
