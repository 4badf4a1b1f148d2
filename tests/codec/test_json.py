from __future__ import annotations

import contextlib
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir.codec._fault import Fault
from svir.codec._json import parse, too_deep

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES, st.booleans())
def test_json_text_is_read_back(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    assert parse(text, strict=False) == parse(text, strict=True) == json.loads(text)


@given(st.binary())
def test_bytes_are_json_or_a_value_error(data):
    for strict in (True, False):
        with contextlib.suppress(ValueError, Fault):
            parse(data, strict=strict)


@pytest.mark.parametrize(
    "text", [b"NaN", b"-Infinity", b"[1e999,NaN]", b"[1e999,01]", b'[1e999,"\\ud800"]', b""]
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError):
        parse(text, strict=True)


def test_numbers_may_have_any_size():
    assert parse(b"[1, %b, 1e999, 12]" % (b"7" * 5000), strict=True) == [1, float("inf"), float("inf"), 12]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b'"a\\ud800"', "a\ufffd"),
        (b'"\\udc00\\ud800"', "\ufffd\ufffd"),
        (b'"\\ud83e\\udda2"', "\U0001f9a2"),
        (b'"\\ud83e\\ud83e\\udda2"', "\ufffd\U0001f9a2"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'"a\xff"', "a\ufffd"),
        (b'["\\ud800",1e999]', ["\ufffd", float("inf")]),
    ],
)
def test_lenient_text_is_valid_unicode(text, read):
    assert parse(text, strict=False) == read


@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"b":', b"}]")])
def test_nesting_ends_at_128_levels(pair):
    levels = 128 // pair[0].count(b"[" if b"[" in pair[0] else b"{") // (1 + (pair[0][:2] == b"[{"))
    whole = pair[0] * levels + b"1" + pair[1] * levels
    assert not too_deep(whole)
    parse(whole, strict=True)
    with pytest.raises(Fault):
        parse(b"[" + whole + b"]", strict=True)


def test_brackets_in_strings_are_no_nesting():
    assert not too_deep(b'["' + b"[" * 500 + b'\\"' + b"{" * 500 + b'"]')
    assert not too_deep(b'"' + b'\\"[' * 500)
    assert too_deep(b'"\\\\"' + b"[" * 129 + b"]" * 129)


def test_nesting_is_refused_whatever_the_stack_of_the_caller():
    def deeper(left):
        return deeper(left - 1) if left else parse(b"[" * 100_000, strict=True)

    for depth in (0, 200, sys.getrecursionlimit() // 2):
        with pytest.raises(Fault):
            deeper(depth)
