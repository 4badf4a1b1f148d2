"""What a server does otherwise, and what is found: fields, errors, leaving and speed."""

from __future__ import annotations

from svir.cli.probe._report import Verdict
from tests.cli.probe.servers import (
    BUSY,
    DIES,
    HTML_200,
    ONE,
    SLOW,
    SLOW_UNCOUNTED,
    USAGE,
    Behave,
    data,
    refused,
    reply_json,
    role,
    stream,
    text,
)
from tests.cli.scripted import chunk, reply
from tests.support.loopback import Cut

OK, DIFFERENT, BROKEN, UNSUPPORTED, UNCLEAR, SKIPPED = Verdict

# row, verdict, what the server answers otherwise, a part of what is found
CASES = [
    ("fields.max_tokens", OK, {}, "Kept: one token"),
    ("fields.max_tokens", DIFFERENT, {"bare": text("Yes", ".", " And", " more")}, "4 pieces came for 1"),
    ("fields.max_tokens", UNCLEAR, {"bare": text("Yes")}, "One piece came"),
    (
        "fields.max_tokens",
        UNSUPPORTED,
        {"bare": refused(message="use max_completion_tokens")},
        "use max_completion",
    ),
    ("fields.max_completion_tokens", OK, {}, "Kept: one token"),
    (
        "fields.max_completion_tokens",
        DIFFERENT,
        {"completion": text("Yes", usage={**USAGE, "completion_tokens": 7})},
        "7 tokens",
    ),
    (
        "fields.max_completion_tokens",
        UNSUPPORTED,
        {"completion": refused(message="unknown field")},
        "unknown field",
    ),
    ("fields.stop", OK, {}, "Kept"),
    ("fields.stop", DIFFERENT, {"stop": text("The sea.")}, "goes on behind it"),
    ("fields.stop", UNCLEAR, {"stop": text("Oh", finish="length")}, "did not come to it"),
    ("fields.stop", UNSUPPORTED, {"stop": refused()}, "says no"),
    ("fields.logprobs", OK, {}, "beside the delta"),
    ("fields.logprobs", UNSUPPORTED, {"logprobs": text("Yes")}, "left out of the answer"),
    ("fields.logprobs", UNSUPPORTED, {"logprobs": refused()}, "says no"),
    ("fields.logprobs", UNCLEAR, {"logprobs": stream(role(), chunk({}, "length"))}, "no text came"),
    ("fields.unknown", OK, {}, "Refuses a field"),
    ("fields.unknown", DIFFERENT, {"unknown": ONE}, "Accepts a field"),
    ("fields.unknown", UNCLEAR, {"unknown": BUSY}, "busy"),
    ("errors.model", OK, {}, "HTTP 404 with an error object (message, type, code)"),
    ("errors.model", DIFFERENT, {"unknown_model": refused()}, "HTTP 400 with an error object"),
    ("errors.model", DIFFERENT, {"unknown_model": ONE}, "Answers all the same, as m"),
    ("errors.model", DIFFERENT, {"unknown_model": refused("500 Oh")}, "says something else"),
    ("errors.model", DIFFERENT, {"unknown_model": reply("404 No", {"why": "not"})}, "svir finds no message"),
    (
        "errors.model",
        DIFFERENT,
        {"unknown_model": stream(data({"error": {"message": "no"}}))},
        "inside the stream",
    ),
    ("errors.model", BROKEN, {"unknown_model": HTML_200}, "no event stream"),
    ("errors.json", OK, {}, "HTTP 400 with an error object"),
    (
        "errors.json",
        DIFFERENT,
        {"bad_json": reply("422 No", {"detail": [{"msg": "bad"}]})},
        "a flat object with detail",
    ),
    (
        "errors.json",
        DIFFERENT,
        {"bad_json": reply("500 Oh", {"error": "bad"})},
        "an error that is text, which says",
    ),
    ("errors.json", DIFFERENT, {"bad_json": ONE}, "Answers all the same"),
    ("errors.json", BROKEN, {"bad_json": [Cut()]}, "No answer"),
    ("errors.key", OK, {}, "needs no key"),
    ("errors.overflow", OK, {}, "HTTP 400, which svir knows"),
    (
        "errors.overflow",
        OK,
        {"overflow": stream(data({"error": {"message": "context length"}}))},
        "inside the stream",
    ),
    (
        "errors.overflow",
        DIFFERENT,
        {"overflow": refused(message="much too much")},
        "does not know for an overflow",
    ),
    ("errors.overflow", DIFFERENT, {"overflow": refused("500 Oh", "boom")}, "HTTP 500"),
    (
        "errors.overflow",
        BROKEN,
        {"overflow": text("a", usage={**USAGE, "prompt_tokens": 4096})},
        "Cuts the prompt",
    ),
    ("errors.overflow", UNCLEAR, {"overflow": text("a", usage={**USAGE, "prompt_tokens": 9000})}, "it fits"),
    ("errors.overflow", UNCLEAR, {"overflow": ONE}, "not known whether"),
    (
        "errors.overflow",
        SKIPPED,
        {"models": reply_json({"data": [{"id": "m", "max_model_len": 1_000_000}]})},
        "a context of 1000000 tokens is long",
    ),
    ("leaving.stops", OK, {"__slots": Behave.slots}, "Stops within"),
    ("leaving.stops", UNCLEAR, {"long": text("The", " end.")}, "ended before it could be left"),
    ("leaving.stops", UNCLEAR, {"long": DIES}, "The answer broke off (the stream ended before"),
    ("leaving.stops", UNCLEAR, {}, "several requests at once"),
    ("speed.first_token", OK, {}, "The first token came after"),
    ("speed.first_token", UNCLEAR, {"plain": stream(role(), chunk({}, "stop"))}, "No text"),
    ("speed.rate", UNCLEAR, {"plain": text("all")}, "all at once"),
    (
        "leaving.stops",
        DIFFERENT,
        {"__slots": Behave.slots, "long": lambda behave: behave.long(stops=False)},
        "Goes on for",
    ),
    ("speed.rate", OK, {"plain": SLOW}, "tokens a second, over 3 pieces"),
    ("speed.rate", UNCLEAR, {"plain": SLOW_UNCOUNTED}, "it sends no count of tokens"),
]
