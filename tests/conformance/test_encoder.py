"""Runs the encoder's conformance cases: see ``docs/conformance.md`` for the notation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.conformance_encoder import EncoderPart

FOLDER = Path(__file__).parent / "encoder"
CASES = sorted(FOLDER.glob("*.json"))
KEYS = {"description", "request", "attachments", "options", "expect"}
OPTIONS = {"lean", "send_reasoning", "context_tokens", "block_bytes", "max_tokens_field"}
ATTACHMENT = {"media_type", "name", "hex", "text", "url", "detail", "escaped_len", "declared_size"}
BEFORE_ANY_BYTE = {"unsupported", "context_overflow", "config"}


def content(attachment):
    return bytes.fromhex(attachment["hex"]) if "hex" in attachment else attachment["text"].encode()


def canon(value):
    """JSON to compare by: the order of keys does not matter, true is not 1."""
    return json.dumps(value, sort_keys=True)


def known(case):
    """A key nobody reads would be an expectation that passes silently."""
    assert case.keys() <= KEYS
    assert case.get("options", {}).keys() <= OPTIONS
    assert case["expect"].keys() in ({"body"}, {"error"})
    for attachment in case.get("attachments", {}).values():
        assert attachment.keys() <= ATTACHMENT


def variants(case):
    blocks = [*case.get("options", {}).get("block_bytes", []), None]
    yield from (("files", block) for block in blocks)
    if not any("declared_size" in a for a in case.get("attachments", {}).values()):
        yield "memory", None


def encode(case, place, block, folder):
    source, given, built = case.get("attachments", {}), {}, []
    for key, attachment in source.items():
        given[key] = {k: v for k, v in attachment.items() if k not in {"hex", "text", "declared_size"}}
        if "url" not in attachment:
            where = {"path": str(folder / key)} if place == "files" else {"bytes": content(attachment)}
            given[key].update(where)

    def write(*, final):
        for key, attachment in source.items():
            if place == "files" and "url" not in attachment:
                size = None if final else attachment.get("declared_size")
                (folder / key).write_bytes(content(attachment) if size is None else b"x" * size)

    def between():
        built.append(True)
        write(final=True)

    write(final=False)
    options = {**case.get("options", {}), "block_bytes": block}
    return EncoderPart().encode(case["request"], given, options, between), bool(built)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path, tmp_path):
    case = json.loads(path.read_text("ascii"))
    known(case)
    want = case["expect"]
    for place, block in variants(case):
        got, built = encode(case, place, block, tmp_path)
        if "error" in want:
            assert got.get("error") == want["error"], (place, block, got)
            assert not (built and want["error"] in BEFORE_ANY_BYTE)
            continue
        assert "error" not in got, (place, block, got)
        assert got["length"] == len(got["body"])
        assert got["again"] == got["body"]
        assert canon(json.loads(got["body"])) == canon(want["body"]), (place, block)


def test_there_are_cases():
    assert len(CASES) >= 112
