"""The file of a cassette: written and read back, and what is told about one that is broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svir
from svir.testing._tape import ENDS, Answer, Asked, Exchange, asked, difference, read_tape, write_tape

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
CONTENT = st.binary(max_size=50) | JSON.map(lambda value: json.dumps(value).encode())
LATIN = st.text(st.characters(max_codepoint=255))
ANSWERS = st.builds(
    Answer,
    st.integers(200, 599),
    st.lists(st.tuples(LATIN.map(str.lower), LATIN), max_size=3).map(tuple),
    st.binary() | st.text().map(str.encode),
    st.sampled_from(ENDS),
)


@given(st.lists(st.tuples(CONTENT, ANSWERS), max_size=3))
def test_what_is_written_is_read_back(pairs):
    exchanges = [Exchange(asked("POST", "/v1/x", content), answer) for content, answer in pairs]
    data = write_tape(exchanges)
    assert data.isascii()
    again = read_tape(data)
    assert [one.response for one in again] == [one.response for one in exchanges]
    assert [one.request.key for one in again] == [one.request.key for one in exchanges]
    assert write_tape(again) == data


@given(JSON)
def test_the_same_said_otherwise_is_the_same_request(value):
    plain = asked("POST", "/", json.dumps(value).encode())
    spaced = asked("POST", "/", json.dumps(value, indent=3, sort_keys=True, ensure_ascii=False).encode())
    hidden = asked("POST", "/", json.dumps(value).encode(), secrets=[""])
    assert plain.key == spaced.key == hidden.key
    assert hidden.body is None


def test_what_differs_is_another_request():
    keys = {
        asked(method, path, content).key
        for method in ("GET", "POST")
        for path in ("/a", "/b")
        for content in (b"", b"{}", b"[]", b"0", b"1", b"1.5", b'"1"', b"no", b'{"a":1}', b'{"a":true}')
    }
    assert len(keys) == 40


def test_a_body_too_deep_for_the_file_is_kept_as_a_digest():
    deep = b"[" * 129 + b"]" * 129  # too deep even by itself
    assert asked("POST", "/", deep).body is None
    deep = b"[" * 122 + b"]" * 122
    assert asked("POST", "/", deep).body is None
    shallow = b"[" * 120 + b"]" * 120
    request = asked("POST", "/", shallow)
    assert request.body is not None
    assert read_tape(write_tape([Exchange(request, Answer(200))]))[0].request == request


ONE = {
    "request": {"method": "GET", "path": "/"},
    "response": {"status": 200, "headers": [], "end": "whole", "text": []},
}


def of(**response):
    return {"svir_cassette": 1, "exchanges": [{**ONE, "response": {**ONE["response"], **response}}]}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"", "it is no JSON"),
        (b"{", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b"[" * 300, "JSON nested deeper than 128 levels"),
        ([], "$.svir_cassette must be 1, not null"),
        ({}, "$.svir_cassette must be 1, not null"),
        ({"svir_cassette": 2}, "$.svir_cassette must be 1, not 2"),
        ({"svir_cassette": True}, "$.svir_cassette must be 1, not a boolean"),
        ({"svir_cassette": 1}, "$.exchanges is missing"),
        ({"svir_cassette": 1, "exchanges": {}}, "$.exchanges must be a list, not an object"),
        (
            {"svir_cassette": 1, "exchanges": [ONE, 3]},
            "$.exchanges[1] must be an object with text keys, not 3",
        ),
        (
            {"svir_cassette": 1, "exchanges": [{**ONE, "request": {}}]},
            "$.exchanges[0].request.method is missing",
        ),
        (
            {"svir_cassette": 1, "exchanges": [{**ONE, "request": {**ONE["request"], "sha256": "x"}}]},
            "$.exchanges[0].request: sha256 must be 64 of 0-9 and a-f",
        ),
        (of(status=99), "$.exchanges[0].response: status must be a final status of HTTP"),
        (of(status="200"), "$.exchanges[0].response.status must be a whole number from 0 on, not '200'"),
        (of(headers=[["a"]]), "$.exchanges[0].response.headers[0] must be a name and a value, not 1 texts"),
        (of(headers=[["a", 1]]), "$.exchanges[0].response.headers[0][1] must be text, not 1"),
        (
            of(end="soon"),
            "$.exchanges[0].response.end must be one of whole, cut, reset, broken, left, not 'soon'",
        ),
        (of(text="x"), "$.exchanges[0].response.text must be a list, not 'x'"),
    ],
)
def test_a_broken_file_is_told_with_the_place(value, problem):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(svir.ConfigError) as caught:
        read_tape(data)
    assert caught.value.detail == problem
    assert caught.value.__context__ is None


def test_a_body_must_be_one_way_or_the_other():
    value = of()
    del value["exchanges"][0]["response"]["text"]
    with pytest.raises(svir.ConfigError, match="has neither text nor base64"):
        read_tape(json.dumps(value).encode())
    value["exchanges"][0]["response"]["base64"] = "@@@"
    with pytest.raises(svir.ConfigError, match=r"response.base64 is no base64"):
        read_tape(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": True}, "$.a"),
        ({"a": 1}, {}, "$.a"),
        ({}, {"b": [1]}, "$.b"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "$.a[1].b"),
        ([1], [1, 2], "$[1]"),
        ([1, 2], [1], "$[1]"),
        ([], {}, "$"),
        ("a", "b", "$"),
    ],
)
def test_the_first_difference_is_found(one, other, place):
    assert difference(one, other) == place


def test_an_asked_request_needs_a_real_digest():
    with pytest.raises(svir.ConfigError):
        Asked("POST", "/", sha256="A" * 64)
