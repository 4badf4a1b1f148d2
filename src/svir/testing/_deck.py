"""What a cassette knows: the file, which answers were given, and what must not be written.

1. A request is answered by the first recorded answer to the same method, path and body that was not given
   yet. So calls may come in any order, and several at once; the same question twice gets its two answers in
   the order in which they came.
2. An answer is written as soon as it ends, however it ends: whole, cut short, or left by the client.
3. What is secret is never written: of a request neither headers nor query; of an answer no cookies, nor the
   headers named by the test; and where an answer repeats a secret of its request, asterisks stand instead.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import unquote

from svir.errors import ConfigError, Error, ProtocolError, TransportError, TruncatedStreamError
from svir.http import Headers
from svir.testing._tape import Answer, Asked, Exchange, asked, difference, read_tape, write_tape
from svir.types._value import check, check_text

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable

    from svir.http import HttpRequest

__all__ = ["BREAKS", "Deck", "Mode", "Take"]

Mode = Literal["once", "replay", "record"]

ALWAYS_HIDDEN = frozenset(
    {"authorization", "cookie", "proxy-authorization", "set-cookie", "set-cookie2", "www-authenticate"}
    | {"api-key", "x-api-key", "proxy-authenticate"}
)
NOT_SECRET = frozenset({"accept", "accept-encoding", "content-type", "user-agent"})
"""What svir writes into every request. Any other value of a header is taken for a secret."""

SHORTEST_SECRET = 8
"""Characters; a shorter value is no key, and would be found everywhere."""

BREAKS: dict[str, tuple[type[Error], str]] = {
    "cut": (TruncatedStreamError, "the body ended before its announced end"),
    "reset": (TransportError, "it was broken before the body's end"),
    "broken": (ProtocolError, "the framing of the body is no valid HTTP/1.1"),
    "left": (TruncatedStreamError, "the recorded answer was left here by its reader"),
}


class Deck:
    """The file, what is on it, and whether it is being recorded; for several threads."""

    def __init__(self, path: str | os.PathLike[str], mode: Mode, hide_headers: Collection[str]) -> None:
        self.path = Path(path)
        if mode not in get_args(Mode):
            raise ConfigError("mode must be once, replay or record")
        check(hide_headers, (tuple, list, set, frozenset), "hide_headers")
        for name in hide_headers:
            check_text(name, "a name in hide_headers")
        self._hidden = ALWAYS_HIDDEN | {name.lower() for name in hide_headers}
        self._lock = threading.Lock()
        self.recording = mode == "record" or (mode == "once" and not self.path.exists())
        self._taken: list[Exchange | None] = [] if self.recording else list(self._read())
        self._given: set[int] = set()
        self._problem: str | None = None

    def __repr__(self) -> str:
        doing = "recording" if self.recording else "replaying"
        return f"({self.path.name!r}, {doing} {len(self._taken)} answers)"

    def find(self, given: HttpRequest, content: bytes) -> Answer:
        """The answer to a request with this body.

        Raises:
            svir.ConfigError: There is none.
        """
        request = _asked_by(given, content, _secrets_of(given))
        with self._lock:
            left = [(n, one) for n, one in enumerate(self._taken) if n not in self._given and one]
            for n, one in left:
                if one.request.key == request.key:
                    self._given.add(n)
                    return one.response
            known = len(self._taken)
        problem = f"nothing is recorded for {request.method} {request.path}: {_nearest(request, left, known)}"
        raise self._error(f"{problem} (to record anew, delete the file)", unsent=True)

    def begin(self) -> int:
        """A place on the tape for an answer that is still to come: the order is that of the requests."""
        self.check()
        with self._lock:
            self._taken.append(None)
            return len(self._taken) - 1

    def keep(self, place: int, request: Asked, answer: Answer, secrets: tuple[str, ...]) -> None:
        """Writes an answer, and all others that have ended; ``check`` says whether that went well."""
        headers = tuple(
            (name, _withheld(value.encode("latin-1", "replace"), secrets).decode("latin-1"))
            for name, value in answer.headers
            if name not in self._hidden
        )
        answer = Answer(answer.status, headers, _withheld(answer.body, secrets), answer.end)
        with self._lock:
            self._taken[place] = Exchange(request, answer)
            data = write_tape(one for one in self._taken if one)
            part = self.path.with_name(f"{self.path.name}.part")
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                part.write_bytes(data)
                part.replace(self.path)
            except OSError as error:
                # Raised here, it would end the reading of an answer, or be lost in the drain behind one.
                self._problem = f"it cannot be written: {error.strerror}"

    def check(self) -> None:
        """Raises when an answer could not be written.

        Raises:
            svir.ConfigError: The file cannot be written.
        """
        if self._problem is not None:
            raise self._error(self._problem)

    def _read(self) -> tuple[Exchange, ...]:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            problem = f"it cannot be read: {error.strerror}"
        else:
            try:
                return read_tape(data)
            except ConfigError as error:
                problem = error.detail
        raise self._error(problem)

    def _error(self, problem: str, *, unsent: bool = False) -> ConfigError:
        return ConfigError(f"the cassette {self.path.name}: {problem}", unsent=unsent)


class Take:
    """One answer while it is being recorded."""

    def __init__(self, deck: Deck, request: HttpRequest, content: bytes) -> None:
        self._deck = deck
        self._secrets = _secrets_of(request)
        self._request = _asked_by(request, content, self._secrets)
        self._place = deck.begin()
        self._status = 0
        self._headers = Headers()
        self._body: list[bytes] = []
        self._ended = False

    def head(self, status: int, headers: Headers) -> None:
        """Takes the head."""
        self._status, self._headers = status, headers

    def read(self, data: bytes) -> bytes:
        """Takes what was read, empty at the end."""
        self._body.append(data)
        if not data:
            self.end("whole")
        return data

    def failed(self, error: Error) -> None:
        """Takes what reading raised; a time-out ends nothing."""
        for end, (kind, _) in BREAKS.items():
            if isinstance(error, kind) and (error.retryable or kind is ProtocolError):
                self.end(end)
                return

    def end(self, how: str) -> None:
        """Writes the answer, once."""
        if not self._ended:
            self._ended = True
            answer = Answer(self._status, tuple(self._headers), b"".join(self._body), how)
            self._deck.keep(self._place, self._request, answer, self._secrets)


def _asked_by(request: HttpRequest, content: bytes, secrets: Iterable[str]) -> Asked:
    return asked(request.method, request.target.partition("?")[0], content, secrets)


def _secrets_of(request: HttpRequest) -> tuple[str, ...]:
    """What of a request must not be written: its headers' values, and its query whole and in parts."""
    found = [value for name, value in request.headers if name not in NOT_SECRET]
    found += [value.removeprefix("Bearer ") for value in found]
    query = request.target.partition("?")[2]
    found += [query, *(part.partition("=")[2] for part in query.split("&"))]
    found += [unquote(value) for value in found]
    found += [value.replace("/", "\\/") for value in found]  # as some servers write it in JSON
    return tuple(sorted({value for value in found if len(value) >= SHORTEST_SECRET}, key=len, reverse=True))


def _withheld(data: bytes, secrets: Iterable[str]) -> bytes:
    for secret in secrets:
        data = data.replace(secret.encode("utf-8", "replace"), b"*" * len(secret))
    return data


def _nearest(request: Asked, left: list[tuple[int, Exchange]], known: int) -> str:
    """How the request differs from what is recorded, for the one who reads the error."""
    if not left:
        return f"its {known} answers have all been given"
    for _, one in left:
        there = one.request
        if (there.method, there.path) == (request.method, request.path):
            place = difference(there.body, request.body) if there.body is not None else None
            told = f"at {place[:100]}" if place and request.body is not None else "in its body"
            return f"the next one recorded differs {told}"
    return f"the next one recorded is {left[0][1].request.method} {left[0][1].request.path}"
