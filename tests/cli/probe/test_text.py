"""A server's words as text that can be shown anywhere."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from svir.cli.probe._text import plural, quoted, sent_text, withheld
from svir.http import Secret

KEY = 'sk-"a/b+c=0123456789'


@pytest.mark.parametrize(
    "echo",
    [KEY, json.dumps(KEY)[1:-1], json.dumps(KEY)[1:-1].replace("/", "\\/"), quote(KEY, safe=""), KEY[:-3]],
    ids=["plain", "json", "json-with-slashes", "percent", "cut"],
)
def test_a_key_is_withheld_in_every_way_it_may_be_written(echo):
    shown = quoted(f"bad key {echo}, sorry", [Secret(KEY)], 300)
    assert shown == "bad key <key>, sorry"


def test_a_key_that_stands_where_the_text_is_cut_is_withheld_whole():
    for before in range(20):
        shown = quoted("x" * before + KEY, [Secret(KEY)], 24)
        assert KEY[:6] not in shown


def test_what_looks_like_a_key_only_for_a_few_characters_stays():
    assert withheld("sk-12 and sk-1", "sk-1234567890") == "sk-12 and sk-1"


@pytest.mark.parametrize("key", ["", "x", "abc"])
def test_what_is_too_short_for_a_key_is_none(key):
    assert withheld("abc x", key) == "abc x"


def test_what_drives_a_terminal_is_escaped():
    assert quoted(b"\x1b[31mred\x07\r\n\xc2\x9b\xff", (), 100) == r"\x1b[31mred\x07\r\n\x9b" + "\ufffd"
    assert quoted("\ud800", (), 100) == r"\ud800"


def test_a_long_text_is_cut():
    assert quoted(b"a" * 1_000_000, (), 20) == "a" * 17 + "..."


@pytest.mark.parametrize("data", ["\n", "\x1b", "\u202e", "\U000e0001", '"\\'])
def test_no_half_of_an_escape_is_left_where_a_text_is_cut(data):
    whole = quoted(data, (), 100)
    for room in range(1, len(whole) + 1):
        shown = quoted(f"a{data}{'b' * 20}", (), 4 + room)
        assert shown in {"a...", f"a{whole}...", 'a"...'}


def test_a_request_is_shown_with_its_long_texts_cut():
    body = json.dumps({"model": "m", "messages": [{"content": "a " * 500}]}).encode()
    shown = sent_text("POST", "/v1/chat/completions", body, wrong_key=False)
    assert shown.startswith('POST /v1/chat/completions {"model":"m","messages":[{"content":"a a ')
    assert len(shown) < 200
    assert sent_text("GET", "/v1/models", None, wrong_key=True) == "GET /v1/models (with a made-up key)"
    assert sent_text("POST", "/x", b'{"a', wrong_key=False) == 'POST /x {"a'


def test_nouns_are_counted():
    assert (plural(0, "token"), plural(1, "token"), plural(2, "token")) == ("0 tokens", "1 token", "2 tokens")
