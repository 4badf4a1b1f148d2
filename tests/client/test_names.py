"""A client that is not made as clients are, and a name that is none: the error says what was likely meant."""

from __future__ import annotations

import re

import pytest

import svir
from svir.exchange import Options
from svir.types import _elsewhere

EXTRA = "extra={...} sends what svir does not know"
URL = "http://127.0.0.1:9"
CLASSES = [svir.Client, svir.AsyncClient]
ASK = "client.complete(..., temperature=...)"

# What the openai package calls so, and what says it here: the first five in `extra`, too.
FIELDS = {
    "stream": "every answer is streamed: client.stream() gives its pieces, and client.complete() the whole",
    "stream_options": "include_usage= says whether token counts are asked for",
    "n": "a request has one answer: client.complete_all([request] * 3) asks for three",
    "max_completion_tokens": "max_tokens= is the limit, and the client's "
    "max_tokens_field='max_completion_tokens' the name it is sent by",
    "reasoning_effort": "effort= says how much to reason",
    "functions": "tools= offers them",
    "function_call": "tool_choice= says whether a tool is called",
    "prompt": "what is asked is the first argument, or messages=",
}


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
        ("max_redirects", "a client has no option 'max_redirects'"),
        (
            "max_retries",
            "a client has no option 'max_retries': layers=[Retry.transient(2)], of svir.layers, tries again",
        ),
        ("default_headers", "a client has no option 'default_headers': headers={...} sends them"),
        ("base_url", "a client has no option 'base_url': the URL is the first argument"),
        (
            "temperature",
            f"a client has no option 'temperature': it is a field of a request: {ASK}",
        ),
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
        ("extra_body", "a request has no field 'extra_body': " + EXTRA),
        (
            "timeout",
            "a request has no field 'timeout': it is an option of a client: client.with_options(timeout=...)",
        ),
        *((name, f"a request has no field '{name}': {said}") for name, said in FIELDS.items()),
    ],
)
def test_a_field_that_is_none(given, name, said):
    with svir.Client.openai(URL, model="m") as client, pytest.raises(TypeError) as caught:
        client.complete(given, **{name: 1})
    assert str(caught.value) == said


@pytest.mark.parametrize(("name", "said"), FIELDS.items())
def test_a_copy_of_a_request_says_the_same(name, said):
    with pytest.raises(TypeError) as caught:
        svir.Request().replace(**{name: 1})
    assert str(caught.value) == f"a request has no field '{name}': {said}"


@pytest.mark.parametrize(("name", "said"), list(FIELDS.items())[:5])
def test_extra_says_the_same(name, said):
    request = svir.Request(messages="why?", max_tokens=5, effort="low", extra={name: 1})
    with svir.Client.openai(URL, model="m") as client, pytest.raises(svir.ConfigError) as caught:
        client.complete(request)
    assert caught.value.detail == f"extra must not set '{name}': {said}"


def test_nothing_that_is_taken_is_explained_as_unknown():
    assert not _elsewhere.FIELDS.keys() & {*svir.Request.__struct_fields__}
    assert not _elsewhere.OPTIONS.keys() & Options.__annotations__.keys()
