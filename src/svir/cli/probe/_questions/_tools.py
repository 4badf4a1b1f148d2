"""Tool calls: whether they come, how they end, and what their pieces look like.

A call that was required shows that the server saw to it only where the model, left alone, makes none. So it
is required with a message that the tool is not for, and the same message is sent without requiring one, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from svir.cli.probe._evidence import WEATHER
from svir.cli.probe._questions._finding import (
    Finding,
    Judge,
    Question,
    broken_off,
    bytes_of,
    nothing,
    obstacle,
    of_stream,
    text_of,
)
from svir.cli.probe._reading import as_json
from svir.cli.probe._report import Verdict
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from svir.cli.probe._evidence import Evidence, Heard
    from svir.cli.probe._reading import Call

__all__ = ["QUESTIONS"]

AT_ONCE = ("auto", "several")
ASKED = (*AT_ONCE, "required", "named")
NEEDS = ("result", *ASKED)
"""With the earlier calls that the first conversation may have."""
CALL_AS_TEXT = re.compile(
    rf"""["'](?:name|function|tool)["']\s*:\s*["']{WEATHER}\b|["']{WEATHER}["']\s*,\s*["'](?:arguments|parameters)["']"""
    rf"""|[<\[|](?:/?tool_calls?|function(?:=|_calls?)|python_tag)\b[\s\S]*{WEATHER}|\A[\s\[`]*{WEATHER}\s*\(""",
    re.IGNORECASE,
)
"""A call as models write one: as JSON, in a tag of its own, or as all of the text. A name alone is talk."""
ENDS = {
    "auto": {"tool_calls"},
    "several": {"tool_calls"},
    "required": {"tool_calls"},
    "named": {"tool_calls", "stop"},
}
"""How an answer of calls ends, by the choice; OpenAI ends that of a named function with stop (D45)."""


def calling(name: str) -> Judge:
    """Whether a tool is called when it is offered with this choice."""
    return of_stream(lambda evidence: evidence.get(name), lambda heard: _called(name, heard))


def offered(evidence: Evidence) -> Finding:
    """Whether a tool is called that is offered, in either conversation."""
    found, more = calling("auto")(evidence), evidence.get("several")
    by_two = found.verdict is Verdict.UNCLEAR and more is not None and more.streamed and more.reading.calls
    return calling("several")(evidence) if by_two else found


def forcing(name: str) -> Judge:
    """Whether a tool is called because this choice says so."""

    def decide(evidence: Evidence) -> Finding:
        found, alone = calling(name)(evidence), evidence.get("unforced")
        if found.verdict is not Verdict.OK:
            return found
        if alone is None or not alone.complete or alone.reading.finish == "length":
            why = "Called; what the model does by itself is not known."
        elif alone.reading.calls or CALL_AS_TEXT.search(alone.reading.text):
            why = "Called; but so it is when no call is required."
        else:
            return found._replace(finding=f"Called, and only when it must be: {found.finding}")
        return found._replace(verdict=Verdict.UNCLEAR, finding=why)

    return decide


def _called(name: str, heard: Heard) -> Finding:
    reading = heard.reading
    if not reading.calls:
        return _not_called(name, heard)
    shown = bytes_of(heard, reading.calls[0].pieces[0][0].raw)
    finish = heard.answer.quote(str(reading.finish), 30)
    counted = plural(len(reading.calls), "call")
    if heard.answer.error is not None or heard.answer.stopped or reading.finish == "length":
        return Finding(Verdict.UNCLEAR, f"The answer was cut, with {counted} begun.", heard, shown)
    if (error := heard.strict.error) is not None:
        verdict = Verdict.BROKEN
        return Finding(verdict, f"{counted}, and svir refuses the answer: {error.detail}.", heard, shown)
    if reading.finish not in ENDS[name]:
        return Finding(Verdict.DIFFERENT, f'{counted}, and the answer ends with "{finish}".', heard, shown)
    return Finding(Verdict.OK, f'{counted}; the answer ends with "{finish}".', heard, shown)


def _not_called(name: str, heard: Heard) -> Finding:
    reading, shown = heard.reading, text_of(heard)
    if not heard.complete:
        return Finding(Verdict.UNCLEAR, f"{broken_off(heard)} before a call came.", heard, shown)
    if reading.finish == "length":
        return Finding(Verdict.UNCLEAR, "The limit cut the answer before a call came.", heard, shown)
    as_text = CALL_AS_TEXT.search(reading.text) is not None
    if name == "auto":
        what = "wrote something like a call as text" if as_text else "answered with text"
        return Finding(Verdict.UNCLEAR, f"Accepted; the model {what}, and called nothing.", heard, shown)
    if as_text:
        return Finding(Verdict.BROKEN, "Accepted, and what should be a call comes as text.", heard, shown)
    return Finding(Verdict.UNSUPPORTED, "Accepted, and not kept: text came, and no call.", heard, shown)


class Seen(NamedTuple):
    """A call, and the answer it came in."""

    heard: Heard
    call: Call

    def show(self, piece: int = 0) -> str:
        """One of its pieces."""
        return bytes_of(self.heard, self.call.pieces[piece][0].raw)


def of_calls(judge: Callable[[list[Seen]], Finding], names: tuple[str, ...] = ASKED) -> Judge:
    """A judge of all calls there were, who is not asked when there were none."""

    def decide(evidence: Evidence) -> Finding:
        asked = [heard for name in names if (heard := evidence.get(name)) is not None]
        seen = [Seen(heard, call) for heard in asked if heard.streamed for call in heard.reading.calls]
        if seen:
            return judge(seen)
        if not asked:
            return nothing()
        obstacles = [obstacle(evidence, heard) for heard in asked]
        if all(found is not None and found.verdict is Verdict.UNSUPPORTED for found in obstacles):
            return obstacles[0] or nothing()
        return Finding(Verdict.UNCLEAR, "No call came, so there is nothing to look at.", asked[0])

    return decide


def index(seen: list[Seen]) -> Finding:
    """The pieces' index."""
    for one in seen:
        if type(one.call.at) is not int or one.call.at < 0:
            told = "no index" if one.call.at is None else "an index that is no number"
            return Finding(Verdict.BROKEN, f"Pieces of calls have {told}.", one.heard, one.show())
        if len({repr(id_) for id_ in one.call.ids if id_}) > 1:
            return Finding(Verdict.BROKEN, "Several calls share one index.", one.heard, one.show())
    for heard in {id(one.heard): one.heard for one in seen}.values():
        found = sorted(call.at for call in heard.reading.calls if type(call.at) is int)
        if found != list(range(len(found))):
            told = f"Indices do not count from 0: {', '.join(map(str, found[:8]))}."
            return Finding(
                Verdict.BROKEN, told, heard, bytes_of(heard, heard.reading.calls[0].pieces[0][0].raw)
            )
    return Finding(Verdict.OK, "Indices count from 0.", seen[0].heard, seen[0].show())


def id_(seen: list[Seen]) -> Finding:
    """The call's id."""
    repeated = False
    for one in seen:
        given = [given for given in one.call.ids if given not in (None, "")]
        if not given:
            return Finding(Verdict.BROKEN, "Calls have no id.", one.heard, one.show())
        if not all(isinstance(given_one, str) for given_one in given):
            return Finding(Verdict.BROKEN, "The id of a call is no text.", one.heard, one.show())
        if one.call.ids[0] != given[0] or "id" not in one.call.pieces[0][1]:
            return Finding(
                Verdict.DIFFERENT, "The id comes later than the first piece.", one.heard, one.show()
            )
        repeated = repeated or len(one.call.ids) > 1
    if repeated:
        return Finding(
            Verdict.DIFFERENT, "The id comes again in later pieces.", seen[0].heard, seen[0].show(-1)
        )
    return Finding(Verdict.OK, "The id comes once, in the first piece.", seen[0].heard, seen[0].show())


def name(seen: list[Seen]) -> Finding:
    """The function's name."""
    for one in seen:
        given = [given for given in one.call.names if given not in (None, "")]
        if not given:
            return Finding(Verdict.BROKEN, "Calls have no name.", one.heard, one.show())
        if len(given) > 1:
            how = "again in later pieces" if given[0] == given[1] else "in several pieces"
            return Finding(Verdict.DIFFERENT, f"The name comes {how}.", one.heard, one.show(1))
    return Finding(Verdict.OK, "The name comes whole, in one piece.", seen[0].heard, seen[0].show())


def arguments(seen: list[Seen]) -> Finding:
    """The arguments."""
    for one in seen:
        wrong = [part for part in one.call.arguments if part is not None and not isinstance(part, str)]
        if wrong:
            return Finding(Verdict.BROKEN, "Arguments are no text.", one.heard, one.show())
    ended = [one for one in seen if one.heard.complete and one.heard.reading.finish != "length"]
    if not ended:
        return Finding(Verdict.UNCLEAR, "No call came to its end.", seen[0].heard, seen[0].show())
    for one in ended:
        if not isinstance(as_json(one.call.joined.encode("utf-8", "replace")), dict):
            told = f"Whole arguments are no JSON object: {one.heard.answer.quote(one.call.joined, 60)}"
            return Finding(Verdict.UNCLEAR, told, one.heard, one.show(-1))
    most = max(ended, key=lambda one: len(one.call.pieces))
    if len(most.call.pieces) == 1:
        return Finding(Verdict.OK, "Each call comes whole, in one chunk.", most.heard, most.show())
    told = f"Arguments come in pieces, up to {len(most.call.pieces)} for a call."
    return Finding(Verdict.OK, told, most.heard, most.show(1))


def several(evidence: Evidence) -> Finding:
    """Several calls in one answer."""
    heard = evidence.get("several")
    found = of_calls(most, AT_ONCE)(evidence)
    refused = None if heard is None else obstacle(evidence, heard)
    return found if found.verdict is Verdict.OK else refused or found


def most(seen: list[Seen]) -> Finding:
    """The answer with the most calls."""
    heard = max((one.heard for one in seen), key=lambda heard: len(heard.reading.calls))
    calls = heard.reading.calls
    shown = bytes_of(heard, calls[-1].pieces[0][0].raw)
    if len(calls) > 1:
        return Finding(Verdict.OK, f"One answer had {len(calls)} calls.", heard, shown)
    return Finding(Verdict.UNCLEAR, "Asked for two calls, the model made one.", heard, shown)


QUESTIONS = (
    Question("tools.auto", "Does it call a tool that is offered?", ("result", *AT_ONCE), offered),
    Question(
        "tools.required",
        "Does it call one when a call is required?",
        ("unforced", "required"),
        forcing("required"),
    ),
    Question("tools.named", "Does it call the one that is named?", ("unforced", "named"), forcing("named")),
    Question("tools.index", "Which index do pieces of a call have?", NEEDS, of_calls(index)),
    Question("tools.id", "Where is a call's id?", NEEDS, of_calls(id_)),
    Question("tools.name", "Where is a call's name?", NEEDS, of_calls(name)),
    Question("tools.arguments", "How do a call's arguments come?", NEEDS, of_calls(arguments)),
    Question(
        "tools.several",
        "Can one answer have several calls?",
        ("result", *AT_ONCE),
        several,
    ),
)
