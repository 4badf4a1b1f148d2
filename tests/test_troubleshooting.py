"""The page about troubleshooting quotes what svir says: each line that is set apart is provoked here."""

from __future__ import annotations

import asyncio
import pickle
import re
import socket
import ssl
import threading
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pydantic
import pytest
import trustme

import svir
from svir.layers import Timeout
from svir.testing import MockServer
from tests.support.chat import answer, chunk, pieces
from tests.support.loopback import Cut, Loopback, Request, Reset, Send, Signal, Stall, chunked

PAGE = Path(__file__).parent.parent / "docs" / "troubleshooting.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")

COUNTED = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}
DONE = b"data: [DONE]\n\n"
HERE = "http://127.0.0.1:1"  # where nobody is asked


def said(text):
    """A text without what is another each time."""
    return re.sub(r"\d+(\.\d+)?", "N", text)


def boxes():
    return re.findall(r"^```text\n(.*?)^```", PAGE.read_text("ascii"), re.MULTILINE | re.DOTALL)


def quoted():
    return [line for line in "".join(boxes()).splitlines() if line]


def test_messages_are_parted_so_that_each_can_wrap():
    assert not [box for box in boxes() if re.search(r".\n.", box)]


def connected(url=HERE, face=svir.Client, **options):
    return face.openai(url, **{"model": "m", "include_usage": False, **options})


def ask(url=HERE, what="Hi", fields=None, **options):
    with connected(url, **options) as client:
        client.complete(what, **(fields or {}))


def served(*acts, **options):
    with Loopback([Request(), *acts]) as server:
        ask(server.url, **options)


def streamed(*events, **options):
    served(Send(chunked(*events, end=options.pop("end", True))), Cut(), **options)


def replied(status, body="", *, key=None, **headers):
    with MockServer() as server:
        server.reply(status=status, body=body, headers=headers)
        ask(server.url, api_key=key)


def refused():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    ask(f"http://127.0.0.1:{port}")


def unknown_name(monkeypatch):
    def fail(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    ask("https://nowhere.example.org")


def elsewhere(monkeypatch):
    def find(*args, flags=0, **kwargs):
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    ask("http://localhost:80")


def crowded():
    with MockServer() as server:
        server.reply(text="a b c").stall(after=1)
        client = connected(server.url, max_connections=1, connect_timeout=0.05)
        with client, client.stream("Hi") as stream:
            next(stream)
            client.complete("Hi")


def over_tls(host="localhost", *, trusted=True, **made):
    authority = trustme.CA()
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host, **made).configure_cert(theirs)
    ours = ssl.create_default_context()
    if trusted:
        authority.configure_trust(ours)

    def serve(listener):
        peer, _ = listener.accept()
        with peer, pytest.raises(ssl.SSLError):
            theirs.wrap_socket(peer, server_side=True)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=[listener])
        thread.start()
        try:
            ask(f"https://localhost:{listener.getsockname()[1]}", ssl_context=ours)
        finally:
            thread.join(10)


def silent_where_tls_is_asked_for():
    with Loopback([Stall()]) as server:
        # Its own: looking up whom the system trusts takes time as well, and is not what is told of.
        nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        ask(f"https://127.0.0.1:{server.port}", connect_timeout=0.5, ssl_context=nobody)


def plain_where_tls_is_asked_for():
    with Loopback([Send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Cut()]) as server:
        ask(server.url.replace("http:", "https:"))


def outside_of_a_loop():
    connected(face=svir.AsyncClient).complete("Hi").send(None)


def in_another_loop():
    with MockServer() as server:
        server.reply(text="a b c").stall(after=1)
        stream = connected(server.url, svir.AsyncClient).stream("Hi")
        asyncio.run(stream.open())
        asyncio.run(anext(stream))


async def asynchronous(request, following):
    return await following(request)


def dropped():
    with MockServer() as server, warnings.catch_warnings():
        warnings.simplefilter("ignore", pytest.PytestUnraisableExceptionWarning)
        server.reply(text="a b c").stall(after=1)
        client = connected(server.url)
        with pytest.warns(ResourceWarning) as caught:
            next(client.stream("Hi"))
        client.close()
    raise caught[0].message


def closed(*, whole):
    with MockServer() as server:
        server.reply(text="a b c").stall(after=1)
        client = connected(server.url)
        stream = client.stream("Hi")
        next(stream)
        (client if whole else stream).close()
        stream.complete()


def closed_before():
    client = connected()
    client.close()
    client.complete("Hi")


def opened_twice():
    asked = Signal()
    with Loopback([Request(), asked, Stall()]) as server:
        client = connected(server.url)
        stream = client.stream("Hi")

        def open_it():
            with pytest.raises(svir.TransportError):
                stream.open()

        first = threading.Thread(target=open_it)
        first.start()
        assert asked.event.wait(10)
        try:
            stream.open()
        finally:
            client.close()
            first.join(10)


class Turn(pydantic.BaseModel):
    message: svir.Message


def a_strangers_file():
    try:
        Turn.model_validate({"message": {"role": "user", "parts": [{"file": {"name": "n", "path": "p"}}]}})
    except pydantic.ValidationError as error:
        raise ValueError(error.errors()[0]["msg"]) from None


def not_asked_for():
    with MockServer() as server:
        server.reply(text="two")


@dataclass
class River:
    length_km: float

    def __post_init__(self):
        _ = {0.0: "a puddle", 245.0: "a river"}[self.length_km]


def parsed(text, finish="stop", kind=River):
    svir.Completion(svir.FinishReason(finish), text).parse(kind)


def growing(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("One.")

    class Grows(svir.testing.ScriptedBackend):
        def send(self, request, **limits):
            path.write_text("One. Two.")
            b"".join(request.body)

    ask(what=svir.user(svir.TextFile(path)), backend=Grows([]))


def attached(tmp_path, part):
    (tmp_path / "notes.txt").write_bytes(b"\xff")
    (tmp_path / "pictures").mkdir(exist_ok=True)
    ask(what=svir.user(part(tmp_path)))


TURN = {"role": "user", "content": "Hi"}
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
CALL = {"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "{}"}}]}
FAR = {"tool_calls": [{"index": 64, "id": "a", "function": {"name": "look"}}]}
OVERFLOW = {"error": {"code": "context_length_exceeded"}}

PROVOKED = [
    refused,
    unknown_name,
    elsewhere,
    crowded,
    lambda: ask("http://192.0.2.1"),
    silent_where_tls_is_asked_for,
    lambda: ask("http://127.1"),
    lambda: ask("127.0.0.1:8080"),
    lambda: ask("http://127.0.0.1/v1/chat/completions"),
    lambda: ask("http://127.0.0.1/v1?a=1"),
    lambda: ask("http://user:password@127.0.0.1"),
    lambda: over_tls(trusted=False),
    lambda: over_tls("example.org"),
    lambda: over_tls(not_after=YESTERDAY),
    plain_where_tls_is_asked_for,
    lambda: served(Reset()),
    lambda: served(Cut()),
    lambda: served(Send(b"\x15\x03\x03"), Cut()),
    lambda: replied(401),
    lambda: replied(401, key="sk-1"),
    lambda: replied(403),
    lambda: ask(api_key_env="EXAMPLE_KEY"),
    lambda: ask(api_key_env="sk_AbC123"),
    lambda: ask(api_key="Bearer sk-1"),
    lambda: ask(headers={"Authorization": "Bearer sk-1"}),
    lambda: replied(301, location="https://example.org"),
    lambda: replied(404),
    lambda: replied(400),
    lambda: replied(422),
    lambda: replied(413),
    lambda: replied(429),
    lambda: replied(429, {"error": {"code": "insufficient_quota"}}),
    lambda: replied(500),
    lambda: replied(503),
    lambda: replied(504),
    lambda: replied(400, OVERFLOW),
    lambda: streamed(b'data: {"error": {"code": "context_length_exceeded"}}\n\n'),
    lambda: ask(context_tokens=10, fields={"max_tokens": 5}),
    lambda: replied(200, "<html>", **{"content-type": "text/html"}),
    lambda: replied(200, "{}", **{"content-type": "application/json"}),
    lambda: replied(200, "", **{"content-type": "text/plain"}),
    lambda: served(Send(chunked(head=b"content-encoding: gzip\r\n")), Cut()),
    lambda: streamed(b'data: {"error": {"message": "no"}}\n\n'),
    lambda: streamed(pieces("One")),
    lambda: streamed(pieces("One") + chunk(finish="stop")),
    lambda: streamed(pieces("One") + DONE),
    lambda: streamed(pieces("One"), end=False),
    lambda: streamed(pieces("One") + chunk({"content": "Two"}, model="other")),
    lambda: streamed(chunk({"content": "One"}, **COUNTED) + chunk({"content": "Two"}, **COUNTED)),
    lambda: streamed(b"data: hello\n\n"),
    lambda: streamed(chunk(CALL) + chunk(finish="tool_calls") + DONE),
    lambda: streamed(chunk({"annotation": "x"})),
    lambda: streamed(b"event: ping\ndata: {}\n\n"),
    lambda: streamed(chunk(finish="eos")),
    lambda: streamed(b'data: {"choices": [{"index": 1, "delta": {}}]}\n\n'),
    lambda: streamed(chunk({"content": "x" * 300_000})),
    lambda: streamed(answer("x" * 300), limits=svir.Limits(wire_bytes=100)),
    lambda: streamed(chunk(FAR)),
    lambda: served(Stall(), idle_timeout=0.05),
    lambda: served(Stall(), layers=[Timeout.idle(0.05)]),
    lambda: served(Stall(), layers=[Timeout.first_token(0.05)]),
    lambda: served(Stall(), layers=[Timeout.total(0.05)]),
    lambda: served(Stall(), timeout=0.05),
    lambda: parsed("", "length"),
    lambda: parsed("Well."),
    lambda: parsed(""),
    lambda: parsed('{"length_km": "far"}'),
    lambda tmp_path: attached(tmp_path, lambda folder: svir.TextFile(folder / "before.png")),
    lambda tmp_path: attached(tmp_path, lambda folder: svir.TextFile(folder / "notes.txt")),
    lambda tmp_path: attached(tmp_path, lambda folder: svir.TextFile(folder / "pictures")),
    growing,
    lambda: ask(what=svir.user(svir.Image("before.dat"))),
    lambda: ask(what=svir.assistant(svir.Image("before.png"))),
    lambda: ask(what="\udc80"),
    lambda: ask(model=""),
    lambda: ask(what=svir.Request()),
    svir.user,
    lambda: ask(what=svir.Request("Why?")),
    lambda: svir.from_dict(tuple[svir.Message, ...], [TURN]),
    lambda: ask(max_retries=2),
    lambda: ask(fields={"top_k": 40}),
    lambda: ask(fields={"stream": True}),
    lambda: ask(what=[TURN]),
    lambda: ask(fields={"tools": [elsewhere]}),
    lambda: svir.Completion(svir.FinishReason.STOP).choices,
    outside_of_a_loop,
    in_another_loop,
    lambda: connected(face=svir.AsyncClient, layers=[lambda request, following: following(request)]),
    lambda: connected(layers=[asynchronous]),
    dropped,
    lambda: closed(whole=False),
    lambda: closed(whole=True),
    closed_before,
    opened_twice,
    lambda: pickle.dumps(connected()),
    a_strangers_file,
    not_asked_for,
]
"""What goes wrong, in the order of the page."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """What svir says when each of them goes wrong."""
    texts = []
    for provoke in PROVOKED:
        with pytest.MonkeyPatch.context() as patch:
            given = {"tmp_path": tmp_path_factory.mktemp("files"), "monkeypatch": patch}
            names = provoke.__code__.co_varnames[: provoke.__code__.co_argcount]
            try:
                provoke(**{name: given[name] for name in names})
            except (Exception, Warning) as error:
                texts.append(said(str(error)))
            else:
                raise AssertionError(f"nothing went wrong: {provoke}")
    return texts


@pytest.mark.parametrize("line", quoted() if PAGE.exists() else [])
def test_what_the_page_quotes_is_what_svir_says(line, texts):
    assert any(said(line) == text or f" {said(line)}" in text for text in texts)


DEEP = 200_000
"""Deeper than the stack of any version of Python lets msgspec go."""

UNREADABLE = [
    *(lambda finish=finish: parsed("", finish) for finish in svir.FinishReason if finish != "stop"),
    *(
        lambda text=text: parsed(text)
        for text in (
            "",
            "Well.",
            "```json\n{}\n```",
            '{"a":' * DEEP + "1" + "}" * DEEP,
            '{"length_km": "far"}',
            '{"length_km": 5}',
        )
    ),
    *(lambda text=text: svir.ToolCall("c", "look", text).parse(River) for text in ("{", "{}")),
]
"""Answers and calls that cannot be read."""


def first_cells(page, head):
    """What a table quotes in its first column, up to an ellipsis."""
    table = PAGE.with_name(page).read_text("ascii").partition(head)[2].partition("\n\n")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines()[2:]]
    return [
        said(quote).partition("...")[0].strip() for cell in cells for quote in re.findall(r"`([^`]+)`", cell)
    ]


def test_the_page_about_time_quotes_what_svir_says(texts):
    quotes = first_cells("timeouts.md", "| it says | which |")
    assert len(quotes) >= 7
    assert [quote for quote in quotes if not any(quote in text for text in texts)] == []


def test_the_page_about_answers_quotes_what_svir_says():
    quotes = first_cells("answers.md", "| it says | what happened | what to do |")
    told = []
    for read in UNREADABLE:
        with pytest.raises(svir.AnswerError) as caught:
            read()
        told.append(caught.value.detail)
    assert len(quotes) >= 9
    assert [quote for quote in quotes if not any(quote in text for text in told)] == []
    assert [text for text in told if not any(quote and quote in text for quote in quotes)] == []


def test_everything_that_goes_wrong_here_is_on_the_page(texts):
    lines = [said(line) for line in quoted()]
    assert [text for text in texts if not any(line in text for line in lines)] == []


def test_the_page_has_many_entries():
    assert len(re.findall(r"^### ", PAGE.read_text("ascii"), re.MULTILINE)) >= 40
