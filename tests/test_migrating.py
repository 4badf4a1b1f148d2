"""What the page for those who come from ``openai`` says of that package, where it is installed."""

from __future__ import annotations

import contextlib
import io
import pickle
import re
from pathlib import Path

import pytest

import svir
from svir.testing import MockServer
from tests.support.chat import answer, chunk, pieces
from tests.support.loopback import Cut, Loopback, Request, Send, chunked

openai = pytest.importorskip("openai", reason="openai is not installed: it is no part of the environment")

PAGE = Path(__file__).parent.parent / "docs" / "migrating.md"
HI = [{"role": "user", "content": "Hi"}]
CALL = {"id": "c-1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}


def whole(finish="stop", **message):
    """What a server answers that was asked for no stream."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    return {"status": 200, "body": {"id": "c", "model": "m", "choices": [choice], "usage": usage}}


def theirs(url, **options):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="sk-secret", **options)


def streamed(url, **options):
    stream = theirs(url, **options).chat.completions.create(model="m", messages=HI, stream=True)
    return [(c.choices[0].delta.content, c.choices[0].finish_reason) for c in stream if c.choices]


def test_the_version_is_the_one_that_the_page_names():
    assert f"`openai` {openai.__version__}" in PAGE.read_text("ascii")


def test_the_blocks_of_the_left_side_run():
    blocks = re.findall(r"<!-- svir-skip: .*? -->\n\n```python\n(.*?)```", PAGE.read_text("ascii"), re.DOTALL)
    assert len(blocks) == 5
    space = {}
    with MockServer() as server, contextlib.redirect_stdout(io.StringIO()) as out:
        server.reply(**whole(content="Because."))
        server.reply(text="Because water is lazy.")
        server.reply(**whole("tool_calls", content=None, tool_calls=[CALL]))
        server.reply(**whole(content="It is sunny."))
        server.reply(calls=[svir.ToolCall("c-1", "weather", '{"city": "Oslo"}')])
        server.reply(text="Still sunny.")
        server.reply(**whole(content='{"name": "Otra", "length_km": 245}'))
        for _ in range(3):
            server.reply(status=429, headers={"retry-after": "0"})
        for block in blocks:
            here = block.replace("http://127.0.0.1:8080", server.url)
            exec(compile(here, "migrating.md", "exec", dont_inherit=True), space)
    assert out.getvalue() == (
        "Because.\nstop 5\nBecause water is lazy.It is sunny.\n"
        "Still sunny.name='Otra' length_km=245.0\nlater 0\n"
    )
    told = server.requests[3].body["messages"][-1]
    assert told == {"role": "tool", "tool_call_id": "c-1", "content": "Sunny in Oslo."}
    streamed_call, streamed_result = server.requests[5].body["messages"][-2:]
    assert streamed_call == {"role": "assistant", "content": "", "tool_calls": [CALL]}
    assert streamed_result == told
    assert server.requests[6].body["response_format"]["json_schema"]["strict"]
    assert "stream" not in server.requests[0].body


@pytest.mark.parametrize(
    ("events", "seen"),
    [
        (pieces("Half"), [("Half", None)]),
        (pieces("Half") + chunk(finish="stop"), [("Half", None), (None, "stop")]),
        (answer("<think>a</think>b"), [("<think>a</think>b", None), (None, "stop")]),
    ],
    ids=["a stream that ends early", "a stream without [DONE]", "think tags"],
)
def test_a_stream_is_taken_as_it_comes(events, seen):
    with Loopback([Request(), Send(chunked(events)), Cut()]) as server:
        assert streamed(server.url) == seen


def test_a_page_is_an_empty_stream():
    with MockServer() as server:
        server.reply(status=200, body="<html>", headers={"content-type": "text/html"})
        assert streamed(server.url) == []


def test_a_call_that_was_cut_is_among_the_calls():
    cut = {**CALL, "function": {"name": "weather", "arguments": '{"ci'}}
    with MockServer() as server:
        server.reply(**whole("length", content=None, tool_calls=[cut]))
        message = theirs(server.url).chat.completions.create(model="m", messages=HI).choices[0].message
    assert message.tool_calls[0].function.arguments == '{"ci'


@pytest.mark.parametrize("status", [429, 500])
def test_a_failure_is_asked_for_three_times(status):
    with MockServer() as server:
        for _ in range(3):
            server.reply(status=status, headers={"retry-after": "0"})
        with pytest.raises(openai.APIStatusError):
            streamed(server.url)
    assert len(server.requests) == 3


def test_a_redirect_is_followed_without_the_key():
    with MockServer() as elsewhere, MockServer() as server:
        elsewhere.reply(text="Hello")
        server.reply(status=307, headers={"location": f"{elsewhere.url}/v1/chat/completions"})
        assert streamed(server.url)[0] == ("Hello", None)
    assert "authorization" not in elsewhere.requests[0].headers


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    for name in ("no_proxy", "NO_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with MockServer() as proxy:
        proxy.reply(text="Hello")
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert streamed("http://rivers.example.org")[0] == ("Hello", None)


def test_an_error_holds_the_servers_words_and_the_key_and_cannot_be_unpickled():
    with MockServer() as server:
        server.reply(status=404, body={"error": {"message": "words of the server"}})
        with pytest.raises(openai.NotFoundError, match="words of the server") as caught:
            streamed(server.url)
    assert caught.value.request.headers["authorization"] == "Bearer sk-secret"
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(caught.value))


def test_the_classes_of_its_errors_that_the_table_names_are_there():
    table = PAGE.read_text("ascii").partition("| `openai` | svir |\n| --- | --- |\n| `OpenAIError`")[2]
    left = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines()]
    names = re.findall(r"`(\w+Error)`", " ".join(left))
    assert len(names) >= 9
    assert all(issubclass(getattr(openai, name), openai.OpenAIError) for name in names)


def test_the_classes_of_ours_are_there():
    page = PAGE.read_text("ascii")
    assert set(re.findall(r"svir\.(\w+Error)\b", page)) <= set(svir.__all__)
