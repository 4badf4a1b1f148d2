"""What a hostile server cannot get out of a client, and what a reader of logs and pickles does not find."""

from __future__ import annotations

import copy
import logging
import pickle

import pytest

import svir
from svir.http import Headers, HttpRequest, Origin, Secret
from svir.layers import Trace
from tests.support.chat import answer, pieces
from tests.support.faces import closing
from tests.support.loopback import Cut, Gone, Loopback, Request, Send, chunked

KEY, HEADER, QUERY = "sk-hidden-key", "hidden-header", "hidden-query"
SECRETS = {"api_key": KEY, "headers": {"x-team": HEADER}, "query": {"code": QUERY}}


def status(number, head=b"", words=b"hidden-words"):
    body = b'{"error": {"message": "%s"}}' % words
    return b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n%s\r\n%s" % (number, len(body), head, body)


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
def test_a_redirect_takes_neither_the_request_nor_the_key_anywhere(face, number):
    async def scenario(url):
        async with closing(face.client(url, model="m", **SECRETS)) as client:
            with pytest.raises(svir.UnsupportedError, match="redirects are not followed"):
                await client.complete("hi")

    with Loopback() as elsewhere:
        head = b"location: %s/v1/chat/completions\r\n" % elsewhere.url.encode()
        with Loopback([Request(), Send(status(number, head)), Cut()]) as server:
            face.run(scenario, server.url)
    assert elsewhere.opened == 0


def test_what_a_server_wants_remembered_is_not_sent_back(face):
    head = b"set-cookie: id=1\r\netag: 2\r\nalt-svc: h2=127.0.0.1\r\nwww-authenticate: Basic\r\n"

    async def scenario(url):
        async with closing(face.client(url, model="m", api_key=KEY)) as client:
            await client.complete("hi")
            with pytest.raises(svir.AuthenticationError):
                await client.complete("hi")
            await client.complete("hi")

    talk = [Request(), Send(chunked(answer("a"), head=head)), Request(), Send(status(401, head)), Cut()]
    with Loopback(talk, [Request(), Send(chunked(answer("a"))), Gone()]) as server:
        face.run(scenario, server.url)
    first, *others = server.requests
    assert [other.headers for other in others] == [first.headers] * 2


def test_no_log_record_holds_a_credential_or_what_was_said(face, caplog):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    scripts = [
        [Request(), Send(status(400)), Gone()],
        [Request(), Send(chunked(answer("hidden-answer"))), Request(), Send(status(401)), Cut()],
        [Request(), Send(status(503)), Cut()],
        [Request(), Send(head + pieces("hidden-answer")), Cut()],
    ]

    async def scenario(url):
        async with closing(face.client(url, model="m", layers=[face_trace], **SECRETS)) as client:
            await client.complete("hidden-question")  # refused with usage, learned, and answered without it
            for kind in (svir.AuthenticationError, svir.TransportError, svir.TruncatedStreamError):
                with pytest.raises(kind):
                    await client.complete("hidden-question")

    face_trace = Trace()
    caplog.set_level(logging.DEBUG)
    with Loopback(*scripts) as server:
        face.run(scenario, server.url)
    records = [record for record in caplog.records if record.name.startswith("svir")]
    assert len(records) == 5  # what was learned, and a line a call
    for record in caplog.records:
        assert "hidden" not in f"{caplog.handler.format(record)} {vars(record)}"


def test_a_pickled_error_holds_no_credential(face):
    async def scenario(url):
        async with closing(face.client(f"{url}/hidden-path", model="m", **SECRETS)) as client:
            with pytest.raises(svir.AuthenticationError) as caught:
                await client.complete("hi")
            return caught.value

    with Loopback([Request(), Send(status(401, words=b"no")), Cut()]) as server:
        error = face.run(scenario, server.url)
    assert error.server_message == "no"
    assert b"hidden" not in pickle.dumps(error)
    assert b"127.0.0.1" not in pickle.dumps(error)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_credentials_do_not_pickle(protocol):
    request = HttpRequest(
        method="GET",
        origin=Origin("https", "a.example", 443),
        target=f"/?code={QUERY}",
        headers=Headers([("authorization", f"Bearer {KEY}")]),
    )
    for value in (Secret(KEY), request, [request], {"key": Secret(KEY)}):
        with pytest.raises(TypeError, match="does not pickle"):
            pickle.dumps(value, protocol)
    for make in (svir.Client.openai, svir.AsyncClient.openai):
        client = make("http://localhost", model="m", **SECRETS)
        for value in (client, client.stream("hi"), client.send("hi")):
            with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
                pickle.dumps(value, protocol)


def test_a_copy_of_a_secret_is_the_secret():
    secret = Secret(KEY)
    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret
