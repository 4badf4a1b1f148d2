"""Recordings of a stream as various programs write them, and where each byte of it is in the file."""

from __future__ import annotations

import random
import re

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"


def chunked(body, rng):
    """The body in HTTP chunks of random sizes, one with an extension, and a trailer at the end."""
    pieces, at = [], 0
    while at < len(body):
        piece = body[at : at + rng.choice((1, 3, 40, 300))]
        extension = b";name=value" if rng.random() < 0.1 else b""
        pieces.append(b"%x%b\r\n%b\r\n" % (len(piece), extension, piece))
        at += len(piece)
    return b"".join(pieces) + b"0\r\nx-trailer: 1\r\n\r\n"


# How a recording was made -> the file, from the body of the stream.
WAYS = {
    "body": lambda body, _: body,
    "chunked": lambda body, rng: HEAD + b"transfer-encoding: chunked\r\n\r\n" + chunked(body, rng),
    "chunks-taken-apart": lambda body, _: HEAD + b"Transfer-Encoding: chunked\r\nserver: x\r\n\r\n" + body,
    "content-length": lambda body, _: HEAD + b"content-length: %d\r\n\r\n" % len(body) + body + b"more",
    "until-the-end": lambda body, _: HEAD + b"\r\n" + body,
    "http-1.0": lambda body, _: HEAD.replace(b"1.1", b"1.0") + b"\r\n" + body,
    "http-2": lambda body, _: b"HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n" + body,
    "http-3": lambda body, _: b"HTTP/3 200\r\ncontent-type: text/event-stream\r\n\r\n" + body,
    "line-feeds": lambda body, _: HEAD.replace(b"\r", b"") + b"\n" + body,
    "continue": lambda body, _: b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"\r\n" + body,
    "proxy": lambda body, rng: (
        b"HTTP/1.1 200 Connection established\r\nproxy: x\r\n\r\n"
        + HEAD
        + b"transfer-encoding: chunked\r\n\r\n"
        + chunked(body, rng)
    ),
    "redirect": lambda body, _: (
        b"HTTP/1.1 307 Temporary Redirect\r\ncontent-length: 90\r\nlocation: /v1/x\r\n\r\n"
        + HEAD
        + b"\r\n"
        + body
    ),
}


def wrap(way, body, seed=0):
    """The file."""
    return WAYS[way](body, random.Random(seed))


def places(data):
    """Where in a file each byte of its body is: found without svir, by the rules of HTTP alone."""
    heads = re.match(rb"(?:HTTP/.*?\r?\n\r?\n)*", data, re.DOTALL)[0]
    at = len(heads)
    if b"chunked" not in heads.lower() or not re.match(rb"[0-9a-f]+(;.*)?\r\n", data[at:]):
        return list(range(at, len(data)))
    found = []
    while at < len(data):
        size_line = re.compile(rb"([0-9a-f]+)[^\n]*\n").match(data, at)
        if size_line is None or not int(size_line[1], 16):
            break
        begin, end = size_line.end(), size_line.end() + int(size_line[1], 16)
        found += range(begin, min(end, len(data)))
        at = end + 2
    return found
