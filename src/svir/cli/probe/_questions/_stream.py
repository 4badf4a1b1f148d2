"""The stream itself: what every answer looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svir.cli.probe._evidence import OTHER_PATH, OTHER_PATH_OPTION, USUAL_PATH
from svir.cli.probe._questions._finding import (
    Finding,
    Question,
    bytes_of,
    head_of,
    nothing,
    obstacle,
    of_stream,
    tail_of,
    words,
)
from svir.cli.probe._report import Verdict
from svir.cli.probe._text import plural

if TYPE_CHECKING:
    from svir.cli.probe._evidence import Evidence, Heard

__all__ = ["QUESTIONS"]

TALK = ("plain", "lean")
DELTA_KEYS = frozenset({"role", "content", "refusal", "tool_calls", "reasoning_content", "reasoning"})
"""What svir reads of a delta."""
MAY_BE_NULL = DELTA_KEYS | {"function_call"}
"""What the API's documents have, with the two keys that everybody knows for reasoning."""
PARTIAL = "What came of such an answer is in the error's partial."
FEW_WORDS = 8
MOMENT = 0.05
"""Seconds within which pieces come at once."""
KNOWN_LINES = (b"data:", b"id:", b"retry:", b"event: message", b":")


def talk(evidence: Evidence) -> Heard | None:
    """The answer that is looked at."""
    return evidence.talk


def content_type(heard: Heard) -> Finding:
    """The answer's media type."""
    return Finding(Verdict.OK, "Streams as text/event-stream.", heard, head_of(heard))


def path(evidence: Evidence) -> Finding:
    """Where it answers."""
    usual, other = evidence.get("bare"), evidence.get("elsewhere")
    if usual is None:
        return nothing()
    if other is not None and other.streamed:
        told = f"Answers at {OTHER_PATH}, and not at {USUAL_PATH}."
        return Finding(Verdict.DIFFERENT, told, other, head_of(usual), (OTHER_PATH_OPTION,))
    if usual.answer.status in {404, 405} and not evidence.streamed("completion"):
        told = f"There may be nothing at {USUAL_PATH}: {words(usual)}."
        return Finding(Verdict.UNCLEAR, told, usual, head_of(usual), advice="Check the URL and the model.")
    if usual.answer.status is None:
        return obstacle(evidence, usual) or nothing()
    return Finding(Verdict.OK, f"Answers at {USUAL_PATH}.", usual)


def framing(heard: Heard) -> Finding:
    """What is in the stream beside data."""
    lines = [line for line in heard.answer.body.splitlines() if line]
    strange = [line for line in lines if not line.startswith(KNOWN_LINES)]
    if heard.answer.error is None and strange:
        return Finding(
            Verdict.BROKEN, "Has lines that are none of this protocol's.", heard, bytes_of(heard, strange[0])
        )
    broken = [c for c in heard.reading.chunks if not isinstance(c.value, dict) and c.data != b"[DONE]"]
    if heard.answer.error is None and broken:
        return Finding(
            Verdict.BROKEN, "Has data that is no JSON object.", heard, bytes_of(heard, broken[0].raw)
        )
    comments = [line for line in lines if line.startswith(b":")]
    if comments:
        told = f"Data, and {plural(len(comments), 'comment')} as a sign of life."
        return Finding(Verdict.OK, told, heard, bytes_of(heard, comments[0]))
    return Finding(Verdict.OK, "Nothing but data.", heard, bytes_of(heard, heard.reading.chunks[0].raw))


def first(heard: Heard) -> Finding:
    """The first chunk."""
    chunk = next(chunk for chunk in heard.reading.objects if chunk.choices)
    shown = bytes_of(heard, chunk.raw)
    if chunk is not heard.reading.objects[0]:
        early = heard.reading.objects[0]
        return Finding(
            Verdict.DIFFERENT, "Begins with a chunk without choices.", heard, bytes_of(heard, early.raw)
        )
    if chunk.visible:
        return Finding(Verdict.DIFFERENT, "The first chunk brings text already.", heard, shown)
    if "role" not in chunk.delta:
        return Finding(Verdict.DIFFERENT, "The first chunk has no role.", heard, shown)
    return Finding(Verdict.OK, "The first chunk has the role and no text.", heard, shown)


def role(heard: Heard) -> Finding:
    """Where the role is."""
    chunks = [chunk for chunk in heard.reading.objects if chunk.choices]
    having = [chunk for chunk in chunks if chunk.delta.get("role") is not None]
    shown = bytes_of(heard, having[0].raw) if having else ""
    others = [chunk for chunk in having if chunk.delta["role"] != "assistant"]
    if others:
        return Finding(
            Verdict.BROKEN, "Names another role than the assistant's.", heard, bytes_of(heard, others[0].raw)
        )
    if not having:
        return Finding(Verdict.DIFFERENT, "No chunk has a role.", heard, bytes_of(heard, chunks[0].raw))
    if len(having) == 1:
        return Finding(Verdict.OK, "The role comes once.", heard, shown)
    return Finding(
        Verdict.DIFFERENT, f"The role comes in {len(having)} of {len(chunks)} chunks.", heard, shown
    )


def keys(heard: Heard) -> Finding:
    """Keys of deltas."""
    nulls = set[str]()
    for chunk in heard.reading.objects:
        for key, value in chunk.delta.items():
            if key not in DELTA_KEYS and value is not None:
                told = f"Deltas have a key that svir does not know: {heard.answer.quote(key, 40)}."
                return Finding(Verdict.BROKEN, told, heard, bytes_of(heard, chunk.raw))
            if key not in MAY_BE_NULL:
                nulls.add(heard.answer.quote(key, 40))
    if nulls:
        return Finding(
            Verdict.DIFFERENT,
            f"Deltas also have keys that are always null: {', '.join(sorted(nulls))}.",
            heard,
        )
    return Finding(Verdict.OK, "Deltas have no unknown key.", heard)


def empty_choices(heard: Heard) -> Finding:
    """Chunks without choices."""
    empty = [chunk for chunk in heard.reading.objects if not chunk.choices]
    with_usage = [chunk for chunk in empty if isinstance(chunk.value.get("usage"), dict)]
    others = [chunk for chunk in empty if chunk not in with_usage]
    if not empty:
        return Finding(Verdict.OK, "Every chunk has a choice.", heard)
    if not others:
        return Finding(
            Verdict.OK, "Only token counts come without choices.", heard, bytes_of(heard, empty[-1].raw)
        )
    shown = bytes_of(heard, others[0].raw)
    if heard.strict.error is not None:
        return Finding(Verdict.BROKEN, "Has chunks without choices that bring nothing.", heard, shown)
    return Finding(
        Verdict.DIFFERENT, "Has a chunk without choices: a filter's report on the prompt.", heard, shown
    )


def done(heard: Heard) -> Finding:
    """The end marker."""
    answer, reading = heard.answer, heard.reading
    shown = tail_of(heard)
    if reading.done:
        return Finding(Verdict.OK, "Ends with [DONE].", heard, shown)
    if answer.stopped or answer.late:
        why = "it was too long" if answer.stopped else f"it had not ended after {answer.seconds:.3g} s"
        return Finding(Verdict.UNCLEAR, f"The end of the answer was not seen: {why}.", heard, shown)
    if answer.error is not None:
        return Finding(Verdict.BROKEN, f"The answer breaks off: {answer.error.detail}.", heard, shown)
    if (error := heard.reported) is not None:
        told = f"An error ends the answer: {answer.quote(error.server_message or 'without words', 160)}."
        return Finding(Verdict.BROKEN, told, heard, shown)
    if not reading.finishes:
        return Finding(
            Verdict.BROKEN, "The answer ends without a finish reason and without [DONE].", heard, shown
        )
    advice = "svir cannot tell such an answer from one that was cut, and takes none for whole."
    return Finding(Verdict.BROKEN, "The answer ends without [DONE].", heard, shown, advice=advice)


def pieces(heard: Heard) -> Finding:
    """Whether it comes as it is made."""
    visible, seconds = heard.reading.visible, heard.answer.seconds
    if not visible:
        return Finding(Verdict.UNCLEAR, "No text came.", heard)
    first, last = (heard.answer.arrived(visible[place].end) for place in (0, -1))
    text = "".join(heard.reading.reasoning.values()) + heard.reading.text
    if len(visible) == 1 and len(text.split()) > FEW_WORDS:
        return Finding(Verdict.DIFFERENT, "The whole text comes in one piece.", heard, tail_of(heard))
    if last - first > MOMENT:
        told = f"{plural(len(visible), 'piece')} came over {last - first:.2f} s."
        return Finding(Verdict.OK, told, heard)
    if seconds > 20 * MOMENT and len(visible) > FEW_WORDS:
        told = f"All of {len(visible)} pieces came at once, after {first:.1f} s: something holds them back."
        return Finding(Verdict.DIFFERENT, told, heard)
    return Finding(Verdict.UNCLEAR, "The answer came too fast to tell.", heard)


def strict(evidence: Evidence) -> Finding:
    """Whether strict mode reads every answer."""
    # What broke, and what the server itself reports as failed, is no question of the mode.
    whole = evidence.whole
    if not whole:
        return Finding(Verdict.UNCLEAR, "No stream came to its end.")
    failing = [heard for heard in whole if heard.strict.error is not None]
    if not failing:
        others = sum(heard.reported is not None for heard in evidence.streams)
        also = f" ({others} more ended in an error that the server reported)" if others else ""
        return Finding(Verdict.OK, f"Strict mode reads {_all(whole)}{also}.", whole[0])
    left = [heard for heard in failing if heard.lenient.error is not None]
    told = f"Strict mode refuses {len(failing)} of {plural(len(whole), 'stream')}"
    if len(left) == len(failing):
        worst = left[0]
        told = f"{told}, and lenient mode does not help."
        return Finding(Verdict.BROKEN, told, worst, tail_of(worst), advice=PARTIAL)
    told = f"{told}; lenient mode " + (f"refuses {len(left)} of them." if left else "reads them all.")
    worst = (left or failing)[0]
    return Finding(Verdict.BROKEN, told, worst, head_of(worst), ("mode='lenient'",))


def _all(heard: list[Heard]) -> str:
    return "the one stream that came" if len(heard) == 1 else f"all of {len(heard)} streams"


QUESTIONS = (
    Question("stream.path", "Where does it answer?", ("bare", "elsewhere", "completion"), path),
    Question("stream.content_type", "Does it stream?", TALK, of_stream(talk, content_type)),
    Question("stream.framing", "What is in the stream beside data?", TALK, of_stream(talk, framing)),
    Question("stream.first", "What does the first chunk bring?", TALK, of_stream(talk, first)),
    Question("stream.role", "Where is the role?", TALK, of_stream(talk, role)),
    Question("stream.keys", "Which keys do deltas have?", TALK, of_stream(talk, keys)),
    Question(
        "stream.empty_choices", "Are there chunks without choices?", TALK, of_stream(talk, empty_choices)
    ),
    Question("stream.pieces", "Does the answer come as it is made?", TALK, of_stream(talk, pieces)),
    Question("stream.done", "Does the stream end with [DONE]?", TALK, of_stream(talk, done)),
    Question("stream.strict", "Does strict mode read all of its answers?", TALK, strict),
)
