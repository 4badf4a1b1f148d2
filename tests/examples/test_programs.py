"""The programs of ``examples/``, run as their users run them, against a scripted server."""

from __future__ import annotations

import json
import re
import threading

import pytest

from svir import FinishReason, ModelInfo, ToolCall, Usage
from svir.testing import MockServer
from tests.support.chat import chunk
from tests.support.examples import FOLDER, KEY, run
from tests.support.loopback import PATIENCE, Call, Loopback, Request, Send, chunked

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the examples are not beside the tests")


@pytest.fixture
def server():
    with MockServer() as server:
        yield server
    assert {request.headers.get("authorization") for request in server.requests} <= {f"Bearer {KEY}"}


def question(request) -> object:
    return request.body["messages"][-1]["content"]


def test_one_model_is_looked_up(server):
    server.reply(models=["small", "large"])
    ran = run("models", server.url, "small")
    assert (ran.out, ran.err, ran.code) == ("small\n", "", 0)


def test_models_are_listed(server):
    server.reply(models=["small", ModelInfo("large", "The large one")])
    ran = run("models", server.url)
    assert (ran.out, ran.err, ran.code) == ("small\nlarge (The large one)\n", "", 0)
    assert [(request.method, request.path) for request in server.requests] == [("GET", "/v1/models")]


@pytest.mark.parametrize("name", ["models", "structured", "tools", "layers", "custom_backend", "stream"])
def test_a_server_that_is_not_there_costs_a_line(name, tmp_path):
    with MockServer() as gone:
        url = gone.url
    ran = run(name, url, folder=tmp_path)
    said = "nothing accepts connections at the server's address and port"
    assert ran.code == (0 if name == "layers" else 1)  # which has an answer to each question, if only this
    assert said in (ran.out if name == "layers" else ran.err)
    assert "Traceback" not in ran.err


def test_a_question_is_answered_whole(server):
    server.reply(text="Because water is lazy.", usage=Usage(14, 6))
    ran = run("complete", server.url, "m", "Why do rivers meander?")
    assert (ran.out, ran.err, ran.code) == ("Because water is lazy.\n(14 tokens in, 6 out)\n", "", 0)
    [request] = server.requests
    assert (request.body["model"], request.body["max_tokens"]) == ("m", 500)
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    assert question(request) == "Why do rivers meander?"


def test_an_answer_that_was_cut_is_called_so(server):
    server.reply(text="Because", finish=FinishReason.LENGTH)
    assert run("complete", server.url).out == "Because\n(cut: 500 tokens were not enough)\n"


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (429, {"message": "busy"}, "The server is busy. Try again in 7 seconds.\n"),
        (400, {"message": "too long", "code": "context_length_exceeded"}, "The question is longer than "),
        (
            404,
            {"message": "There is no model m."},
            "no such path or model; see client.models() (server_message has its words)\nThere is no ",
        ),
    ],
)
def test_a_failure_is_told_by_its_kind(server, status, error, said):
    server.reply(status=status, body={"error": error}, headers={"retry-after": "7"})
    ran = run("complete", server.url, "m")
    assert (ran.out, ran.code) == ("", 1)
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_stream_is_printed_and_the_rest_goes_to_standard_error(server):
    server.reply(text="Because water is lazy.", reasoning="Hm. ", usage=Usage(3, 5))
    ran = run("stream", server.url, "m", "Why?")
    assert (ran.out, ran.code) == ("Because water is lazy.\n", 0)
    assert re.fullmatch(r"Hm\. \[stop(, [\d.]+ tokens/s)?\]\n", ran.err)
    assert question(server.requests[0]) == "Why?"


def test_a_stream_that_breaks_off_says_so(server):
    server.reply(text="Because water is lazy.").cut(after=2)
    ran = run("stream", server.url)
    assert (ran.out, ran.code) == ("Because water", 1)
    assert ran.err.startswith("\nthe answer was cut off")


def test_a_conversation_keeps_its_turns(server):
    server.reply(text="Because water is lazy.")
    server.reply(text="It goes the easy way.")
    ran = run("chat", server.url, "m", given="Why do rivers meander?\nHow?\n")
    assert ran.out == "> Because water is lazy.\n> It goes the easy way.\n> \n"
    assert (ran.err, ran.code) == ("", 0)
    said = [(message["role"], message["content"]) for message in server.requests[1].body["messages"][1:]]
    assert said == [
        ("user", "Why do rivers meander?"),
        ("assistant", "Because water is lazy."),
        ("user", "How?"),
    ]


def test_what_got_no_whole_answer_is_no_part_of_the_conversation(server):
    server.reply(text="Because water is lazy.").cut(after=1)
    server.reply(text="Hello.")
    ran = run("chat", server.url, "m", given="Why?\nHello\n")
    assert re.match(r"> Because ?\[the answer was cut off: .*\]\n> Hello\.\n", ran.out)
    assert [message["content"] for message in server.requests[1].body["messages"][1:]] == ["Hello"]


def test_a_conversation_that_grew_too_long_forgets_its_beginning(server):
    error = {"message": "too long", "code": "context_length_exceeded"}
    server.play("One.", "Two.").reply(status=400, body={"error": error})
    server.reply(text="Three.")
    ran = run("chat", server.url, "m", given="1\n2\n3\n3\n")
    assert "[too long: the oldest question is forgotten, ask again]\n> Three.\n" in ran.out
    said = [message["content"] for message in server.requests[3].body["messages"][1:]]
    assert said == ["2", "Two.", "3"]


def test_files_are_sent_by_their_endings(server, tmp_path):
    (tmp_path / "before.PNG").write_bytes(b"\x89PNG")
    (tmp_path / "diff.patch").write_text("+ a line\n")
    server.reply(text="A line.")
    ran = run("attachments", server.url, "m", "What changed?", "before.PNG", "diff.patch", folder=tmp_path)
    assert (ran.out, ran.err, ran.code) == ("A line.\n", "", 0)
    [text, image] = question(server.requests[0])
    assert re.fullmatch(r"What changed\?.*diff\.patch.*\+ a line.*", text["text"], re.DOTALL)
    assert image["image_url"]["url"] == "data:image/png;base64,iVBORw=="


def test_a_file_that_is_not_there_is_named(server, tmp_path):
    ran = run("attachments", server.url, "m", "What?", "none.txt", folder=tmp_path)
    assert (ran.out, ran.code) == ("", 1)
    assert ran.err.startswith("A file cannot be sent: 'none.txt' cannot be read")


def test_attachments_without_arguments_say_how_they_are_used():
    ran = run("attachments")
    assert ran.code == 1
    assert "python examples/attachments.py http" in ran.err


@pytest.mark.parametrize("face", ["blocking", "async"])
def test_calls_are_answered_until_there_are_none(server, face):
    calls = [
        ToolCall("c-1", "temperature", '{"city": "Oslo", "unit": "fahrenheit"}'),
        ToolCall("c-2", "temperature", '{"city": "Atlantis"}'),
        ToolCall("c-3", "temperature", '{"unit": "kelvin"}'),
    ]
    server.reply(calls=calls)
    server.reply(text="62.6 degrees.")
    ran = run("tools", server.url, "m", "How warm is it in Oslo?", face)
    assert (ran.out, ran.code) == ("62.6 degrees.\n", 0)
    [tool] = server.requests[0].body["tools"]
    assert tool["function"]["name"] == "temperature"
    assert tool["function"]["parameters"]["properties"]["city"]["description"] == "Its name in English."
    results = {m["tool_call_id"]: m["content"] for m in server.requests[1].body["messages"][-3:]}
    assert results["c-1"] == "62.6"
    assert results["c-2"] == "error: KeyError: 'Atlantis'"
    assert results["c-3"].startswith("error: invalid arguments: ")


@pytest.mark.parametrize("face", ["blocking", "async"])
def test_a_model_that_never_stops_calling_is_left(server, face):
    for number in range(10):
        server.reply(calls=[ToolCall(f"c-{number}", "temperature", '{"city": "Oslo"}')])
    assert run("tools", server.url, "m", "Oslo?", face).out == "(no answer after 10 rounds)\n"


def test_an_answer_is_read_into_its_type(server):
    rivers = [{"name": "Otra", "length_km": 245, "mouth": "Skagerrak"}, {"name": "Glomma", "length_km": 621}]
    server.reply(text=json.dumps(rivers))
    ran = run("structured", server.url, "m", "southern Norway")
    assert ran.out == "Glomma, 621 km, into who knows what\nOtra, 245 km, into Skagerrak\n"
    assert (ran.err, ran.code) == ("", 0)
    schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert "from its source to its mouth" in json.dumps(schema)


def test_an_answer_that_is_none_of_the_type_is_shown(server):
    server.reply(text="The Glomma is the longest.")
    ran = run("structured", server.url)
    assert (ran.out, ran.code) == ("", 1)
    assert ran.err.endswith("it is no JSON\nThe Glomma is the longest.\n")


def test_layers_try_again_count_and_give_up(server):
    server.reply(status=503, headers={"retry-after": "0"})
    server.reply(text="Because water is lazy.", usage=Usage(10, 5))
    server.reply(text="Because of the").stall(after=0)
    ran = run("layers", server.url, "m", "2")
    first, second, spent = ran.out.splitlines()
    assert first == "Because water is lazy."
    assert "nothing of the answer came within 2 s (Timeout.first_token)" in second
    assert spent == "[15 tokens, 1 answers that broke off]"
    assert (ran.err, ran.code) == ("", 0)


def test_a_failed_question_is_an_outcome_like_any_other(server):
    server.play("Yes.").reply(status=401)
    server.reply(text="No.")
    ran = run("many", server.url, "m", 1, given="One?\n\nTwo?\nThree?\n")
    first, second, third = ran.out.splitlines()
    assert (first, third) == ("One? Yes.", "Three? No.")
    assert re.fullmatch(r"Two\? \[the server refused the credentials: .*\]", second)
    assert (ran.err, ran.code) == ("", 0)
    assert [question(request) for request in server.requests] == ["One?", "Two?", "Three?"]


def test_many_questions_are_asked_at_once():
    together = threading.Barrier(3, timeout=PATIENCE)  # no one is answered before all were asked
    answer = chunked(chunk({"content": "Yes."}), chunk({}, "stop"), b"data: [DONE]\n\n")
    script = [Request(), Call(lambda _: together.wait()), Send(answer)]
    with Loopback(script, script, script) as server:
        ran = run("many", server.url, "m", 3, given="One?\nTwo?\nThree?\n")
    assert sorted(ran.out.splitlines()) == ["One? Yes.", "Three? Yes.", "Two? Yes."]
    assert (ran.err, ran.code) == ("", 0)


def test_the_codec_works_around_another_client(server):
    server.reply(text="Because water is lazy.")
    ran = run("codec_only", server.url, "m", "Why?")
    assert (ran.out, ran.err, ran.code) == ("Because water is lazy.\n[stop]\n", "", 0)
    [request] = server.requests
    assert int(request.headers["content-length"]) == len(request.content)
    assert question(request) == "Why?"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda server: server.reply(text="Because water").cut(after=1), "the answer was cut off"),
        (lambda server: server.reply(status=500), "the status is 500"),
    ],
)
def test_the_codec_takes_no_half_answer(server, reply, said):
    reply(server)
    ran = run("codec_only", server.url)
    assert ran.code == 1
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1:x"])
def test_the_codec_wants_a_url(url):
    ran = run("codec_only", url, "m")
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_a_backend_keeps_what_went_over_the_wire(server, tmp_path):
    server.reply(text="Because water is lazy.")
    ran = run("custom_backend", server.url, "m", folder=tmp_path)
    assert (ran.out, ran.err, ran.code) == ("Because water is lazy.\n", "", 0)
    assert (tmp_path / "wire" / "1.json").read_bytes() == server.requests[0].content
    with MockServer() as again:
        again.reply(file=tmp_path / "wire" / "1.sse")
        assert again.client().complete("Why?").text == "Because water is lazy."
