"""One log line a call: what was asked of whom, how it ended, and what it took. Never what was said.

1. Exactly one line, however the call ends: whole, failed, closed early, cancelled, or dropped by a program
   that forgot its stream.
2. Nothing of the request's or the answer's content is in it, and none of the server's words but the
   machine-readable code of an error.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgspec

from svir.errors import Error
from svir.layers._report import Report

if TYPE_CHECKING:
    from svir.exchange import Deadlines, Open, Reply, Server, Steps
    from svir.layers._report import End
    from svir.types import Request

__all__ = ["Trace"]

logging.getLogger("svir").addHandler(logging.NullHandler())


class Trace(msgspec.Struct, frozen=True):
    """Logs one line a call, to the logger ``svir``: ``INFO``, or ``WARNING`` when the call failed (D15).

    The line is made of ``name=value`` pairs: ``model``, ``server``, ``outcome`` (``completed``, ``failed``,
    ``closed``, ``interrupted`` or ``dropped``), then those that are known: ``finish``, ``headers``, ``first``
    and ``total`` (seconds from the start until the response had begun, something of the answer came, and all
    was over), ``input``, ``output``, ``reasoning`` and ``cached`` (tokens), ``error``, ``status``, ``code``.
    The same values are attributes of the log record, each with the prefix ``svir_``.

    Args:
        logger: Another logger to write to.

    Example:
        >>> import svir
        >>> from svir.layers import Trace
        >>> client = svir.Client.openai("http://127.0.0.1:1234", layers=[Trace()])
    """

    logger: logging.Logger | None = None

    def steps(
        self,
        request: Request,
        next: Open,  # noqa: A002 (as in ``def layer(request, next)``)
        deadlines: Deadlines,
        server: Server,
    ) -> Steps[Reply[Any]]:
        """Opens the call and logs how it ends; called by a client."""
        logger = self.logger or logging.getLogger("svir")
        model = request.model or server.model
        report = Report(lambda end: _log(logger, model, server, end), server.clock)
        return (yield from report.around(next(request, deadlines)))


def _log(logger: logging.Logger, model: str, server: Server, end: End) -> None:
    pairs: dict[str, object] = {
        "model": model,
        "server": f"{server.host}:{server.port}",
        "outcome": end.how,
    }
    if end.completion is not None:
        pairs["finish"] = end.completion.finish.value
    pairs |= {"headers": end.headers, "first": end.first, "total": end.total}
    if end.completion is not None and (usage := end.completion.usage) is not None:
        counts = {"input": usage.input, "output": usage.output, "reasoning": usage.reasoning}
        pairs |= counts | {"cached": usage.cached}
    if isinstance(end.error, Error):
        pairs |= {"error": end.error.kind, "status": end.error.status, "code": end.error.code}
    elif end.error is not None:
        pairs["error"] = type(end.error).__name__
    known = {name: value for name, value in pairs.items() if value is not None}
    level = logging.WARNING if end.how == "failed" else logging.INFO
    line = " ".join(f"{name}={_written(value)}" for name, value in known.items())
    logger.log(level, "call %s", line, extra={f"svir_{name}": value for name, value in known.items()})


def _written(value: object) -> str:
    """A value on the line: one word, so that a caller's model name cannot pretend to be another pair."""
    if isinstance(value, float):
        return f"{value:.3f}s"
    text = str(value)
    return text if text.isascii() and text.isprintable() and not set(text) & set(' "=') else ascii(text)
