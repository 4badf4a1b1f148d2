"""The floor: a raw socket, a split at line ends, and each event's JSON parsed into a typed struct."""

import asyncio
import socket
from urllib.parse import urlsplit

import msgspec
from harness import main


class Delta(msgspec.Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None


class Choice(msgspec.Struct, gc=False):
    delta: Delta
    finish_reason: str | None = None


class Chunk(msgspec.Struct, gc=False):
    choices: list[Choice]
    id: str | None = None
    model: str | None = None


parse = msgspec.json.Decoder(Chunk).decode
BODY = b'{"model":"m","messages":[{"role":"user","content":"Why do rivers meander?"}],"stream":true}'
END = b"\r\n0\r\n\r\n"


def request(url):
    return b"POST %b/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (
        urlsplit(url).path.encode(),
        len(BODY),
        BODY,
    )


def texts(data):
    for line in data.split(b"\n"):
        if line.startswith(b"data: {"):
            yield parse(line[6:]).choices[0].delta.content


def blocking(url):
    sock = socket.create_connection(("127.0.0.1", urlsplit(url).port))
    asked = request(url)

    def call():
        sock.sendall(asked)
        tail = b""
        while True:
            data = tail + sock.recv(65536)
            whole, _, tail = data.rpartition(b"\n")
            yield from texts(whole)
            if data.endswith(END):
                return

    return call


def concurrent(url):
    asked = request(url)

    async def call():
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        writer.write(asked)
        tail = b""
        while True:
            data = tail + await reader.read(65536)
            whole, _, tail = data.rpartition(b"\n")
            for text in texts(whole):
                yield text
            if data.endswith(END):
                writer.close()
                return

    return call


main(blocking=blocking, concurrent=concurrent)
