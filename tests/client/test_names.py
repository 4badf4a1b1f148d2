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
@pytest.mark.parametrize("name", ["chat", "completions", "responses"])
def test_a_name_of_another_client_leads_to_what_asks_here(kind, name):
    client = kind.openai(URL)
    with pytest.raises(AttributeError) as caught:
        getattr(client, name)
    assert str(caught.value) == (
        f"'{kind.__name__}' object has no attribute '{name}': client.complete() and client.stream() ask; "
        "docs/migrating.md has both side by side"
    )
    assert not hasattr(client, name)


@pytest.mark.parametrize("kind", CLASSES)
def test_any_other_name_is_refused_as_python_refuses_it(kind):
    client = kind.openai(URL)
    with pytest.raises(AttributeError) as caught:
        client.compleet("hi")
    assert str(caught.value) == f"'{kind.__name__}' object has no attribute 'compleet'"
    assert (caught.value.name, caught.value.obj) == ("compleet", client)


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
