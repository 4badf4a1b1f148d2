"""How messages are laid out on this wire (P12).

1. Content is a plain string, unless the message has an image: some servers take no arrays.
2. Texts and text files become one text, in the order given, with a blank line between them; images follow it.
   An empty text says nothing and leaves no blank line behind.
3. Each tool result is a message of its own.
4. What a role cannot carry is refused before any file is looked at. Nothing is dropped silently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from svir.body import image_segment, text_segment
from svir.errors import AttachmentError, UnsupportedError
from svir.types import (
    Image,
    Reasoning,
    Role,
    Text,
    TextFile,
    ToolCall,
    ToolResult,
    UrlSource,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from svir.body import Segment
    from svir.types import Message, Part, Request

__all__ = ["Pieces", "check_parts", "write_message"]

CARRIES: dict[Role, tuple[type, ...]] = {
    Role.USER: (Text, Image, TextFile),
    Role.ASSISTANT: (Text, Reasoning, ToolCall),
    Role.TOOL: (ToolResult,),
}
"""Which parts a role can carry."""

BLANK_LINE = "\n\n"


class Pieces:
    """A body under construction; neighbouring literals become one segment."""

    __slots__ = ("_done", "_literal", "block_bytes")

    def __init__(self, block_bytes: int) -> None:
        self.block_bytes = block_bytes
        self._done: list[bytes | Segment] = []
        self._literal: list[bytes] = []

    def json(self, *written: bytes) -> None:
        """Adds JSON as it is."""
        self._literal += written

    def text(self, text: str) -> None:
        """Adds to the JSON string that is open."""
        self._literal.append(msgspec.json.encode(text)[1:-1])

    def segment(self, segment: Segment) -> None:
        """Adds an attachment to the JSON string that is open."""
        self._done += (b"".join(self._literal), segment)
        self._literal.clear()

    def finish(self) -> list[bytes | Segment]:
        """The segments, in order."""
        return [*self._done, b"".join(self._literal)]


def check_parts(request: Request) -> None:
    """Refuses what this wire cannot say, before a file is read.

    Raises:
        svir.UnsupportedError: A message has a part that its role cannot carry.
        svir.AttachmentError: An image has no media type.
    """
    for n, message in enumerate(request.messages):
        if message.role is Role.TOOL and not message.parts:
            raise UnsupportedError(f"messages[{n}] is a tool's turn without a result")
        for m, part in enumerate(message.parts):
            place = f"messages[{n}].parts[{m}]"
            if not isinstance(part, CARRIES[message.role]):
                raise UnsupportedError(f"{place}: the role {message.role} carries no {type(part).__name__}")
            if isinstance(part, Image) and not (part.media_type or isinstance(part.source, UrlSource)):
                raise AttachmentError(f"the image at {place} has no media type: set media_type=")


def write_message(message: Message, out: Pieces, *, send_reasoning: bool) -> None:
    """Writes one message; several for a tool's turn with several results.

    Raises:
        svir.AttachmentError: A file cannot be measured.
        UnicodeEncodeError: A text has a lone surrogate.
    """
    match message.role:
        case Role.USER:
            _user(message.parts, out)
        case Role.ASSISTANT:
            out.json(msgspec.json.encode(_assistant(message.parts, send_reasoning=send_reasoning)))
        case Role.TOOL:
            results = (part for part in message.parts if isinstance(part, ToolResult))
            out.json(b",".join(msgspec.json.encode(_result(result)) for result in results))


def _result(result: ToolResult) -> dict[str, str]:
    # D37: this wire has no field for a failure, so the text says it.
    content = f"error: {result.content}" if result.is_error else result.content
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}


def _assistant(parts: Iterable[Part], *, send_reasoning: bool) -> dict[str, object]:
    texts: list[str] = []
    calls: list[dict[str, object]] = []
    reasoning: dict[str, str] = {}
    for part in parts:
        match part:
            case Text(text):
                texts.append(text)
            case ToolCall(call_id, name, arguments):
                function = {"name": name, "arguments": arguments}
                calls.append({"id": call_id, "type": "function", "function": function})
            case Reasoning(source, text) if send_reasoning and source != "think":
                # D23: what came between think tags never goes back; the rest under the key it came with.
                reasoning[source] = reasoning.get(source, "") + text
            case _:
                pass
    # D24: content is an empty string when there is no text; many templates fail on null.
    content = BLANK_LINE.join(filter(None, texts))
    return {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {}), **reasoning}


def _user(parts: Iterable[Part], out: Pieces) -> None:
    images = [part for part in parts if isinstance(part, Image)]
    texts = [part for part in parts if isinstance(part, TextFile) or (isinstance(part, Text) and part.text)]
    if not images:
        out.json(b'{"role":"user","content":"')
        _text(texts, out)
        out.json(b'"}')
        return
    out.json(b'{"role":"user","content":[')
    if texts:
        out.json(b'{"type":"text","text":"')
        _text(texts, out)
        out.json(b'"},')
    for n, image in enumerate(images):
        out.json(b"," if n else b"")
        _image(image, out)
    out.json(b"]}")


def _text(parts: Iterable[Text | TextFile], out: Pieces) -> None:
    for n, part in enumerate(parts):
        out.text(BLANK_LINE if n else "")
        if isinstance(part, Text):
            out.text(part.text)
        else:
            name = (part.name or "").replace('"', "&quot;")  # P12: the only character that ends the name
            out.text(f'<file name="{name}">\n')
            out.segment(text_segment(part, block_bytes=out.block_bytes))
            out.text("\n</file>")


def _image(image: Image, out: Pieces) -> None:
    out.json(b'{"type":"image_url","image_url":{"url":"')
    if isinstance(image.source, UrlSource):
        out.text(image.source.url)
    else:
        out.text(f"data:{image.media_type};base64,")
        out.segment(image_segment(image.source))
    out.json(b'"', b',"detail":' + msgspec.json.encode(image.detail) if image.detail else b"", b"}}")
