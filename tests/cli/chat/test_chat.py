"""Whole chats over pipes, against a real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import svir
from svir.testing import MockServer
from tests.cli.scripted import HEAD, answer, chunk, reply
from tests.support.loopback import Gone, Request, Send


@pytest.fixture
def server():
    with MockServer() as server:
        yield server


@pytest.fixture
def chat(command):
    def run(server, *lines, args=("-m", "m"), **more):
        stdin = "".join(f"{line}\n" for line in lines).encode()
        return command("chat", "--url", server.url, *args, stdin=stdin, **more)

    return run


def sent(server):
    """The roles and texts of every request."""
    return [
        [(turn["role"], turn["content"]) for turn in request.body["messages"]] for request in server.requests
    ]


def test_each_line_is_a_message_and_standard_output_gets_the_answers(chat, server):
    server.reply(text="Because.\x1b[2J # *as is*", usage=svir.Usage(5, 7))
    server.reply(text="They do.\n", reasoning="let me see")
    done = chat(server, "Why?", "", "And why?")
    assert done.stdout == b"Because.\x1b[2J # *as is*\nThey do.\n"
    first, thought, second = done.stderr.decode().splitlines()
    assert first.startswith("[finish stop; 5 tokens in; 7 out")
    assert thought == "let me see"
    assert second.startswith("[finish stop; no token counts sent")
    assert done.returncode == 0
    assert sent(server) == [
        [("user", "Why?")],
        [("user", "Why?"), ("assistant", "Because.\x1b[2J # *as is*"), ("user", "And why?")],
    ]


def test_commands_work_over_a_pipe(chat, server, tmp_path):
    (tmp_path / "a.txt").write_text("some text")
    server.reply(text="first")
    server.reply(text="second")
    server.reply(models=["m", "other"])
    done = chat(
        server,
        *("/system be brief", "/effort low", f"/file {tmp_path}/a.txt", "//etc is what?"),
        *("/retry", "/usage", "/model", f"/save {tmp_path}/talk.json", "/quit", "never sent"),
    )
    assert done.returncode == 0, done
    assert done.stdout == b"first\nsecond\n"
    for told in (b"effort low", b"1 attached", b"this chat: 2 answers", b"* m\n  other\n", b"saved to"):
        assert told in done.stderr
    one, two, _ = (request.body for request in server.requests)
    assert one == two
    assert one["reasoning_effort"] == "low"
    assert one["messages"][0] == {"role": "system", "content": "be brief"}
    assert "/etc is what?" in one["messages"][1]["content"]
    assert "some text" in one["messages"][1]["content"]
    stored = svir.from_dict(svir.Request, json.loads((tmp_path / "talk.json").read_text()))
    assert [str(turn.role) for turn in stored.messages] == ["user", "assistant"]


def test_every_option_is_in_the_request(chat, server):
    server.reply(text="So.")
    chat(
        server,
        "Why?",
        args=(
            "-m",
            "m",
            "-s",
            "be brief",
            "--effort",
            "high",
            "--max-tokens",
            "9",
            "--api-key-env",
            "MY_KEY",
        ),
        MY_KEY="sesame",
    )
    (request,) = server.requests
    assert request.body["messages"][0] == {"role": "system", "content": "be brief"}
    assert (request.body["reasoning_effort"], request.body["max_tokens"]) == ("high", 9)
    assert request.headers["authorization"] == "Bearer sesame"


def test_a_stored_conversation_goes_on_with_the_options_first(chat, server, tmp_path):
    stored = svir.Request("old", system="be long", effort="low", messages=["one", svir.assistant("first")])
    (tmp_path / "talk.json").write_text(json.dumps(svir.to_dict(stored)))
    load = ("--load", str(tmp_path / "talk.json"))
    server.reply(text="So.")
    server.reply(text="So.")
    assert b"turns loaded: 2, model old" in chat(server, "two", args=load).stderr
    chat(server, "two", args=(*load, "-m", "m", "-s", "be brief"))
    first, second = (request.body for request in server.requests)
    assert [turn["content"] for turn in first["messages"]] == ["be long", "one", "first", "two"]
    assert (first["model"], first["reasoning_effort"]) == ("old", "low")
    assert (second["model"], second["messages"][0]["content"]) == ("m", "be brief")


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        (["/sytem x"], 2, b"Did you mean /system?"),
        (["/file none.txt"], 21, b"none.txt"),
    ],
)
def test_over_a_pipe_the_first_thing_that_goes_wrong_ends_it(chat, server, lines, code, said):
    done = chat(server, *lines, "never sent")
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    ("response", "code", "said"),
    [
        (reply("401 Unauthorized", {"error": {"message": "no key"}}), 14, b'The server says: "no key"'),
        (HEAD + chunk({"content": "half"}), 13, b"not the whole answer"),
    ],
    ids=["refused", "cut"],
)
def test_over_a_pipe_a_failed_answer_has_its_code_and_two_lines(chat, script, response, code, said):
    done = chat(script(response), "Why?", "never sent")
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert b"/retry" not in done.stderr


def test_an_answer_that_the_filter_withdrew_is_not_sent_back(chat, server):
    server.reply(text="bad", finish="content_filter")
    server.reply(text="good")
    done = chat(server, "Why?", "And now?")
    assert b"do not use what was printed" in done.stderr
    assert sent(server)[1] == [("user", "And now?")]


def test_the_only_model_need_not_be_named(chat, server):
    server.reply(models=["alpha"])
    server.reply(text="So.")
    assert chat(server, "Why?", args=()).returncode == 0
    assert server.requests[1].body["model"] == "alpha"


def test_over_a_pipe_a_model_must_be_named_when_there_is_a_choice(chat, server):
    server.reply(models=["alpha", "beta"])
    done = chat(server, "Why?", args=())
    assert b"has 2 models (alpha, beta)\nChoose with --model ID.\n" in done.stderr
    assert done.returncode == 22


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["chat"], 2, b"no server"),
        (["chat", "--url", "http://127.0.0.1:9", "-m", "m", "--load", "none.json"], 22, b"none.json"),
        (["chat", "--no-such-option"], 2, b"No such option"),
    ],
)
def test_what_is_put_together_wrongly_is_told(command, args, code, said):
    done = command(*args, stdin=b"Why?\n")
    assert done.returncode == code
    assert said in done.stderr


def talking(environment, server, **more):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "svir", "chat", "--url", server.url, "-m", "m"],
        env=environment,
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )


def test_a_program_can_talk_line_by_line(environment, server):
    server.reply(text="first")
    server.reply(text="second")
    with talking(environment, server) as child:
        for question, expected in ((b"one\n", b"first\n"), (b"two\n", b"second\n")):
            child.stdin.write(question)
            child.stdin.flush()
            assert child.stdout.readline() == expected
        child.stdin.close()
        assert child.wait(20) == 0


def test_ctrl_c_over_a_pipe_closes_the_connection_and_ends(environment, script):
    closed = threading.Event()
    server = script([Request(), Send(HEAD + chunk({"content": "first"})), Gone(closed)])
    with talking(environment, server) as child:
        child.stdin.write(b"Why?\n")
        child.stdin.flush()
        assert os.read(child.stdout.fileno(), 100) == b"first"
        child.send_signal(signal.SIGINT)
        assert closed.wait(10)
        _, said = child.communicate(timeout=20)
    assert said == b"svir: interrupted: the connection is closed, the answer is not whole\n"
    assert child.returncode == 130


def test_a_reader_that_goes_away_ends_it_quietly(environment, script):
    server = script(answer("first"), answer("second"))
    with talking(environment, server) as child:
        child.stdin.write(b"one\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"first\n"
        child.stdout.close()
        child.stdin.write(b"two\nthree\n")
        child.stdin.close()
        assert child.wait(20) == 141
        assert b"svir" not in child.stderr.read()


def test_the_help_fits_a_screen_and_has_an_example(command):
    lines = command("chat", "--help", COLUMNS="80").stdout.decode().splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert any(line.strip().startswith("Example: svir chat ") for line in lines)
