"""The command's own words for what the library says."""

from __future__ import annotations

import ast
import json
import re
import ssl
import typing
from pathlib import Path

import pytest

import svir
from svir.cli._advice import ADVICE, RECORDED, advise, respell
from svir.errors import ErrorKind
from svir.openai.chat import Decoder
from svir.testing import MockServer
from tests.support.loopback import Cut, Loopback, Send, Stall
from tests.support.streams import CASES, own_streams

PYTHON = re.compile(r"\b[a-z_]+=(?!\d)|\w+\(\)|=True|Limits|client\.|mode=|api_key|allow_http|max_tokens=")


def test_every_kind_has_advice_and_no_other_kind():
    for table in (ADVICE, RECORDED):
        assert {place.split()[0] for place in table} == set(typing.get_args(ErrorKind))
        assert set(typing.get_args(ErrorKind)) <= set(table)


def test_the_advice_is_in_the_commands_words():
    for advice, detail, *_ in (*ADVICE.values(), *RECORDED.values()):
        assert not PYTHON.search(advice)
        assert not PYTHON.search(detail or "")


def raised() -> list[str]:
    """The texts of the library that a command can meet, and that name an argument of the library."""
    home = Path(svir.__file__).parent
    found = set()
    for package in ("exchange", "codec", "openai"):
        for file in sorted((home / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and re.search(
                    r"Error$|^Fault$|_refuse$", ast.unparse(node.func)
                ):
                    texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
                    found |= {text for text in texts if isinstance(text, str) and PYTHON.search(text)}
    return sorted(found)


# What only a program's own settings can cause: the command has no option for any of these.
OUT_OF_REACH = (
    *("path= must", "query= h", "Limits.", "max_tokens=0", " and max_tokens=", " is over context_tokens="),
    *("a deadline is", "an async function", "api_key gave", "api_key raised", "api_key_header"),
)


@pytest.mark.parametrize("text", [text for text in raised() if not text.startswith(OUT_OF_REACH)])
def test_what_the_library_advises_is_told_as_options(text):
    assert not PYTHON.search(respell(text))


def test_the_advice_of_an_unreadable_answer_is_told_as_options():
    with pytest.raises(svir.AnswerError) as caught:
        svir.Completion(svir.FinishReason.LENGTH, "{").parse(dict)
    assert advise(caught.value, keyed=False)[0].endswith("allow more with --max-tokens")


def test_a_wrong_url_is_told_as_an_option():
    with pytest.raises(svir.ConfigError) as caught:
        svir.Client.openai("http://192.0.2.1")
    assert "or --allow-http on a trusted network" in advise(caught.value, keyed=False)[0]


def test_lenient_mode_is_advised_exactly_where_it_helps():
    for name, data in own_streams().items():
        path = CASES / f"{name}.json"
        limits = svir.Limits(**json.loads(path.read_text("ascii")).get("options", {}).get("limits", {}))
        strict, lenient = (error_of(Decoder(mode, limits=limits), data) for mode in ("strict", "lenient"))
        if strict is not None:
            helps = lenient is None or (type(lenient), lenient.place) != (type(strict), strict.place)
            for recorded in (False, True):
                assert ("--lenient" in " ".join(advise(strict, recorded=recorded)[:2])) == helps, name
        if lenient is not None:
            assert "--lenient" not in " ".join(advise(lenient)[:2]), name


def error_of(decoder, data):
    """What ends a decoding, if anything does."""
    try:
        for _ in decoder.push(data):
            pass
        decoder.finish()
    except svir.Error as error:
        return error
    return None


def failing(url, connect_timeout=10.0):
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # looking up whom the system trusts takes time, too
    with (
        pytest.raises(svir.Error) as caught,
        svir.Client.openai(url, model="m", connect_timeout=connect_timeout, ssl_context=nobody) as client,
    ):
        client.complete("Hi")
    return advise(caught.value)[1]


@pytest.mark.parametrize("acts", [[Stall()], [Send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Cut()]])
def test_where_no_tls_is_spoken_the_advice_is_plain_http(acts):
    with Loopback(acts) as server:
        told = failing(f"https://127.0.0.1:{server.port}", connect_timeout=2.0)
    assert told == "If it speaks plain HTTP, begin the URL with http: and not with https:."


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("text/html", "in a browser"),
        ("application/json", "ask the server itself"),
        ("text/plain", "Check what"),
    ],
)
def test_a_success_that_is_no_stream_has_advice_for_what_it_is(kind, said):
    with MockServer() as server:
        server.reply(body="", headers={"content-type": kind})
        assert said in failing(server.url)
