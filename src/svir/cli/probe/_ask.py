"""One raw exchange: what was asked, what came back and when, and how it ended.

1. Nothing is judged here. Whatever a server does, also one that breaks HTTP, goes silent or never ends,
   becomes an `Answer`.
2. Every answer ends in bounded time and memory: by the deadline of its request, by what is left of the whole
   probe, and by `ANSWER_BYTES`.
3. An exchange runs in a thread of its own, so that a lookup of a name, which nothing can interrupt, holds up
   nobody, and so that an answer can be left while it comes.
"""

from __future__ import annotations

import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from svir.body import Body
from svir.cli.probe._text import quoted
from svir.errors import Error, RequestTimeoutError, TransportError
from svir.http import Abort, Headers, Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from svir.exchange import Settings
    from svir.http import Backend, HttpRequest, HttpResponse

__all__ = ["ANSWER_BYTES", "Answer", "Asked", "Asker", "Pending"]

ANSWER_BYTES = 256 * 1024
"""Most bytes of an answer that are read; far more than any request here asks for."""
CONNECT_SECONDS = 10.0
GRACE_SECONDS = 0.25
"""How long a thread that is past its deadline may take to say so."""
WRONG_KEY = Secret("svir-probe-wrong-key")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request.

    Attributes:
        method: ``GET`` or ``POST``.
        path: Where it goes, below the URL's own path; an answer's path is the settings' to say.
        body: What is posted.
        tokens: Most tokens of the answer it asks for.
        wrong_key: Whether it carries a key that was made up.
    """

    method: str = "POST"
    path: str = "/v1/chat/completions"
    body: bytes | None = None
    tokens: int = 0
    wrong_key: bool = False


class Answer(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What came back.

    Attributes:
        asked: The request.
        target: The path it really went to.
        status: None when there was no answer.
        headers: The answer's header fields.
        body: As much of the body as was read.
        arrivals: After each read, how many bytes had come, and how many seconds after the request was sent.
        error: Why it did not come to its end: it broke, or came too late.
        stopped: Why we did not read to its end: it was too long, or it was left on purpose.
        seconds: How long all of it took.
        keys: What must not be shown when the server repeats it.
    """

    asked: Asked
    target: str = "/v1/chat/completions"
    status: int | None = None
    headers: Headers = Headers()
    body: bytes = b""
    arrivals: tuple[tuple[int, float], ...] = ()
    error: Error | None = None
    stopped: Literal["", "size", "left"] = ""
    seconds: float = 0.0
    keys: tuple[Secret, ...] = ()

    @property
    def late(self) -> bool:
        """Whether a deadline ended it."""
        return isinstance(self.error, RequestTimeoutError)

    @property
    def lost(self) -> bool:
        """Whether it may not be the request's fault that there is no answer: it was late, or never begun."""
        return self.late or (self.status is None and isinstance(self.error, TransportError))

    @property
    def keyed(self) -> bool:
        """Whether the user gave a key, in whatever header."""
        return bool(self.keys)

    @cached_property
    def content_type(self) -> str:
        """The media type alone, in lower case."""
        return (self.headers.get("content-type") or "").partition(";")[0].strip().lower()

    def quote(self, data: bytes | str, limit: int = 300) -> str:
        """The server's words as text that can be shown anywhere: without the key, escaped, shortened."""
        return quoted(data, self.keys, limit)

    def arrived(self, size: int) -> float:
        """When the first so many bytes of the body had come, in seconds."""
        return next((seconds for have, seconds in self.arrivals if have >= size), self.seconds)


class Asker:
    """Asks one server, until the time of the whole probe is used up.

    Args:
        settings: The server.
        key: The key for it.
        made_up: The server, with made-up words for what is a key in another header, or in the query.
        secrets: What these are.
        seconds: How long the whole probe may take.
        backend: What sends HTTP requests.
        clock: Seconds.
    """

    def __init__(
        self,
        settings: Settings,
        key: Secret | None,
        *,
        made_up: Settings | None = None,
        secrets: Iterable[Secret] = (),
        seconds: float,
        backend: Backend,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.key = key
        self.made_up = made_up or settings
        self.secrets = (*(() if key is None else (key,)), *secrets)
        """What must not be shown when the server repeats it."""
        self.backend = backend
        self.clock = clock
        self.end = clock() + seconds
        self.sent = 0
        """How many requests were begun."""
        self.changed = threading.Condition()
        """Whatever happens to an answer is told here, so that several can be waited for at once."""

    @property
    def left(self) -> float:
        """Seconds that are left for the whole probe."""
        return self.end - self.clock()

    def begin(self, asked: Asked, seconds: float) -> Pending:
        """Sends a request, and does not wait for the answer.

        Args:
            asked: The request.
            seconds: How long all of it may take, if so much is left.
        """
        self.sent += 1
        key, settings = (WRONG_KEY, self.made_up) if asked.wrong_key else (self.key, self.settings)
        body = None if asked.body is None else Body([asked.body])
        request = settings.http_request(asked.method, asked.path, key, body)
        return Pending(self, asked, request, max(0.0, min(seconds, self.left)))

    def until(self, enough: Callable[[], bool], seconds: float) -> bool:
        """Waits until something can be said of the answers that come, at most so long; whether it can."""
        with self.changed:
            return self.changed.wait_for(enough, max(0.0, min(seconds, self.left)))

    def ask(self, asked: Asked, seconds: float) -> Answer:
        """Sends a request, and waits for all of the answer."""
        return self.begin(asked, seconds).wait()


class Pending:
    """An answer that is still to come, or coming."""

    def __init__(self, asker: Asker, asked: Asked, request: HttpRequest, seconds: float) -> None:
        self._clock = asker.clock
        self._begun = asker.clock()
        self._until = self._begun + seconds
        self._asked = asked
        self._target = request.target.partition("?")[0]
        self._keys = asker.secrets
        self._abort = Abort()
        self._pieces: list[bytes] = []
        self._size = 0
        self._arrivals: list[tuple[int, float]] = []
        self._head: tuple[int, Headers] | None = None
        self._error: Error | None = None
        self._stopped: Literal["", "size", "left"] = ""
        self._fault: Exception | None = None
        self._seconds = seconds
        self._finished = threading.Event()
        self._changed = asker.changed
        run = threading.Thread(target=self._run, args=(asker.backend, request), daemon=True)
        run.start()

    @property
    def done(self) -> bool:
        """Whether the answer has come to its end."""
        return self._finished.is_set()

    @property
    def body(self) -> bytes:
        """What has come of the body."""
        with self._changed:
            return b"".join(self._pieces)

    def wait(self, seconds: float | None = None) -> Answer:
        """The answer at its end, or after so many seconds, or at its deadline."""
        left = max(0.0, self._until - self._clock()) + GRACE_SECONDS
        ended = self._finished.wait(left if seconds is None else max(0.0, min(seconds, left)))
        if not ended and seconds is None:
            self._abort()
        return self._answer(late=not ended)

    def leave(self) -> Answer:
        """Closes the connection at once, as a client that has heard enough, and says what had come."""
        with self._changed:
            if not self.done:
                self._stopped = "left"
        self._abort()
        self._finished.wait(GRACE_SECONDS)
        return self._answer(late=False)

    def _answer(self, *, late: bool) -> Answer:
        if self._fault is not None:
            raise self._fault
        with self._changed:
            status, headers = self._head or (None, Headers())
            error = self._error
            if late and error is None:
                error = self._late()
            return Answer(
                asked=self._asked,
                target=self._target,
                status=status,
                headers=headers,
                body=b"".join(self._pieces),
                arrivals=tuple(self._arrivals),
                error=None if self._stopped else error,
                stopped=self._stopped,
                seconds=self._clock() - self._begun,
                keys=self._keys,
            )

    def _late(self) -> RequestTimeoutError:
        """What is said of an answer that takes too long, whichever wait noticed."""
        what = "did not answer" if self._head is None else "did not end its answer"
        return RequestTimeoutError(f"{what} within {self._seconds:.3g} s")

    # In the thread

    def _run(self, backend: Backend, request: HttpRequest) -> None:
        try:
            left = self._until - self._clock()
            response = backend.send(
                request, connect=min(CONNECT_SECONDS, left), read=left, total=left, abort=self._abort
            )
            try:
                self._read(response)
            finally:
                response.close()
        except RequestTimeoutError:
            with self._changed:
                self._error = self._late()
        except Error as error:
            with self._changed:
                self._error = error
        except Exception as error:  # noqa: BLE001 (a fault of svir, which the main thread reports)
            self._fault = error
        finally:
            with self._changed:
                self._finished.set()
                self._changed.notify_all()

    def _read(self, response: HttpResponse) -> None:
        self._abort.attach(response.close)
        with self._changed:
            self._head = response.status, response.headers
        while self._size < ANSWER_BYTES:
            data = response.read(self._until - self._clock())
            if not data:
                return
            with self._changed:
                self._pieces.append(data[: ANSWER_BYTES - self._size])
                self._size += len(data)
                self._arrivals.append((self._size, self._clock() - self._begun))
                self._changed.notify_all()
        with self._changed:
            self._stopped = self._stopped or "size"
