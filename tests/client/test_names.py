"""A client that is not made as clients are, and a name that is none: the error says what was likely meant."""

from __future__ import annotations

import re

import pytest

import svir

EXTRA = "extra={...} sends what svir does not know"
URL = "http://127.0.0.1:9"
CLASSES = [svir.Client, svir.AsyncClient]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("given", [(), (URL,)])
def test_the_class_itself_makes_no_client(kind, given):
    with pytest.raises(TypeError, match=re.escape(f"{kind.__name__}.openai(url, model=...)")):
        kind(*given)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("idle_time_out", "a client has no option 'idle_time_out': did you mean idle_timeout?"),
        ("max_retries", "a client has no option 'max_retries'"),
    ],
)
def test_an_option_that_is_none(kind, name, said):
    with pytest.raises(TypeError) as caught:
        kind.openai(URL, **{name: 1})
    assert str(caught.value) == said


@pytest.mark.parametrize("given", ["why?", svir.Request(messages="why?")])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "temprature",
            "a request has no field 'temprature': did you mean temperature? " + EXTRA,
        ),
        ("user", "a request has no field 'user': " + EXTRA),
    ],
)
def test_a_field_that_is_none(given, name, said):
    with svir.Client.openai(URL, model="m") as client, pytest.raises(TypeError) as caught:
        client.complete(given, **{name: 1})
    assert str(caught.value) == said
