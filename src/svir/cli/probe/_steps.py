"""The requests in their order, and what each of them may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from svir.cli.probe import _requests
from svir.cli.probe._evidence import BOGUS, effort_step
from svir.cli.probe._leaving import LONG_ANSWERS, REQUESTS, SHORT_ANSWERS, leave
from svir.types import Effort

if TYPE_CHECKING:
    from svir.cli.probe._ask import Asker
    from svir.cli.probe._evidence import Evidence
    from svir.cli.probe._requests import Build

__all__ = ["BASICS", "STEPS", "Step"]

Take = Callable[["Step", "Asker", "Evidence"], None]


class Step(NamedTuple):
    """One request, or a few that belong together.

    Attributes:
        name: What its answer is known by.
        take: Takes it: sends what is to be sent, and adds to the evidence.
        tokens: Most tokens of answers it may ask for.
        seconds: How long each of its answers may take.
        requests: Most requests that are sent for it.
        once: Whether it is not asked again when no answer came in time: a server may still be at work on it.
    """

    name: str
    take: Take
    tokens: int = 1
    seconds: float = 30.0
    requests: int = 1
    once: bool = False


def asking(build: Build) -> Take:
    """Sends one request, if it is to be sent."""

    def take(step: Step, asker: Asker, evidence: Evidence) -> None:
        asked = build(evidence)
        if asked is not None:
            evidence.add(step.name, asker.ask(asked, step.seconds))

    return take


def leaving(step: Step, asker: Asker, evidence: Evidence) -> None:
    """Leaves an answer while it comes."""
    evidence.departure = leave(asker, evidence, step.seconds)


STEPS = (
    Step("models", asking(_requests.models), tokens=0),
    Step("bare", asking(_requests.bare), seconds=60.0),
    Step("elsewhere", asking(_requests.elsewhere), seconds=60.0),
    Step("completion", asking(_requests.completion)),
    Step("plain", asking(_requests.plain), tokens=_requests.TALK_TOKENS),
    Step("lean", asking(_requests.lean), tokens=_requests.TALK_TOKENS),
    Step("result", asking(_requests.result), tokens=_requests.SHORT_TOKENS),
    Step("auto", asking(_requests.auto), tokens=_requests.CALL_TOKENS, seconds=60.0),
    Step("several", asking(_requests.several), tokens=_requests.CALL_TOKENS, seconds=60.0),
    Step("unforced", asking(_requests.unforced), tokens=_requests.CALL_TOKENS, seconds=60.0),
    Step("required", asking(_requests.required), tokens=_requests.CALL_TOKENS, seconds=60.0),
    Step("named", asking(_requests.named), tokens=_requests.CALL_TOKENS, seconds=60.0),
    Step("system", asking(_requests.system), tokens=_requests.SHORT_TOKENS),
    *(Step(effort_step(word), asking(_requests.effort(word))) for word in (*Effort, BOGUS)),
    Step("json", asking(_requests.as_json), tokens=_requests.JSON_TOKENS, seconds=60.0),
    Step("schema", asking(_requests.as_schema), tokens=_requests.JSON_TOKENS, seconds=60.0),
    Step("strict", asking(_requests.as_strict), tokens=_requests.JSON_TOKENS, seconds=60.0),
    Step("image", asking(_requests.image), tokens=_requests.SHORT_TOKENS),
    Step("stop", asking(_requests.stop), tokens=_requests.SHORT_TOKENS),
    Step("logprobs", asking(_requests.logprobs), tokens=2),
    Step("unknown", asking(_requests.unknown)),
    Step("unknown_model", asking(_requests.unknown_model)),
    Step("bad_json", asking(_requests.bad_json), tokens=0),
    Step("wrong_key", asking(_requests.wrong_key)),
    Step(
        "leaving",
        leaving,
        tokens=LONG_ANSWERS * _requests.LONG_TOKENS + SHORT_ANSWERS,
        requests=REQUESTS,
    ),
    Step("overflow", asking(_requests.overflow), seconds=20.0, once=True),
)
BASICS = ("bare", "elsewhere", "completion")
"""Asked whatever is asked: how the server wants to be asked, and whether it answers at all."""
