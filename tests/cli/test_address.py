"""Which server is meant, how it is told, and whose key it gets."""

from __future__ import annotations

import socket

import pytest

from svir.cli._address import Address
from svir.testing import MockServer
from tests.cli.scripted import reply, served
from tests.support.loopback import Loopback

ASKING = {
    "ask": (["ask", "-m", "m", "Why?"], "--url"),
    "ask, with no model": (["ask", "Why?"], "--url"),
    "chat": (["chat", "-m", "m"], "--url"),
    "models": (["models"], "--url"),
    "probe": (["probe"], "--url"),
    "probe, with a model": (["probe", "-m", "m"], "--url"),
}


@pytest.fixture
def nobody():
    """An address at which nobody listens, as long as this lasts."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.parametrize("name", ASKING)
def test_a_server_that_is_not_there_is_told_with_its_address_and_where_that_stands(command, nobody, name):
    words, option = ASKING[name]
    typed = command(*words, option, f"HTTP://{nobody}/v1/", stdin=b"Why?\n", SVIR_URL="http://127.0.0.1:1")
    exported = command(*words, stdin=b"Why?\n", SVIR_URL=f"http://{nobody}")
    assert (typed.returncode, exported.returncode) == (10, 10)
    assert typed.stderr.decode().splitlines()[-2].endswith(f" (--url: http://{nobody}/v1)")
    assert exported.stderr.decode().splitlines()[-2].endswith(f" (SVIR_URL: http://{nobody})")


def test_the_argument_of_a_probe_is_called_by_its_name(command, nobody):
    done = command("probe", f"http://{nobody}")
    assert done.stderr.decode().splitlines()[-2].endswith(f" (URL: http://{nobody})")


@pytest.mark.parametrize("status", ["503 Service Unavailable", "504 Gateway Timeout", "405 Not Allowed"])
def test_a_status_that_may_be_anothers_is_told_with_the_address(command, script, status):
    server = script(reply(status, {"error": {"message": "no"}}))
    done = command("ask", "-m", "m", "--url", server.url, "--query", "a=b", "Why?")
    assert f'HTTP {status[:3]} (--url: {server.url}). The server says: "no"' in done.stderr.decode()


def test_what_the_model_is_at_fault_for_is_told_without_the_address(command, script):
    server = script(reply("400 Bad Request", {"error": {"code": "context_length_exceeded"}}))
    assert b"127.0.0.1" not in command("ask", "-m", "m", "--url", server.url, "Why?").stderr


SECRET = "hunter2-0123"


@pytest.mark.parametrize(
    ("url", "first", "second"),
    [
        ("127.0.0.1:8765", "the URL must begin with http://", "Begin it with http://"),
        ("http://127.0.0.1:8765 ", "there is a blank before or after the URL", "Leave it out."),
        ("\thttp://127.0.0.1:8765", "there is a blank before or after the URL", "Leave it out."),
        (f"http://me:{SECRET}@127.0.0.1:1", "the URL has credentials", "It is a server's address"),
        (f"http://127.0.0.1:1?k={SECRET}", "the URL has a query: --query", "It is a server's address"),
        (f"http://{SECRET}/x@127.0.0.1:1#", "the URL has a fragment", "It is a server's address"),
        (SECRET, "the URL must begin with http://", "Begin it with http://"),
        ("http://192.0.2.1/v1", "plain HTTP to a host that is not loopback", "It is a server's address"),
    ],
)
@pytest.mark.parametrize("name", ASKING)
def test_a_url_that_is_none_is_wrong_usage_and_says_where_it_stands(command, name, url, first, second):
    words, option = ASKING[name]
    for source, done in (
        (option, command(*words, option, url, stdin=b"Why?\n")),
        ("SVIR_URL", command(*words, stdin=b"Why?\n", SVIR_URL=url)),
    ):
        assert (done.returncode, done.stdout) == (2, b"")
        lines = done.stderr.decode().splitlines()
        shown = f"{source}: {url}" if "192.0.2.1" in url else source
        assert lines[0].startswith(f"svir: {shown}: {first}")
        assert lines[1].startswith(second)
        assert len(lines) == 2  # a probe announces nothing before
        assert SECRET not in done.stderr.decode()


def test_a_url_that_is_given_twice_is_wrong_usage(command):
    done = command("probe", "http://127.0.0.1:9", "--url", "http://127.0.0.1:9")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, b"svir: the URL is given twice")


@pytest.mark.parametrize("url", ["http://h", "HTTP://H:80", "http://h/", "http://h/v1", "http://H/v1//"])
def test_spellings_of_one_address_are_one_server(url):
    assert Address(url, "--url").same_server(Address("http://h:80/v1/", "SVIR_URL"))


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://h",
            "http://h:8080",
            "http://h.",
            "http://www.h",
            "http://h/v2",
            "http://h/V1",
            "http://h/a",
        ),
        *("http://me:pw@h", "http://h?a=b", " http://h", "h", ""),
    ],
)
def test_whatever_else_may_be_another_server_is_one(url):
    for one, other in ((url, "http://h/v1"), ("http://h/v1", url)):
        assert not Address(one, "--url").same_server(Address(other, "SVIR_URL"))


def test_the_path_of_a_gateway_is_a_part_of_its_address():
    a, b = (Address(f"https://gateway.example/{name}/v1", "--url") for name in "ab")
    assert not a.same_server(b)
    assert a.same_server(Address("https://GATEWAY.example:443/a/", "SVIR_URL"))


def test_the_key_of_the_environment_goes_to_its_server_however_that_is_spelled(command):
    with MockServer() as server:
        server.reply(models=["m"])
        told = {"SVIR_URL": server.url, "SVIR_KEY": "sk-own"}
        assert command("models", "--url", server.url.upper() + "/v1/", **told).returncode == 0
    assert server.requests[0].headers["authorization"] == "Bearer sk-own"


@pytest.mark.parametrize(
    ("exported", "why"),
    [
        (
            {"SVIR_URL": "http://localhost:{port}"},
            "it is for the server of SVIR_URL, and this is another address.",
        ),
        ({}, "it is for the server of SVIR_URL, which is not set."),
    ],
)
@pytest.mark.parametrize("name", ASKING)
def test_that_the_key_was_not_sent_is_said_where_one_is_wanted(command, name, exported, why):
    words, option = ASKING[name]
    with Loopback(repeat=served(reply("401 Unauthorized", {}))) as server:
        told = {name: url.format(port=server.url.rpartition(":")[2]) for name, url in exported.items()}
        done = command(*words, option, server.url, stdin=b"Why?\n", SVIR_KEY="sk-own", **told)
    assert not any("authorization" in request.headers for request in server.requests)
    advice = f"SVIR_KEY was not sent: {why} If it is this server's: --api-key-env SVIR_KEY."
    assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (14, advice)


PAGE = "<!DOCTYPE HTML>\n<html><head><title>Error\nresponse</title></head><body><h1>Oh</h1></body></html>"
HERE = "Check the URL: is this the address of a model server?"
NO_LIST = f"{HERE} One that lists no models is asked with --model ID."


@pytest.mark.parametrize("status", [404, 405, 410, 501])
@pytest.mark.parametrize("name", ASKING)
def test_a_web_page_in_the_place_of_an_answer_is_no_model_server(command, name, status):
    words, option = ASKING[name]
    head = f"HTTP/1.1 {status} No\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n"
    with Loopback(repeat=served(f"{head}{PAGE}".encode())) as server:
        done = command(*words, option, server.url, stdin=b"Why?\n")
    first, second = done.stderr.decode().splitlines()[-2:]
    path = ": no such path" if status == 404 else ""
    where = f"(--url: {server.url})"
    assert (
        first
        == f'svir: not supported: HTTP {status}{path} {where}. The server sends a web page: "Error response"'
    )
    assert second == (HERE if "m" in words else NO_LIST)
    assert done.returncode == 19


@pytest.mark.parametrize("status", [404, 405, 501])
@pytest.mark.parametrize("name", ["ask, with no model", "models", "probe"])
def test_a_server_that_lists_no_models_is_not_told_to_list_them(command, name, status):
    words, option = ASKING[name]
    with Loopback(repeat=served(reply(f"{status} No", {"error": {"message": "no"}}))) as server:
        done = command(*words, option, server.url)
    assert done.stderr.decode().splitlines()[-1] == NO_LIST
    assert done.returncode == 19


def test_a_page_of_a_proxy_names_the_server_behind_it(command, script):
    page = b"<html><head></head><body>Bad gateway</body></html>"
    head = b"HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n"
    done = command("ask", "-m", "m", "--url", script(head + page).url, "Why?")
    first, second = done.stderr.decode().splitlines()
    assert first.endswith("). The server sends a web page")
    assert "does the model server behind it run?" in second
    assert done.returncode == 10
