"""The order of replies, and what was asked: shared by servers and backends.

1. Replies are taken in the order in which requests arrive, whatever they ask; each answers one request.
2. A request without a reply is told so at once, and is a complaint. So is a reply that nobody asked for.
3. Complaints fail the test when its block ends, unless it is failing already.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import msgspec

from svir.testing._reply import Reply, ReplyFields, as_reply
from svir.types._value import several

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

__all__ = ["Received", "Script", "Scripted", "Unscripted"]

SHOWN_REQUESTS = 20
"""Most requests that a failing test is shown: the last ones."""

SHOWN_CHARACTERS = 100
"""Most characters of a request's last message in that list."""


class Received(msgspec.Struct, frozen=True):
    """A request as it arrived.

    Attributes:
        method: ``POST`` or ``GET``.
        path: The path, without a query.
        query: The query, without its ``?``.
        headers: The header fields, names in lower case; several of one name are joined by a
            comma and a blank.
        content: The body's bytes.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:  # what is in the JSON is known to the test alone
        """The body, read as JSON; None when it is empty, bytes when it is no JSON.

        Example:
            >>> from svir.testing import Received
            >>> Received("POST", "/v1/chat/completions", "", {}, b'{"model": "m"}').body["model"]
            'm'
        """
        if not self.content:
            return None
        try:
            return msgspec.json.decode(self.content)
        except (ValueError, RecursionError):
            return self.content

    def __repr__(self) -> str:
        return f"Received({self.method} {self.path}, <{len(self.content)} bytes>)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # Any: the base's own signature
        return [("method", self.method), ("path", self.path), ("content", f"<{len(self.content)} bytes>")]


class Unscripted(AssertionError):  # noqa: N818 (the test has the error)
    """A request that no reply was scripted for."""

    def reply(self) -> Reply:
        """What a server answers it. No client repeats a 501: a retry would only bury the problem."""
        message = f"this server is scripted, and {self}"
        error = {"message": message, "type": "scripted", "code": "unscripted"}
        return Reply(status=501, body={"error": error})


class Script:
    """Replies still to be given, requests that came, and what went wrong; for several threads."""

    def __init__(self, replies: Iterable[Reply | str]) -> None:
        self._lock = threading.Lock()
        given = several(replies, "replies must be a list of Reply and str")
        self._replies = [as_reply(reply) for reply in given]
        self._requests: list[Received] = []
        self._failures: list[str] = []

    def add(self, reply: Reply) -> None:
        """Adds a reply to the end."""
        with self._lock:
            self._replies.append(reply)

    def take(self, request: Received) -> Reply:
        """The reply to a request.

        Raises:
            Unscripted: There is none.
        """
        with self._lock:
            self._requests.append(request)
            what = f"request {len(self._requests)}, {request.method} {request.path}"
            if not self._replies:
                problem = f"{what}: no reply is left for it"
            elif self._replies[0].method not in {None, request.method}:
                problem = f"{what}: the next reply answers a {self._replies[0].method}: {self._replies[0]!r}"
            else:
                return self._replies.pop(0)
            self._failures.append(problem)
        raise Unscripted(problem)

    def fail(self, problem: str) -> None:
        """Notes something that must fail the test."""
        with self._lock:
            self._failures.append(problem)

    @property
    def requests(self) -> list[Received]:
        """The requests that came, in order."""
        with self._lock:
            return list(self._requests)

    def seen(self) -> list[str]:
        """The last requests that came, a line each: number, method, path, and the last message, cut short."""
        requests = self.requests
        first = max(0, len(requests) - SHOWN_REQUESTS)
        lines = [f"({first} earlier requests)"] if first else []
        for number, request in enumerate(requests[first:], first + 1):
            lines.append(f"request {number}, {request.method} {request.path}{_last_message(request)}")
        return lines

    def problems(self) -> list[str]:
        """What went wrong so far; replies that may yet be asked for are not."""
        with self._lock:
            return list(self._failures)

    def check(self, error: BaseException | None, who: str) -> None:
        """Ends a block: raises what is wrong, or notes it at the failure that ends the block already.

        Such a failure is told which requests came, too.

        Raises:
            AssertionError: The script was not followed.
        """
        problems = self.problems()
        with self._lock:
            left = ", ".join(repr(reply) for reply in self._replies)
        if left and error is None:
            problems.append(f"never asked for: {left}")
        text = f"{who} was not used as scripted:" + "".join(f"\n- {problem}" for problem in problems)
        if problems and error is None:
            raise AssertionError(text)
        if error is None:
            return
        if seen := self.seen():
            error.add_note(f"{who} saw:" + "".join(f"\n- {line}" for line in seen))
        if problems:
            error.add_note(text)


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None


class _Asked(msgspec.Struct):
    messages: list[_Message]


def _last_message(request: Received) -> str:
    """Who spoke last and what, as far as one line has room; empty when the body is no such request."""
    try:
        last = msgspec.json.decode(request.content, type=_Asked).messages[-1]
    except (ValueError, IndexError, RecursionError):
        return ""
    text = last.content or ""
    if isinstance(text, list):  # of an image, the word is enough
        text = " ".join(f"<{part.type}>" if part.text is None else part.text for part in text)
    cut = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."
    return f": {last.role} {cut!r}"


class Scripted:
    """What everything scripted can be told.

    Args:
        replies: The first replies: ``Reply`` values, or strings as their text.

    Attributes:
        script: The replies and requests.
    """

    def __init__(self, replies: Iterable[Reply | str] = ()) -> None:
        self.script = Script(replies)

    @property
    def requests(self) -> list[Received]:
        """The requests that came, in order of their arrival."""
        return self.script.requests

    def reply(self, text: str = "", **fields: Unpack[ReplyFields]) -> Reply:
        """Answers the next request; see ``Reply`` for what can be said.

        Args:
            text: The answer's text.
            **fields: The further arguments of ``Reply``.

        Returns:
            The reply, to which can be added what goes wrong, for example
            ``server.reply(text="Hello there").cut(after=1)``.
        """
        reply = Reply(text, **fields)
        self.script.add(reply)
        return reply

    def play(self, *replies: Reply | str) -> Self:
        """Answers the next requests with replies made elsewhere; a string is the text of one."""
        for reply in replies:
            self.script.add(as_reply(reply))
        return self

    def stall(self) -> Reply:
        """Takes the next request, and never answers it."""
        return self.reply(raw=b"").stall()

    def cut(self, *, reset: bool = False) -> Reply:
        """Takes the next request, and ends the connection without an answer."""
        return self.reply(raw=b"").cut(reset=reset)
