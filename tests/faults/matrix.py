"""The rows of the fault matrix, as data. ``docs/faults.md`` has the notation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "rows"
PHASES = tuple(path.stem.partition("-")[2].replace("-", " ") for path in sorted(FOLDER.glob("*.json")))

KINDS = {
    "transport": True,
    "timeout": True,
    "rate_limited": True,
    "truncated_stream": True,
    "authentication": False,
    "context_overflow": False,
    "content_filter": False,
    "protocol": False,
    "server": False,
    "unsupported": False,
    "response_limit": False,
}
"""The kinds a fault can end in, and whether trying again may help (docs/errors.md)."""

DEADLINES = {
    "connect_timeout": "(connect_timeout)",
    "idle_timeout": "(idle_timeout)",
    "timeout": "the answer was not complete within",
    "first_token": "(Timeout.first_token)",
}
"""The deadlines, and what the error says of each (docs/timeouts.md)."""

REQUESTS = ("chat", "big", "file", "models", "raw")
OUTCOME = {"text", "finish", "reasoning", "calls", "models", "bytes"}
FAILURE = {"error", "says", "deadline", "retryable", "unsent", "status", "message", "code", "retry_after"}
SECOND = {"text": "fresh"}

LEFT_OUT = {
    ("httpx2", "sending"): {"early response", "garbage", "endless", "1xx", "second response"},
}
"""Faults that are not played over a backend at a phase.

httpx2 looks for an answer when the body was sent, or could not be (``tests/http/test_httpx2.py`` shows it).
"""


class Outcome:
    """What a call must come to.

    Args:
        written: As in the row: a whole answer, or an error and what was delivered before it. Where what is
            below svir tells more or less of it in another version, ``error`` lists the kinds that it may be.
    """

    def __init__(self, written: dict[str, Any]) -> None:
        failed = "error" in written
        assert written.keys() <= (FAILURE | {"partial", "within_ms"} if failed else OUTCOME | {"within_ms"})
        self.deadline: str | None = written.get("deadline")
        self.within = written.get("within_ms", 0 if self.deadline else 1000) / 1000
        self.says: str = written.get("says", DEADLINES.get(self.deadline or "", ""))
        self.fields = {name: value for name, value in written.items() if name in OUTCOME}
        self._others: list[str] = []
        if not failed:
            self.fields = {"finish": "stop"} | self.fields if "text" in self.fields else self.fields
            return
        kind, *others = [written["error"]] if isinstance(written["error"], str) else written["error"]
        assert all(KINDS[other] == KINDS[kind] for other in others)
        self._others = others
        self.fields = {
            "error": kind,
            "retryable": written.get("retryable", KINDS[kind]),
            "unsent": written.get("unsent", False),
            "status": written.get("status"),
            "message": written.get("message"),
            "code": written.get("code"),
            "retry_after": written.get("retry_after"),
            "partial": written.get("partial", ""),
        }
        if self.fields["partial"] is None:  # it is what was handed out, however much that is
            del self.fields["partial"]
        if self.fields["unsent"] is None:  # either may be, and must be true: the server is asked
            del self.fields["unsent"]
        if "status" in written and "message" not in written:  # how much of the body came is not the matter
            del self.fields["message"]

    def wanted(self, got: dict[str, Any]) -> dict[str, Any]:
        """What of an outcome is told, as it must be."""
        return self.fields | {"error": got["error"]} if got.get("error") in self._others else self.fields


@dataclass
class Row:
    """One fault at one phase.

    Attributes:
        phase: Where in a call it happens.
        fault: What happens.
        how: What tells it from others of the same fault at the same phase.
        server: What the server does on the first connection; None: nobody listens.
        network: What a proxy between does on the first connection, the server being sound.
        url: Where the client goes instead; ``full`` is a port whose queue is full.
        request: The form of the request.
        warm: How many sound calls the client makes before, over the first connection.
        options: Options of the client.
        expect: What the call comes to.
        second: What the next call of the same client comes to.
        reused: Whether that goes over the first connection.
        connections: How many connections there are in all.
        memory_kib: Most memory the first call may take at any moment.
        excepted: By backend, what is otherwise there, or that the row does not apply (``skip``), and why.
    """

    phase: str
    fault: str
    expect: dict[str, Any]
    how: str = ""
    server: list[Any] | None = None
    network: list[Any] | None = None
    url: str | None = None
    request: str = "chat"
    warm: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    second: dict[str, Any] = field(default_factory=lambda: dict(SECOND))
    reused: bool | None = False
    connections: int | None = None
    memory_kib: int | None = None
    excepted: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.request in REQUESTS
        assert sum(given is not None for given in (self.server, self.network, self.url)) <= 1
        for excuse in self.excepted.values():
            assert excuse.keys() <= {"because", "expect", "second", "reused", "connections", "skip"}
            assert excuse["because"]
        Outcome(self.expect)
        Outcome(self.second)

    @cached_property
    def name(self) -> str:
        return "/".join(filter(None, (self.phase, self.fault, self.how))).replace(" ", "-")

    def deadline(self, name: str) -> float:
        """Seconds of a deadline that the row gives the client."""
        return dict(self.options.get("layers", [])).get(name) or self.options[name]

    def slower(self, factor: float) -> Row:
        """The row with longer deadlines."""
        options = dict(self.options)
        for name in DEADLINES.keys() & options.keys():
            options[name] *= factor
        if "layers" in options:
            options["layers"] = [(name, seconds * factor) for name, seconds in options["layers"]]
        return replace(self, options=options)

    def over(self, backend: str, face: str = "") -> Row | None:
        """The row as it is over a backend, or on one face of it; None when it does not apply there."""
        if self.fault in LEFT_OUT.get((backend, self.phase), ()):
            return None
        excuse = self.excepted.get(backend) or self.excepted.get(f"{backend}-{face}")
        if excuse is None:
            return self
        if excuse.get("skip"):
            return None
        changes = {name: value for name, value in excuse.items() if name != "because"}
        return replace(self, excepted={}, **changes)


def rows() -> list[Row]:
    """Every row, by phase."""
    found = []
    for phase, path in zip(PHASES, sorted(FOLDER.glob("*.json")), strict=True):
        for written in json.loads(path.read_text("ascii")):
            renamed = {"excepted" if name == "except" else name: value for name, value in written.items()}
            found.append(Row(phase=phase, **renamed))
    return found
