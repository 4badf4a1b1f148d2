"""The probe itself: takes the steps, one after the other, and asks the questions."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from svir import __version__
from svir.cli._advice import LISTING, is_page
from svir.cli._connect import only_model
from svir.cli.probe._call import call_for
from svir.cli.probe._evidence import Evidence, Heard
from svir.cli.probe._plan import CHECK_SECONDS
from svir.cli.probe._questions import row
from svir.cli.probe._report import Report
from svir.cli.probe._requests import short
from svir.cli.probe._speed import speed_of
from svir.cli.probe._steps import BASICS
from svir.cli.probe._text import quoted
from svir.errors import AuthenticationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from svir.cli.probe._ask import Answer, Asker
    from svir.cli.probe._plan import Plan
    from svir.cli.probe._steps import Step

__all__ = ["Named", "probe"]

LEAST_SECONDS = 0.2
"""With less time than this left, nothing more is asked."""


FIRST = frozenset({"models", *BASICS})
"""What is asked again at once when no answer came."""


class Named(NamedTuple):
    """What the user named, for the call to paste."""

    model: str = ""
    api_key_env: str | None = None
    allow_http: bool = False
    added: Sequence[str] = ()


def probe(asker: Asker, plan: Plan, named: Named, progress: Callable[[str], object]) -> Report:
    """Asks, and reports.

    Args:
        asker: Asks the server.
        plan: What is asked.
        named: What the user named.
        progress: Is told the name of each step before it is taken.

    Raises:
        svir.Error: Nothing could be found out: there is no connection, no model, or the key is refused.
    """
    started, begun = datetime.now(UTC), asker.clock()
    evidence = _ask_all(asker, plan, named, progress)
    rows = tuple(row(question, evidence) for question in plan.questions)
    follow = [*named.added, *evidence.dialect.options, *(option for one in rows for option in one.options)]
    base = asker.settings.base
    url = f"{base.origin.scheme}://{base.origin.authority}{base.prefix}"
    return Report(
        svir=__version__,
        url=url,
        model=quoted(evidence.model, asker.secrets, 200),
        server=_server_name(evidence),
        started=started.isoformat(timespec="seconds"),
        seconds=round(asker.clock() - begun, 3),
        requests=asker.sent,
        rows=rows,
        speed=speed_of(evidence),
        call=call_for(
            url,
            evidence.model,
            follow,
            api_key_env=named.api_key_env,
            allow_http=named.allow_http,
            unreadable=evidence.unreadable,
        ),
    )


def _ask_all(asker: Asker, plan: Plan, named: Named, progress: Callable[[str], object]) -> Evidence:
    evidence, extras = Evidence(named.model), plan.extras
    waiting, again = deque(plan.steps), set[str]()
    while waiting:
        step = waiting.popleft()
        progress(step.name)
        evidence.ended = evidence.ended or _end(asker, evidence, step)
        if evidence.ended:
            # What was asked before, and in vain, was reached.
            evidence.unreached = tuple(one.name for one in (step, *waiting) if one.name not in again)
            break
        step.take(step, asker, evidence)
        heard = evidence.get(step.name)
        if heard is not None and heard.answer.lost and not step.once and step.name not in again and extras:
            # A busy server is no broken one, and one that hung up after its last answer broke no rule here.
            # Of the first few, all others depend on each; the rest can wait.
            extras -= 1
            again.add(step.name)
            (waiting.appendleft if step.name in FIRST else waiting.append)(step)
        elif step.name == "models" and heard is not None:
            _require_connection(heard.answer)
            evidence.model = named.model or _only_model(heard)
        elif step.name == BASICS[-1]:
            _require_admission(evidence)
        elif heard is not None and heard.failed and not heard.answer.late and evidence.baseline and extras:
            extras -= 1
            evidence.ended = _check(asker, evidence, heard)
    return evidence


def _server_name(evidence: Evidence) -> str:
    """What the server calls itself."""
    for heard in evidence.heard.values():
        if name := heard.answer.headers.get("server"):
            return heard.answer.quote(name, 80)
    return ""


def _end(asker: Asker, evidence: Evidence, step: Step) -> str:
    """Why nothing more is asked, or nothing."""
    if asker.left < LEAST_SECONDS:
        return "the time was used up (--max-seconds)"
    if step.name not in {"models", *BASICS, "plain", "lean"} and evidence.baseline is None:
        return "the simplest request is not answered"
    return ""


def _check(asker: Asker, evidence: Evidence, heard: Heard) -> str:
    """Whether the server still answers, after it failed; why nothing more is asked when it does not."""
    check = Heard(asker.ask(short(evidence), CHECK_SECONDS))
    if check.answer.late:
        return ""  # busy, it may be: nothing is known
    heard.confirmed = check.streamed
    if check.streamed:
        return ""
    if check.answer.status is None:
        return "the server had stopped answering"
    return f"the simplest request was answered with HTTP {check.answer.status} by then"


def _require_connection(answer: Answer) -> None:
    """Raises when the first request did not even leave."""
    if answer.status is None and answer.error is not None and answer.error.unsent:
        raise answer.error


def _require_admission(evidence: Evidence) -> None:
    """Raises when a key was wanted all the time, or a web page came: so it would be with all the rest."""
    heard = [found for name in BASICS if (found := evidence.get(name)) is not None]
    errors = [error for one in heard if (error := one.lenient.error) is not None]
    hopeless = all(isinstance(error, AuthenticationError) for error in errors) or all(map(is_page, errors))
    if errors and len(errors) == len(heard) and hopeless:
        raise errors[0]


def _only_model(heard: Heard) -> str:
    """The model of a server that has just one.

    Raises:
        svir.Error: It lists none.
        svir.cli._refused.RefusedError: It has several or none.
    """
    if (error := heard.strict.error) is not None:
        error.add_note(LISTING)
        raise error
    names = heard.strict.models or ()
    if len(names) == 1:
        return names[0]
    return only_model([heard.answer.quote(name, 60) for name in names])
