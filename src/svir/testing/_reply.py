"""What a scripted server answers to one request: the words a test is written in.

1. A reply is what is said (text, events, a status, a recording) and what goes wrong while it is said
   (``stall``, ``cut``, ``delay``, ``pace``). It becomes a list of acts, which servers and backends perform.
2. What an answer in events looks like on the wire is the wire API's business, and checked there.
3. A reply that could not do what it says (a cut after the ninth of three events) is refused when it is
   written: a test that silently tests nothing is worse than none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypedDict

from svir.errors import ConfigError
from svir.testing._acts import Act, Cut, Pause, Send, Stall
from svir.testing._content import Content, answer, body_content, listing, raw_content, read_file
from svir.types import ToolCall
from svir.types._value import check

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from svir.types import Event, FinishReason, ModelInfo, Usage

__all__ = ["Reply", "ReplyFields", "as_reply"]

_ANSWER = ("text", "reasoning", "calls", "usage", "finish")
_KINDS = ("events", "models", "file", "raw", "body")


class ReplyFields(TypedDict, total=False):
    """The arguments of ``Reply`` beside the text, which say what is answered."""

    reasoning: str
    calls: Iterable[ToolCall]
    usage: Usage | None
    finish: FinishReason | str | None
    events: Iterable[Event] | None
    models: Iterable[str | ModelInfo] | None
    file: str | os.PathLike[str] | None
    raw: bytes | Iterable[bytes] | None
    body: object
    status: int
    headers: Mapping[str, str] | None


class Reply:
    """One scripted answer.

    Say one of these: an answer by its parts (``text``, ``reasoning``, ``calls``) or by its ``events``; a
    listing of ``models``; a ``file``; ``raw`` bytes; or a ``status``, perhaps with a ``body``.

    Args:
        text: The answer's text, streamed a word at a time.
        reasoning: What the model thought before; streamed likewise.
        calls: The calls it asks for.
        usage: Token counts; none are sent by default.
        finish: How it finished; by default ``tool_calls`` when there are calls, else ``stop``.
        events: The events the client is to hand out, in place of the parts above. ``Completed`` may end them.
        models: The models of a ``GET /v1/models``, by ID or whole.
        file: A recording: ``x.sse``, the body of a stream; or ``x.http``, a whole response as it came over
            the wire, sent byte for byte.
        raw: Bytes to send in place of a response, whatever they are; several are sent one after the other.
        body: The body of a plain response: text, bytes, or anything else as JSON. With a ``status`` of 400
            or more and no body, an error object of the usual form is sent.
        status: The HTTP status.
        headers: Header fields to add, or to send in place of ``content-type``.

    Raises:
        svir.ConfigError: The arguments exclude each other, a file cannot be read, or a correct server could
            not send such an answer (use ``raw`` or a file for one that is incorrect).

    Example:
        >>> from svir.testing import Reply
        >>> Reply(text="Hello there").cut(after=1)
        Reply(text='Hello there').cut(after=1)
        >>> Reply(status=429, headers={"retry-after": "1"})
        Reply(status=429, headers={'retry-after': '1'})
    """

    def __init__(
        self,
        text: str = "",
        *,
        reasoning: str = "",
        calls: Iterable[ToolCall] = (),
        usage: Usage | None = None,
        finish: FinishReason | str | None = None,
        events: Iterable[Event] | None = None,
        models: Iterable[str | ModelInfo] | None = None,
        file: str | os.PathLike[str] | None = None,
        raw: bytes | Iterable[bytes] | None = None,
        body: object = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        calls = tuple(calls)
        for n, call in enumerate(calls):
            check(call, ToolCall, f"calls[{n}]")
        given: dict[str, Any] = {  # the arguments as they came: shown, and told apart
            name: value
            for name, value in (
                *(("text", text), ("reasoning", reasoning), ("calls", calls), ("usage", usage)),
                *(("finish", finish), ("events", events), ("models", models), ("file", file), ("raw", raw)),
                *(("body", body), ("status", None if status == 200 else status), ("headers", headers)),
            )
            if value not in (None, "", ()) or (name == "raw" and value is not None)
        }
        _require_one_kind(given)
        self._shown = ", ".join(f"{name}={_short(value)}" for name, value in given.items())
        self._modifiers = ""
        self.method: str | None = None
        """The method a request must have to be answered by this, when only one makes sense."""
        if models is not None:
            self.method = "GET"
            content = listing(models)
        elif file is not None:
            content = read_file(file)
        elif raw is not None:
            content = raw_content(raw)
        elif body is not None or status != 200:
            content = body_content(body, status)
        else:
            self.method = "POST"
            content = answer(events, text, reasoning, calls, usage=usage, finish=finish)
        self._content: Content = content.with_head(status, headers or {})
        self._extra: dict[int, list[Act]] = {}
        self._pace = 0.0

    def stall(self, *, after: int | None = None) -> Self:
        """Goes silent, and stays so until the client gives up.

        Args:
            after: After so many events; 0: after the response's head. None: before it.
        """
        return self._add(Stall(), after, "stall()")

    def cut(self, *, after: int | None = None, reset: bool = False) -> Self:
        """Ends the connection.

        Args:
            after: After so many events; 0: after the response's head. None: before it.
            reset: By a reset, as when a server crashes, and not in an orderly way.
        """
        return self._add(Cut(reset), after, "cut(reset=True)" if reset else "cut()")

    def delay(self, seconds: float, *, after: int | None = None) -> Self:
        """Waits once, then goes on.

        Args:
            seconds: How long.
            after: After so many events; 0: after the response's head. None: before it.
        """
        return self._add(Pause(_seconds(seconds)), after, f"delay({seconds})")

    def pace(self, seconds: float) -> Self:
        """Waits so many seconds before every event."""
        self._pace = _seconds(seconds)
        self._modifiers += f".pace({seconds})"
        return self

    def acts(self) -> Iterator[Act]:
        """What is done, in order: the response's bytes, and what happens between them."""
        yield from self._extra.get(-1, ())
        content = self._content
        if content.head:
            yield Send(content.head)
        yield from self._extra.get(0, ())
        for number, piece in enumerate(content.pieces, 1):
            if self._pace:
                yield Pause(self._pace)
            yield Send(content.framed(piece))
            yield from self._extra.get(number, ())
        if content.tail:
            yield Send(content.tail)
        if content.closes:
            yield Cut()

    def _add(self, act: Act, after: int | None, shown: str) -> Self:
        events = len(self._content.pieces)
        if after is not None and not 0 <= after <= events:
            raise ConfigError(f"{self!r} has {events} events to send, so nothing can happen after {after}")
        self._extra.setdefault(-1 if after is None else after, []).append(act)
        if after is not None:
            shown = shown.replace(")", f", after={after})").replace("(, ", "(")
        self._modifiers += f".{shown}"
        return self

    def __repr__(self) -> str:
        return f"Reply({self._shown}){self._modifiers}"


def as_reply(given: object) -> Reply:
    """A reply as it is, or a string as the text of one."""
    check(given, (Reply, str), "a reply")
    return given if isinstance(given, Reply) else Reply(text=str(given))


def _require_one_kind(given: Mapping[str, object]) -> None:
    kinds = [name for name in _KINDS if name in given]
    parts = [name for name in _ANSWER if name in given]
    if "events" in kinds:  # whose usage and finish may be told beside them
        parts = [name for name in parts if name not in {"usage", "finish"}]
    if parts:
        kinds.append(parts[0])
    elif "status" in given and not kinds:
        kinds.append("status")
    if len(kinds) > 1:
        raise ConfigError(f"a reply is one of several kinds: {kinds[0]}= and {kinds[1]}= exclude each other")
    if kinds and kinds[0] in {"raw", "file"} and ("status" in given or "headers" in given) and _whole(given):
        raise ConfigError("raw bytes and .http files have a status and headers of their own")
    if kinds and kinds[0] not in {"body", "status", "raw"} and "status" in given:
        raise ConfigError("an answer has the status 200; say another one's body with body=")


def _whole(given: Mapping[str, object]) -> bool:
    return "raw" in given or not str(given["file"]).endswith(".sse")


def _seconds(seconds: float) -> float:
    check(seconds, (int, float), "seconds")
    if not 0 <= seconds <= 3600:
        raise ConfigError("a scripted delay must be from 0 to 3600 seconds")
    return seconds


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}...<{len(text)} characters>"
