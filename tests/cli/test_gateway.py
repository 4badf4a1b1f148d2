"""Servers behind gateways: added headers and a query, in every command that asks."""

from __future__ import annotations

import os

import msgspec
import pytest

import svir
from svir.cli._gateway import Gateway, as_given
from svir.testing import MockServer
from tests.cli.probe.servers import Behave, refused
from tests.support.loopback import Loopback

SECRET = "az-0123456789abcdef"
OPTIONS = ["--header", "x-team=a=b", "--header", "api-key=env:AZURE", "--query", "api-version=2024-10 21"]
COMMANDS = [
    (["models"], ["--url"]),
    (["ask", "-m", "m", "Why?"], ["--url"]),
    (["chat", "-m", "m"], ["--url"]),
    (["probe", "--only", "models"], []),
]


@pytest.mark.parametrize(("words", "url"), COMMANDS, ids=lambda one: one[0] if one else "")
def test_every_request_has_the_headers_and_the_query(command, words, url):
    with Loopback(repeat=[Behave({})]) as server:
        done = command(*words, *url, server.url, *OPTIONS, stdin=b"Why?\n", AZURE=f" {SECRET}\n")
    assert done.returncode == 0, done.stderr
    for request in server.requests:
        assert request.line.split(" ")[1].endswith("?api-version=2024-10%2021")
        assert (request.headers["x-team"], request.headers["api-key"]) == ("a=b", SECRET)
    assert SECRET.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize("words", [["ask", "Why?"], ["chat"]])
def test_the_path_of_questions_can_be_another(command, words):
    with MockServer(["Because."]) as server:
        url = f"{server.url}/deployments/d"
        done = command(*words, "-m", "m", "--url", url, "--path", "/chat/completions", stdin=b"Why?\n")
    assert done.returncode == 0, done.stderr
    assert [request.path for request in server.requests] == ["/deployments/d/chat/completions"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x-team", "it must be NAME=VALUE or NAME=env:VARIABLE"),
        ("=x", "it must be NAME=VALUE or NAME=env:VARIABLE"),
        (f"api-key={SECRET}", "write api-key=env:VARIABLE"),
        (f"X-Access_Token={SECRET}", "write X-Access_Token=env:VARIABLE"),
        (f"x-team=env:{SECRET}", "the name of an environment variable"),
    ],
)
@pytest.mark.parametrize("option", ["--header", "--query"])
def test_what_is_not_of_the_form_is_wrong_usage_that_repeats_no_value(command, option, word, said):
    done = command("models", "--url", "http://127.0.0.1:9", option, word)
    first, second = done.stderr.decode().splitlines()
    assert f"Invalid value for '{option}': " in first
    assert said in first
    assert second == "`svir models --help` lists the options."
    assert SECRET not in first
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--header", "api-key=env:NOT_SET"], "the environment variable NOT_SET (--header) is not set", 22),
        (["--header", "api-key=env:ODD"], "the value of the header api-key must be printable ASCII", 22),
        (["--query", "a=1", "--query", "A=2"], "--query names A twice", 2),
        (["--header", "authorization=env:AZURE"], "the header authorization is written by svir", 2),
        (["--header", "x-team=\x1b"], "the value of the header x-team must be printable ASCII", 2),
    ],
)
@pytest.mark.parametrize("name", ["models", "probe"])
def test_what_cannot_be_sent_is_told(command, name, words, said, code):
    url = ["http://127.0.0.1:9"] if name == "probe" else ["--url", "http://127.0.0.1:9"]
    done = command(name, *url, *words, AZURE=SECRET, ODD=f"{SECRET}\x1b")
    assert said in done.stderr.decode()
    assert SECRET not in done.stderr.decode()
    assert done.returncode == code


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--api-key-env", "gsk_AbC123def456"], "--api-key-env"),
        (["--header", "x-team=env:gsk_AbC123def456"], "--header"),
        (["--query", "k=env:gsk_AbC123def456"], "--query"),
    ],
)
@pytest.mark.parametrize("name", ["models", "ask", "chat", "probe"])
def test_a_key_in_the_place_of_a_variables_name_is_not_repeated(command, name, words, option):
    url = ["http://127.0.0.1:9"] if name == "probe" else ["--url", "http://127.0.0.1:9"]
    asked = {"ask": ["-m", "m", "Why?"], "chat": ["-m", "m"]}.get(name, [])
    done = command(name, *url, *asked, *words, stdin=b"Why?\n")
    assert f"the environment variable that {option} names is not set" in done.stderr.decode()
    assert b"gsk_AbC123def456" not in done.stdout + done.stderr
    assert done.returncode == 22


@pytest.mark.parametrize("name", ["models", "chat"])
def test_a_secret_that_the_server_repeats_is_not_shown(command, script, name):
    server = script(refused("401 Unauthorized", f"no such key: {SECRET}"))
    words = [*(["-m", "m"] if name == "chat" else []), "--url", server.url, "--header", "k=env:AZURE"]
    done = command(name, *words, stdin=b"Why?\n", AZURE=SECRET)
    said = done.stderr.decode()
    assert (done.returncode, "no such key: <key>" in said, SECRET in said) == (14, True, False)
    assert "--header" in said


def test_a_probe_makes_up_a_key_of_any_header_and_its_call_works_as_pasted(command, monkeypatch):
    with Loopback(repeat=[Behave({}, key=("api-key", SECRET))]) as server:
        args = [*OPTIONS, "--only", "models,errors", "--no-overflow", "--json"]
        done = command("probe", server.url, *args, AZURE=SECRET)
        assert done.returncode == 0, done.stderr
        assert SECRET.encode() not in done.stdout + done.stderr
        report = msgspec.json.decode(done.stdout)
        rows = {row["id"]: row for row in report["rows"]}
        assert rows["errors.key"]["verdict"] == "ok"
        assert rows["errors.key"]["finding"].startswith("HTTP 401")
        assert "query={'api-version': '2024-10 21'}" in report["call"]
        monkeypatch.setenv("AZURE", SECRET)
        with eval(report["call"], {"svir": svir, "os": os}) as client:
            assert client.complete("Say yes.").text == "Yes"


def test_nothing_is_added_when_nothing_is_given():
    assert (Gateway().options(), Gateway().sources, Gateway().variables) == ({}, [], ())


def test_the_source_of_what_was_given_is_python():
    odd = as_given("x-'\"=\x1b[31m")
    assert eval(f"{{{odd.source}}}") == {"x-'\"": "\x1b[31m"}
