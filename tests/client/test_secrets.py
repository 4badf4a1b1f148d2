"""Nothing reachable from an error holds a credential, the URL, or the server's words (but server_message)."""

from __future__ import annotations

import pickle
import traceback
import types

import pytest

import svir
from svir.http import Secret
from svir.testing import MockServer
from tests.support.chat import answer, chunk, pieces
from tests.support.faces import ASYNC_FACES, closing
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
    check_locals(error, KEY, HEADER, QUERY)


def check_locals(error, *words):
    """Looks where a debugger or an error tracker does: into the locals of svir's frames."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if frame.f_globals["__name__"].partition(".")[0] == "svir"]
    assert own
    for frame in own:
        for name, local in frame.f_locals.items():
            for word in words:
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


def awaited(text):
    async def key():
        return text

    return key


class Vault:
    """What a key is asked of, which shows all that it has."""

    def __init__(self, key):
        self.key = key

    def __repr__(self):
        return f"Vault({self.key})"

    def __call__(self):
        return self.key

    async def later(self):
        return self.key


UNSENDABLE = {
    "words": lambda: "hidden key",
    "a line break": lambda: "hidden\nkey",
    "a scheme": lambda: "Bearer hidden",
    "bytes": lambda: b"hidden",
    "a list": lambda: ["hidden"],
    "a secret": lambda: Secret("hidden key"),
    "an object": Vault("hidden key"),
}
UNSENDABLE_LATER = {
    "words": awaited("hidden key"),
    "bytes": awaited(b"hidden"),
    "a secret": awaited(Secret("hidden key")),
    "an object's": Vault("hidden key").later,
    "a coroutine": lambda: Vault("hidden key").later(),
}


def check_unsendable(face, key):
    async def scenario(url):
        return await failing(face, url, api_key=key)

    error = face.run(scenario, "http://127.0.0.1:9")
    assert error.kind == "config"
    check(error)
    check_locals(error, *HIDDEN)


@pytest.mark.parametrize("key", UNSENDABLE.values(), ids=UNSENDABLE)
def test_a_key_that_cannot_be_sent_is_not_shown(face, key):
    check_unsendable(face, key)


@pytest.mark.parametrize("key", UNSENDABLE_LATER.values(), ids=UNSENDABLE_LATER)
@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_nor_is_one_that_is_awaited(face, key):
    check_unsendable(face, key)


def test_what_a_key_is_asked_of_is_not_shown(face):
    class Shut(Vault):
        def __call__(self):
            raise svir.AuthenticationError("no key today")

        async def later(self):
            self()

    async def scenario(url):
        shut = Shut("hidden")
        if face.blocking:
            return await failing(face, url, api_key=shut)
        error = await failing(face, url, api_key=shut)
        check_locals(error, *HIDDEN)
        return await failing(face, url, api_key=shut.later)

    error = face.run(scenario, "http://127.0.0.1:9")
    assert error.kind == "authentication"
    check_locals(error, *HIDDEN)


def test_a_header_that_a_layer_cannot_set_is_not_shown(face):
    class Tenant:
        def steps(self, request, following, deadlines, server):
            return (yield from following(request, deadlines.with_headers({"x-tenant": "hidden\n"})))

    error = face.run(lambda: failing(face, "http://127.0.0.1:9", layers=[Tenant()]))
    assert error.kind == "config"
    check(error)
    check_locals(error, *HIDDEN)


class Interrupting:
    """A path whose reading is interrupted."""

    def __fspath__(self):
        raise KeyboardInterrupt


class OwnClient(svir.Client):
    """A caller's own constructor, whose frame is the caller's."""

    @classmethod
    def openai(cls, url, **options):
        return super().openai(url, **options)


def of_a_server(kind):
    def make(url, **options):
        with MockServer() as server:
            return getattr(server, kind)(**options)

    return make


def derived(kind):
    return lambda url, **options: kind.openai(url, api_key="k").with_options(**options)


MAKERS = {
    "Client": svir.Client.openai,
    "AsyncClient": svir.AsyncClient.openai,
    "OwnClient": OwnClient.openai,
    "Client.with_options": derived(svir.Client),
    "AsyncClient.with_options": derived(svir.AsyncClient),
    "OwnClient.with_options": derived(OwnClient),
    "MockServer.client": of_a_server("client"),
    "MockServer.async_client": of_a_server("async_client"),
}
WRONG_URLS = [
    "http://hidden:hidden@localhost",
    "http://localhost/?hidden",
    "http://localhost/#hidden",
    "http://localhost/hidden key",
    "http://localhost:hidden",
    "http://hidden.example",
    "hidden://localhost",
    "hidden\nkey",
    b"hidden",
]
WRONG = [
    {"api_key": "hidden key"},
    {"api_key": "hidden\nkey"},
    {"api_key": b"hidden"},
    {"api_key": KEY, "api_key_file": "/hidden"},
    {"api_key_file": "/hidden/key"},
    {"api_key_file": ["/hidden/key"]},
    {"api_key_env": "hidden-key"},
    {"api_key_env": "gsk_hiddenAbC123"},
    {"api_key_header": "hidden key"},
    {"headers": {"x-team": "hidden\n"}},
    {"headers": {"x-team": b"hidden"}},
    {"headers": {"hidden name": "x"}},
    {"headers": {"Host": "hidden"}},
    {"headers": [("x-team", "hidden")]},
    {"query": "hidden query"},
    {"query": {"code": "hidden\ud800"}},
    {"query": {"code": ["hidden"]}},
    {"path": "hidden"},
    {"max_connections": 0},
    {"mode": "wrong"},
    {"mode": "strict", "think": "hidden"},
    {"timeout": -1},
    {"layers": [print, type]},
    {"no_such_option": 1},
]
BUILT = [
    pytest.param(make, {"url": "http://localhost", **options}, id=f"{name}-{options!r}")
    for name, make in MAKERS.items()
    for options in [*WRONG, *([] if "." in name else [{"url": url} for url in WRONG_URLS])]
]


@pytest.mark.parametrize(("make", "options"), BUILT)
def test_a_client_that_cannot_be_built_shows_nothing(make, options):
    secrets = {"api_key": KEY, "headers": {"x-team": HEADER}, "query": {"code": QUERY}}
    if any(name.startswith("api_key_") for name in options):
        del secrets["api_key"]
    options = {**secrets, **options}
    with pytest.raises((svir.ConfigError, TypeError)) as caught:
        make(options.pop("url"), **options)
    error = caught.value
    assert "hidden" not in f"{error} {error!r} {vars(error)}"
    assert error.__context__ is None
    check_locals(error, *HIDDEN)


@pytest.mark.parametrize("kind", [svir.Client, svir.AsyncClient])
def test_nor_does_one_that_is_built_in_a_wrong_way(kind):
    for make in (kind, kind.openai):
        with pytest.raises(TypeError) as caught:
            make(base_url="http://hidden", api_key=KEY)
        check_locals(caught.value, *HIDDEN)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nor_one_whose_building_is_interrupted(make):
    with pytest.raises(KeyboardInterrupt) as caught:
        make("http://localhost", api_key_file=Interrupting(), headers={"x-team": HEADER})
    check_locals(caught.value, *HIDDEN)


def test_where_a_client_could_not_be_built_is_still_told():
    class Own(dict):
        def items(self):
            mine = "kept"
            raise LookupError(mine)

    with pytest.raises(LookupError) as caught:
        svir.Client.openai("http://localhost", headers=Own(), api_key=KEY)
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert [frame.f_code.co_name for frame in frames[-2:]] == ["checked_headers", "items"]
    assert frames[-1].f_locals["mine"] == "kept"  # a caller's own
    check_locals(caught.value, *HIDDEN)


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
