"""How it fails: the status, the shape of what it says, and whether svir takes it for what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._questions._finding import Finding, Question, bytes_of, head_of, nothing, obstacle
from svir.cli.probe._reading import as_json, as_list, as_object
from svir.cli.probe._report import Verdict
from svir.cli.probe._text import plural
from svir.errors import ContextOverflowError

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard
    from svir.cli.probe._questions._finding import Judge

__all__ = ["QUESTIONS"]

AT_WORK = "A server that does not notice when a client leaves may still be reading it."
RETRYABLE = "svir takes it for a failure that may pass: a layer that retries tries it again for nothing."


def shape(heard: Heard) -> str:
    """What an error's body looks like, in a few words."""
    body = heard.answer.body.strip()
    if not body:
        return "an empty body"
    value = as_json(body)
    wrapped = " in an array" if as_list(value) else ""
    found = as_object(as_list(value)[0] if wrapped else value)
    quote = heard.answer.quote
    if as_object(found.get("error")):
        return f"an error object ({quote(', '.join(found['error']), 80)}){wrapped}"
    if isinstance(found.get("error"), str):
        return f"an error that is text{wrapped}"
    for key in ("detail", "message"):
        if key in found:
            return f"a flat object with {key}{wrapped}"
    if found:
        return f"an object ({quote(', '.join(found), 60)}){wrapped}"
    return "HTML" if body[:1] == b"<" else "plain text"


def failing(name: str, right: frozenset[int], fine: frozenset[int], answered: str) -> Judge:
    """A judge of how a request fails that cannot be answered.

    Args:
        name: The step.
        right: Statuses as the API's documents have them.
        fine: Statuses that mean the same.
        answered: What it means when it does not fail.
    """

    def judge(evidence: Evidence) -> Finding:
        heard = evidence.get(name)
        if heard is None:
            return nothing()
        status, refusal = heard.answer.status, heard.refusal
        if heard.streamed:
            shown = bytes_of(heard, heard.reading.objects[0].raw)
            return Finding(Verdict.DIFFERENT, answered, heard, shown)
        found = obstacle(evidence, heard)
        if refusal is None or status is None or (evidence.baseline is None and found is not None):
            return found or nothing()
        told, shown = f"HTTP {status} with {shape(heard)}", head_of(heard)
        if heard.success and heard.confirmed:
            return Finding(Verdict.DIFFERENT, "HTTP 200, and the error inside the stream.", heard, shown)
        if status in right and refusal.server_message:
            return Finding(Verdict.OK, f"{told}.", heard, shown)
        if status in right or status in fine:
            unsaid = "" if refusal.server_message else ", in which svir finds no message"
            return Finding(Verdict.DIFFERENT, f"{told}{unsaid}.", heard, shown)
        if heard.failed and not heard.confirmed:
            return found or nothing()
        advice = RETRYABLE if refusal.retryable else ""
        return Finding(Verdict.DIFFERENT, f"{told}, which says something else.", heard, shown, advice=advice)

    return judge


def unknown_model(evidence: Evidence) -> Finding:
    """A model that does not exist."""
    heard = evidence.get("unknown_model")
    if heard is not None and heard.streamed:
        chunk = heard.reading.objects[0]
        model = heard.answer.quote(str(as_object(chunk.value).get("model") or "a model it does not name"), 60)
        return Finding(
            Verdict.DIFFERENT, f"Answers all the same, as {model}.", heard, bytes_of(heard, chunk.raw)
        )
    return failing("unknown_model", frozenset({404}), frozenset({400, 422}), "")(evidence)


def key(evidence: Evidence) -> Finding:
    """A key that was made up."""
    heard = evidence.get("wrong_key")
    if heard is not None and heard.streamed and not heard.answer.keyed:
        return Finding(Verdict.OK, "It needs no key, and looks at none.", heard)
    return failing("wrong_key", frozenset({401}), frozenset({403}), "Answers also to a made-up key.")(
        evidence
    )


def overflow(evidence: Evidence) -> Finding:
    """A prompt that is too long."""
    heard = evidence.get("overflow")
    if heard is None:
        too_long = evidence.overflow_letters is None
        return (
            nothing(f"Not asked: a context of {evidence.context} tokens is long.") if too_long else nothing()
        )
    letters = evidence.overflow_letters or 0
    if isinstance(heard.strict.error, ContextOverflowError):
        status = heard.answer.status
        where = f"HTTP {status}" if not heard.success else f"HTTP {status}, and an error inside the stream"
        told = f"{where}, which svir knows for an overflow."
        return Finding(Verdict.OK, told, heard, head_of(heard))
    if heard.streamed and heard.answer.late and not heard.reading.visible:
        waited = f"no text came within {heard.answer.seconds:.2g} s"
        told = f"A prompt of {plural(letters, 'letter')} was taken; {waited}."
        return Finding(Verdict.UNCLEAR, told, heard, head_of(heard), advice=AT_WORK)
    if heard.streamed:
        usage = heard.reading.usage
        read = usage.tokens("prompt_tokens") if usage else None
        shown = bytes_of(heard, usage.chunk.raw) if usage else head_of(heard)
        if read is not None and read < letters * 3 // 4:
            told = f"Cuts the prompt without a word: of {letters} tokens or more it read {read}."
            return Finding(Verdict.BROKEN, told, heard, shown)
        told = "it fits" if read is not None else "it is not known whether it was read whole"
        return Finding(
            Verdict.UNCLEAR, f"A prompt of {plural(letters, 'letter')} was answered: {told}.", heard, shown
        )
    found = obstacle(evidence, heard)
    if (
        found is not None
        and found.verdict in {Verdict.UNSUPPORTED, Verdict.BROKEN}
        and heard.refusal is not None
    ):
        told = f"HTTP {heard.answer.status} with {shape(heard)}, which svir does not know for an overflow."
        advice = RETRYABLE if heard.refusal.retryable else ""
        return Finding(Verdict.DIFFERENT, told, heard, head_of(heard), advice=advice)
    if found is not None and heard.answer.late:
        return found._replace(advice=AT_WORK)
    return found or nothing()


QUESTIONS = (
    Question("errors.model", "What does it say to an unknown model?", ("unknown_model",), unknown_model),
    Question(
        "errors.json",
        "What does it say to a body that is no JSON?",
        ("bad_json",),
        failing("bad_json", frozenset({400}), frozenset({422}), "Answers all the same."),
    ),
    Question("errors.key", "What does it say to a wrong key?", ("wrong_key",), key),
    Question("errors.overflow", "What does it say to a prompt that is too long?", ("overflow",), overflow),
)
