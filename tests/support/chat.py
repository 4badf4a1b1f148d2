"""Chat Completions streams for tests of what lies around the decoder."""

from __future__ import annotations

import json


def chunk(delta=None, finish=None, **fields):
    """One event."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    data = {"id": "c-1", "model": "m", "choices": [choice], **fields}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def pieces(*texts):
    """The beginning of an answer."""
    return b"".join(chunk({"content": text}) for text in texts)


def answer(*texts):
    """A whole answer."""
    return pieces(*texts) + chunk(finish="stop") + b"data: [DONE]\n\n"
