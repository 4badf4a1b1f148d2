"""What a client may be told, and that secrets in it are shown to no one."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svir
from svir.body import Body
from svir.exchange import settings_from
from svir.exchange._settings import RESERVED, as_key
from svir.http import Secret

URL = "http://127.0.0.1:1"


def settings(key=None, url=URL, **options):
    return settings_from(url, options, key)


def target(url, api_path="/v1/chat/completions", **options):
    return settings(url=url, **options).http_request("POST", api_path, None, Body([b"{}"])).target


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        (URL, {}, "/v1/chat/completions"),
        (URL + "/v1/", {}, "/v1/chat/completions"),
        (URL + "/openai/v1", {}, "/openai/v1/chat/completions"),
        (URL + "/x", {"path": "/api/chat"}, "/x/api/chat"),
        (URL + "/x/v1", {"path": "/chat/completions"}, "/x/v1/chat/completions"),
        (URL, {"query": {"api-version": "1"}}, "/v1/chat/completions?api-version=1"),
        (URL + "/d/", {"path": "/c", "query": "?a=b&c"}, "/d/c?a=b&c"),
    ],
)
def test_a_request_goes_below_the_url(url, options, expected):
    assert target(url, **options) == expected


def test_a_callers_own_path_is_for_answers_only():
    request = settings(url=URL + "/x/v1", path="/own").http_request("GET", "/v1/models", None)
    assert request.target == "/x/v1/models"


def test_a_key_goes_into_the_header_it_was_given_for():
    def headers(**options):
        return settings(Secret("sk-1"), **options).http_request("GET", "/", Secret("sk-1")).headers

    assert headers().get("authorization") == "Bearer sk-1"
    azure = headers(api_key_header="API-Key")
    assert azure.get("api-key") == "sk-1"
    assert "authorization" not in azure


@pytest.mark.parametrize(
    "name", ["", "two words", "a:b", "x\r\n", "host", "Content-Length", "proxy-authorization"]
)
def test_a_key_is_not_sent_in_any_header(name):
    with pytest.raises(svir.ConfigError, match="api_key_header"):
        settings(api_key_header=name)


# Added headers (D38)


def test_added_headers_are_sent_in_lower_case_and_given_again_replace():
    made = settings(headers={"X-Team": "a", "x-title": "My App\t1", "x-team": "b", "x-empty": ""})
    assert list(made.headers) == [("x-team", "b"), ("x-title", "My App\t1"), ("x-empty", "")]


@pytest.mark.parametrize("name", [*sorted(RESERVED), "Authorization", "HOST"])
def test_what_svir_writes_cannot_be_set(name):
    with pytest.raises(svir.ConfigError, match=f"header {name.lower()} ") as caught:
        settings(headers={name: "secret"})
    assert "secret" not in repr(caught.value)


def test_the_header_of_the_key_cannot_be_set_beside_a_key():
    with pytest.raises(svir.ConfigError, match="header api-key "):
        settings(Secret("sk"), api_key_header="Api-Key", headers={"API-KEY": "secret"})
    assert settings(api_key_header="api-key", headers={"api-key": "mine"}).headers.get("api-key") == "mine"


@pytest.mark.parametrize("name", ["", "a b", "a:", "x\n", "\N{SNOWMAN}", "(x)"])
def test_a_header_name_that_http_does_not_allow_is_refused(name):
    with pytest.raises(svir.ConfigError, match="name is not valid"):
        settings(headers={name: "v"})


@pytest.mark.parametrize(
    "value", ["secret\n", "sec\rret", " secret", "secret\t", "sec\x00ret", "secret\xe9", "\x7fsecret"]
)
def test_a_header_value_with_control_characters_is_refused_and_not_shown(value):
    with pytest.raises(svir.ConfigError, match="value of the header x-a") as caught:
        settings(headers={"X-A": value})
    assert "sec" not in repr(caught.value)


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3))
def test_whatever_headers_hold_only_what_http_allows_is_taken(headers):
    try:
        made = settings(headers=headers)
    except svir.ConfigError:
        return
    for name, value in made.headers:
        assert name.isascii()
        assert value == value.strip(" \t")
        assert all(" " <= c <= "~" or c == "\t" for c in value)


# Keys


def test_a_key_is_one_word_of_printable_ascii():
    assert as_key(" sk-1\r\n").reveal() == "sk-1"
    for bad in ["", "  ", "a b", "a\tb", "a\nb", "\x7f", "k\xe9y"]:
        with pytest.raises(svir.ConfigError) as caught:
            as_key(bad)
        assert not bad.strip() or bad not in repr(caught.value)


# Types and ranges


@pytest.mark.parametrize(
    ("option", "bad"),
    [
        ("model", None),
        ("allow_http", "yes"),
        ("include_usage", 1),
        ("limits", {"wire_bytes": 1}),
        ("headers", [("a", "b")]),
        ("headers", None),
        ("headers", {"a": 1}),
        ("headers", {1: "a"}),
        ("headers", {"a": None}),
        ("path", b"/x"),
        ("query", 3),
        ("api_key_header", None),
        ("context_tokens", "many"),
        ("max_tokens_field", None),
        ("timeout", "60"),
        ("timeout", True),
    ],
)
def test_an_option_of_the_wrong_type_is_a_type_error(option, bad):
    with pytest.raises(TypeError):
        settings(**{option: bad})


def test_a_url_that_is_no_string_is_a_type_error():
    with pytest.raises(TypeError, match="url"):
        settings(url=b"http://localhost")


@pytest.mark.parametrize(
    ("option", "bad"),
    [
        ("mode", "sloppy"),
        ("think", "twice"),
        ("context_tokens", -1),
        ("connect_timeout", 0),
        ("idle_timeout", -1),
        ("timeout", float("nan")),
        ("timeout", float("inf")),
        ("idle_timeout", 10**400),
        ("path", "no-slash"),
        ("query", "a b"),
    ],
)
def test_a_value_that_makes_no_sense_is_a_config_error(option, bad):
    with pytest.raises(svir.ConfigError):
        settings(**{option: bad})


@pytest.mark.parametrize("option", ["connect_timeout", "idle_timeout", "timeout"])
def test_none_turns_a_time_limit_off(option):
    assert getattr(settings(**{option: None}), option) is None


def test_what_is_secret_is_withheld_when_settings_and_requests_are_shown():
    made = settings(
        Secret("sk-secret"), headers={"x-team": "secret"}, query={"k": "secret"}, api_key_header="api-key"
    )
    request = made.http_request("POST", "/v1/x", made.key, Body([b"secret"]))
    for shown in (made, request, request.headers, made.query, made.key):
        assert "secret" not in repr(shown)
        assert "secret" not in str(shown)
        assert "secret" not in repr(list(getattr(shown, "__rich_repr__", list)()))


def test_headers_that_servers_sent_can_be_copied():
    made = settings(headers={"x-team": "a"}).headers
    assert pickle.loads(pickle.dumps(made)) == made
