"""A request becomes a body: the fields, in the order they are written, and what is checked first.

1. Nothing is implied (P11): ``model``, ``stream`` and ``messages`` are always there, anything else only when
   the request sets it; what equals its default is not sent.
2. Checks come before files: the choice of tools (D40), ``extra``, then every part, and only then is a file
   looked at.
3. The body's exact length is known at the end, and admission (P14) is decided on it before a byte is sent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from svir.body import BLOCK_BYTES, Body
from svir.errors import ConfigError, ContextOverflowError, UnsupportedError
from svir.openai.chat._layout import Pieces, check_parts, write_message
from svir.openai.chat._places import fault, is_broken
from svir.types import Schema, ToolChoice
from svir.types._value import check_text, plain

if TYPE_CHECKING:
    from collections.abc import Collection

    from svir.types import Request, Tool

__all__ = ["OPTIONAL_FIELDS", "Encoder", "optional_fields"]

OPTIONAL_FIELDS = ("reasoning_effort", "stream_options")
"""What a server may refuse and the answer can do without (D11). Requirements are never among them (D40)."""

PLAIN_FIELDS = ("temperature", "top_p", "stop", "seed", "parallel_tool_calls")
"""Fields that are called on the wire what the request calls them."""

NEVER_EXTRA = frozenset({"model", "messages", "stream", "n", "stream_options"})
"""What ``extra`` must not set, whatever the request sets: the decoder relies on them."""

LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
"""The two names servers know the limit by: one limit, so ``extra`` must not set the other beside it (S10)."""

OWN_FIELDS = frozenset(
    {*NEVER_EXTRA, *OPTIONAL_FIELDS, *PLAIN_FIELDS, "tools", "tool_choice", "response_format"}
)
"""What the encoder writes besides the limit, which can have none of these names (S44)."""

# allow_nan: NaN and infinity are not JSON, and json would write them all the same.
_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def optional_fields(request: Request, *, include_usage: bool) -> tuple[str, ...]:
    """The optional fields this request would carry, by their names on the wire (D11).

    Args:
        request: The request.
        include_usage: Whether usage is asked for when the request leaves it open.

    Example:
        >>> from svir import Request
        >>> optional_fields(Request("m", effort="low"), include_usage=False)
        ('reasoning_effort',)
    """
    usage = include_usage if request.include_usage is None else request.include_usage
    carried = (request.effort is not None, usage)
    return tuple(name for name, there in zip(OPTIONAL_FIELDS, carried, strict=True) if there)


class Encoder:
    """Writes Chat Completions requests.

    Args:
        include_usage: Ask for token counts when the request leaves it open.
        omit: Optional fields to leave out, for a server that refuses them: ``reasoning_effort``,
            ``stream_options``.
        block_bytes: Bytes read from a file at a time, rounded down to a multiple of 3; 768 KiB.
        context_tokens: The model's context size, in tokens: a request that does not fit is refused (P14).
        max_tokens_field: The name of the field for ``max_tokens``; hosted reasoning models want
            ``max_completion_tokens``.

    Raises:
        svir.ConfigError: An option is not one of these.

    Example:
        >>> from svir import Request
        >>> from svir.openai.chat import Encoder
        >>> bytes(Encoder().encode(Request("m", messages="hi")))
        b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
    """

    def __init__(
        self,
        *,
        include_usage: bool = False,
        omit: Collection[str] = (),
        block_bytes: int = BLOCK_BYTES,
        context_tokens: int | None = None,
        max_tokens_field: str = "max_tokens",
    ) -> None:
        if isinstance(omit, str) or not set(omit) <= set(OPTIONAL_FIELDS):
            raise ConfigError(f"omit takes {' and '.join(OPTIONAL_FIELDS)}")
        if block_bytes < 1:
            raise ConfigError("block_bytes must be at least 1")
        if context_tokens is not None and context_tokens < 1:
            raise ConfigError("context_tokens must be at least 1")
        check_text(max_tokens_field, "max_tokens_field")
        if not max_tokens_field or max_tokens_field in OWN_FIELDS or is_broken(max_tokens_field):
            raise ConfigError("max_tokens_field must be the name of a field of its own")
        self._include_usage = include_usage
        self._omit = frozenset(omit)
        self._block_bytes = block_bytes
        self._context_tokens = context_tokens
        self._max_tokens_field: str = plain(max_tokens_field)

    def encode(self, request: Request) -> Body:
        """The request's body; its files are measured, not kept open.

        An image's size is looked up; a text file is read once, unless its escaped length is declared (D39).
        An empty model is written as it is: a client fills its own in before.

        Raises:
            svir.UnsupportedError: This wire cannot say it: a part in a role that cannot carry it, a required
                tool that is not offered (D40), text that is not valid Unicode.
            svir.AttachmentError: An image has no media type, or a file cannot be measured (P13).
            svir.ContextOverflowError: The request does not fit in ``context_tokens`` (P14).
            svir.ConfigError: ``extra`` sets a field that is not its own, or something is not JSON.
        """
        _check_tools(request)
        head = self._head(request)
        check_parts(request)
        out = Pieces(self._block_bytes)
        if not (head and _write_all(request, head, out)):
            raise fault(request)
        body = Body(out.finish(), block_bytes=self._block_bytes)
        self._admit(request, len(body))
        return body

    def _head(self, request: Request) -> bytes | None:
        """All fields but the messages, without the closing brace; None when they cannot be written."""
        fields = _fields(request, self._max_tokens_field, usage=self._include_usage)
        taken = {*NEVER_EXTRA, *fields, *(LIMIT_FIELDS if request.max_tokens is not None else ())}
        for name in request.extra:
            if name in taken:
                from svir.types._elsewhere import not_extra  # for a mistake only

                raise ConfigError(f"extra must not set {name!r}: {not_extra(name)}")
        kept = {name: value for name, value in fields.items() if name not in self._omit}
        try:
            return _write({**kept, **request.extra})[:-1].encode()
        except (TypeError, ValueError, RecursionError):
            return None

    def _admit(self, request: Request, length: int) -> None:
        # P14: bytes stand in for tokens, of which there are never more (but see O5 for images).
        if self._context_tokens is None:
            return
        if request.max_tokens == 0:
            raise ContextOverflowError("max_tokens=0 leaves no room for an answer")
        if length + (request.max_tokens or 0) > self._context_tokens:
            reserved = f" and max_tokens={request.max_tokens}" if request.max_tokens else ""
            raise ContextOverflowError(
                f"a body of {length} bytes{reserved} is over context_tokens={self._context_tokens}"
            )


def _write_all(request: Request, head: bytes, out: Pieces) -> bool:
    """Writes the body; False when a text in a message is not valid Unicode."""
    try:
        out.json(head, b',"messages":[')
        if request.system is not None:
            out.json(b'{"role":"system","content":"')
            out.text(request.system)
            out.json(b'"}')
        for n, message in enumerate(request.messages):
            out.json(b"," if n or request.system is not None else b"")
            write_message(message, out, send_reasoning=request.send_reasoning)
        out.json(b"]}")
    except UnicodeEncodeError:
        return False
    return True


def _check_tools(request: Request) -> None:
    # D40: what cannot be met is refused here, before any file is read.
    if len({tool.name for tool in request.tools}) != len(request.tools):
        raise UnsupportedError("two of the tools offered have the same name")
    choice = request.tool_choice
    if choice == "required" and not request.tools:
        raise UnsupportedError("a tool call is required, but no tool is offered")
    if isinstance(choice, ToolChoice) and all(tool.name != choice.name for tool in request.tools):
        raise UnsupportedError("the tool whose call is required is not offered")


def _fields(request: Request, max_tokens_field: str, *, usage: bool) -> dict[str, object]:
    """What the request sets, by the names on the wire, in the order written; the messages come last."""
    fields: dict[str, object] = {"model": request.model, "stream": True}
    if request.max_tokens is not None:
        fields[max_tokens_field] = request.max_tokens
    for name in PLAIN_FIELDS:
        value: object = getattr(request, name)
        if value is not None:
            fields[name] = value
    if request.tools:
        fields["tools"] = [_tool(tool) for tool in request.tools]
    fields |= _requirements(request)
    optional = optional_fields(request, include_usage=usage)
    if "reasoning_effort" in optional:
        fields["reasoning_effort"] = request.effort
    if "stream_options" in optional:
        fields["stream_options"] = {"include_usage": True}
    return fields


def _tool(tool: Tool) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _requirements(request: Request) -> dict[str, object]:
    """D40: the defaults are not sent, nor is ``none`` without tools (some servers refuse it)."""
    fields: dict[str, object] = {}
    match request.tool_choice:
        case ToolChoice(name):
            fields["tool_choice"] = {"type": "function", "function": {"name": name}}
        case "required":
            fields["tool_choice"] = "required"
        case "none" if request.tools:
            fields["tool_choice"] = "none"
        case _:
            pass
    match request.response_format:
        case Schema(name, schema) as given:
            strict = {"strict": True} if given.strict else {}
            described = {"name": name, "schema": schema, **strict}
            fields["response_format"] = {"type": "json_schema", "json_schema": described}
        case "json":
            fields["response_format"] = {"type": "json_object"}
        case _:
            pass
    return fields
