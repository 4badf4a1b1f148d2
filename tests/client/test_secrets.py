"""Nothing reachable from an error holds a credential, the URL, or the server's words (but server_message)."""

from __future__ import annotations

import pickle
import traceback
import types

import pytest

import svir
from tests.support.chat import answer, chunk, pieces
from tests.support.faces import closing
from tests.support.loopback import Cut, Gone, Loopback, Request, Reset, Send, Stall, chunked

KEY, HEADER, QUERY, PATH = "sk-hidden-key", "hidden-header", "hidden-query", "hidden-path"
WORDS = "hidden-words"
HIDDEN = ("hidden",)

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-words: hidden-words\r\n\r\n"


def status(number, message=WORDS, **fields):
    body = b'{"error": {"message": "%s"%s}}' % (
        message.encode(),
        b"".join(b', "%s": "%s"' % (name.encode(), value.encode()) for name, value in fields.items()),
    )
    return b"HTTP/1.1 %d Hidden-Words\r\ncontent-length: %d\r\nx-words: hidden-words\r\n\r\n%s" % (
        number,
        len(body),
        body,
    )


def event(data):
    return b"data: " + data + b"\n\n"


# kind -> what the server does, in as many ways as matter; with what is asked or set beside the usual.
ANSWERS = {
    "transport": [
        [],
        [Request(), Cut()],
        [Request(), Reset()],
        [Request(), Send(status(503)), Cut()],
        [Request(), Send(HEAD + pieces("some text")), Reset()],
    ],
    "timeout": [
        [Request(), Stall()],
        [Request(), Send(status(408)), Cut()],
        [Request(), Send(HEAD + pieces("some text")), Stall()],
    ],
    "rate_limited": [[Request(), Send(status(429)), Cut()]],
    "truncated_stream": [
        [Request(), Send(HEAD + pieces("some text")), Cut()],
        [Request(), Send(chunked(pieces("some text"), end=False)), Cut()],
    ],
    "authentication": [[Request(), Send(status(401)), Cut()]],
    "context_overflow": [
        [Request(), Send(status(400, "hidden-words: maximum context length")), Cut()],
        [Request(), Send(status(422, code="context_length_exceeded")), Cut()],
    ],
    "content_filter": [[Request(), Send(status(400, code="content_filter")), Cut()]],
    "protocol": [
        [Request(), Send(HEAD + event(b"hidden-words")), Cut()],
        [Request(), Send(HEAD + event(b'{"hidden-words": ')), Cut()],
        [Request(), Send(HEAD + event(b'"\xff hidden-words"')), Cut()],
        [Request(), Send(HEAD + event(b'{"id": "1", "model": "m", "choices": "hidden-words"}')), Cut()],
        [Request(), Send(HEAD + pieces("some text") + chunk({"tool_calls": "hidden-words"})), Cut()],
        [Request(), Send(b"HTTP/1.1 hidden-words\r\n\r\n"), Cut()],
        [Request(), Send(b"HTTP/1.1 200 OK\r\nhidden words: x\r\n\r\n"), Cut()],
    ],
    "server": [
        [Request(), Send(HEAD + event(b'{"error": {"message": "hidden-words"}}')), Cut()],
        [Request(), Send(HEAD + pieces("some text") + b"event: error\ndata: hidden-words\n\n"), Cut()],
    ],
    "unsupported": [
        [Request(), Send(status(404)), Cut()],
        [Request(), Send(status(302)), Cut()],
        [Request(), Send(b"HTTP/1.1 200 OK\r\ncontent-type: hidden/words\r\n\r\nhidden-words"), Cut()],
        [Request(), Send(HEAD + chunk({"content": "a", "hidden-words": 1})), Cut()],
        [Request(), Send(HEAD + chunk({"content": "a"}) + chunk(finish="hidden-words")), Cut()],
        [Request(), Send(HEAD + b"event: hidden-words\ndata: x\n\n"), Cut()],
    ],
    "response_limit": [[Request(), Send(HEAD + event(b"hidden-words" * 30_000)), Cut()]],
}
CASES = [
    pytest.param(kind, acts, id=f"{kind}-{number}")
    for kind, many in ANSWERS.items()
    for number, acts in enumerate(many)
]


def reachable(error):
    """Every exception and plain value that can be got at from an error."""
    seen, waiting = {}, [error]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, BaseException):
            waiting += [value.args, vars(value), getattr(value, "__notes__", [])]
            waiting += [value.__cause__, value.__context__]
            for frame, _ in traceback.walk_tb(value.__traceback__):
                waiting += [local for local in frame.f_locals.values() if isinstance(local, BaseException)]
            if isinstance(value, svir.Error):
                waiting += [getattr(value, "partial", None)]
        elif isinstance(value, dict):
            waiting += [item for name, item in value.items() if name not in {"server_message", "partial"}]
        elif isinstance(value, (list, tuple)):
            waiting += value
    return list(seen.values())


def check(error, url=""):
    """Walks everything that can be reached, and every way an error is shown."""
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = [str(error), repr(error), "".join(traceback.format_exception_only(error))]
    for value in reachable(error):
        if not isinstance(value, (dict, list, tuple, types.NoneType)):
            shown += [str(value), repr(value)]
    for text in shown:
        assert not any(word in text for word in HIDDEN), text
        assert not url or url not in text, text
        assert not url or url.rpartition(":")[2] not in text, text
    same = pickle.loads(pickle.dumps(error))
    assert vars(same) == vars(error)
    own = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert not any("h11" in frame.f_code.co_filename for frame in own)
    for frame in own:  # nor where a debugger or an error tracker looks: credentials are masked there too
        if "svir" in frame.f_globals["__name__"].partition(".")[0]:
            for name, local in frame.f_locals.items():
                for word in (KEY, HEADER, QUERY):
                    assert word not in repr(local), (frame.f_code.co_qualname, name)


async def failing(face, url, asked="hi", **options):
    """The error of a call with secrets wherever there may be some."""
    secrets = {"api_key": KEY, "headers": {"x-team": HEADER}, "query": {"code": QUERY}}
    options = {**secrets, "idle_timeout": 5, **options}
    async with closing(face.client(f"{url}/{PATH}/v1", model="m", **options)) as client:
        with pytest.raises(svir.Error) as caught:
            await client.complete(asked)
        return caught.value


@pytest.mark.uncounted
@pytest.mark.parametrize(("kind", "acts"), CASES)
def test_an_error_shows_nothing_that_is_not_svirs(face, kind, acts):
    with Loopback(*([acts] if acts else [])) as server:
        url = server.url
        if acts:
            options = {"idle_timeout": 0.2} if kind == "timeout" else {}
            error = face.run(lambda: failing(face, url, **options))
    if not acts:  # nobody listens there any more
        error = face.run(failing, face, url)
    assert error.kind == kind
    check(error, url)
    if acts and kind in {"rate_limited", "authentication", "content_filter", "server"}:
        assert WORDS in error.server_message


def test_an_attachment_is_named_by_its_own_name_only(face, tmp_path):
    missing = tmp_path / "hidden-place" / "picture.png"

    async def scenario(url):
        return await failing(face, url, svir.user("look", svir.Image(missing)))

    error = face.run(scenario, "http://127.0.0.1:9")
    assert error.kind == "attachment"
    assert "picture.png" in str(error)
    check(error)


def test_a_key_that_cannot_be_sent_is_not_shown(face):
    async def scenario(url):
        return await failing(face, url, api_key=lambda: "hidden key")

    error = face.run(scenario, "http://127.0.0.1:9")
    assert error.kind == "config"
    check(error)


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://hidden:hidden@localhost"},
        {"url": "http://localhost/?hidden"},
        {"url": "http://hidden.example"},
        {"url": "hidden://localhost"},
        {"api_key": "hidden key"},
        {"api_key": KEY, "api_key_file": "/hidden"},
        {"api_key_file": "/hidden/key"},
        {"api_key_env": "hidden-key"},
        {"api_key_env": "gsk_hiddenAbC123"},
        {"headers": {"x-team": "hidden\n"}},
        {"headers": {"hidden name": "x"}},
        {"headers": {"Host": "hidden"}},
        {"query": "hidden query"},
        {"path": "hidden"},
        {"max_connections": 0},
        {"mode": "strict", "think": "hidden"},
    ],
    ids=repr,
)
@pytest.mark.parametrize("make", [svir.Client.openai, svir.AsyncClient.openai])
def test_a_client_that_cannot_be_built_shows_nothing(make, options):
    options = {"url": "http://localhost", **options}
    with pytest.raises(svir.ConfigError) as caught:
        make(options.pop("url"), **options)
    error = caught.value
    assert "hidden" not in f"{error} {error!r} {vars(error)}"
    assert error.__context__ is None


def test_what_was_learned_shows_no_words_of_the_server(face):
    async def scenario(url):
        async with closing(face.client(url, model="m")) as client:
            await client.complete("hi")
            return client.compatibility.learned

    taken = [Request(), Send(chunked(answer("a"))), Gone()]
    with Loopback([Request(), Send(status(400)), Gone()], taken) as server:
        (learned,) = face.run(scenario, server.url)
    assert learned.server_message == WORDS
    assert "hidden" not in repr(learned)


def test_headers_of_a_response_are_withheld_when_shown(face):
    async def scenario(url):
        async with closing(face.client(url, model="m")) as client, client.stream("hi") as stream:
            return stream.headers

    with Loopback([Request(), Send(HEAD + answer("a")), Cut()]) as server:
        headers = face.run(scenario, server.url)
    assert headers.get("x-words") == WORDS
    assert "hidden" not in repr(headers)
