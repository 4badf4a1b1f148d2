"""Whole commands against a scripted server: as processes where that shows more."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading

import pytest

from tests.cli.scripted import HEAD, answer, chunk, reply
from tests.support.loopback import Await, Cut, Flood, Gone, Request, Send, Signal

USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
MODELS = {"data": [{"id": "alpha"}]}
NOBODY = ["ask", "--url", "http://127.0.0.1:9", "-m", "m"]


def ask(command, server, *args, **more):
    return command("ask", "--url", server.url, "-m", "m", *args, **more)


def test_the_answer_goes_to_standard_output_and_the_rest_to_standard_error(process, script):
    server = script(answer("Mean", "dering\x1b[2J.\r\n", usage=USAGE))
    done = ask(process, server, "Why?")
    assert done.stdout == b"Meandering\x1b[2J.\r\n"
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith("[finish stop; 5 tokens in; 7 out")
    assert len(lines) == 1
    assert done.returncode == 0


def test_in_one_file_the_counts_have_a_line_of_their_own(environment, script):
    server = script(answer("so"))
    with running(environment, server, stderr=subprocess.STDOUT) as child:
        assert child.communicate(timeout=20)[0].startswith(b"so\n[finish stop")


def test_every_option_is_in_the_request(command, script, tmp_path):
    server = script(answer("{}"))
    (tmp_path / "notes.txt").write_text("some notes")
    (tmp_path / "dot.png").write_bytes(b"\x89PNG")
    (tmp_path / "form.json").write_text('{"type": "object"}')
    ask(
        command,
        server,
        *("-s", "be brief", "--effort", "low", "--max-tokens", "9", "--api-key-env", "MY_KEY"),
        *("-f", str(tmp_path / "notes.txt"), "-i", str(tmp_path / "dot.png")),
        *("--json-schema", str(tmp_path / "form.json"), "Why?"),
        MY_KEY="sesame",
    )
    (asked,) = server.requests
    assert asked.line == "POST /v1/chat/completions HTTP/1.1"
    assert asked.headers["authorization"] == "Bearer sesame"
    body = json.loads(asked.body)
    assert body["model"] == "m"
    assert body["reasoning_effort"] == "low"
    assert body["max_tokens"] == 9
    assert body["response_format"]["json_schema"]["name"] == "form"
    system, user = body["messages"]
    assert system == {"role": "system", "content": "be brief"}
    text, image = user["content"]
    assert text["text"].startswith("Why?")
    assert "some notes" in text["text"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")


def test_the_url_may_come_from_the_environment_and_the_prompt_from_standard_input(process, script):
    server = script(answer("so"))
    done = process("ask", "-m", "m", stdin=b"Why?", SVIR_URL=server.url)
    assert (done.stdout, done.returncode) == (b"so", 0)
    assert json.loads(server.requests[0].body)["messages"] == [{"role": "user", "content": "Why?"}]
    assert "authorization" not in server.requests[0].headers


def test_the_only_model_of_a_server_need_not_be_named(command, script):
    server = script(reply("200 OK", MODELS), answer("so"))
    done = command("ask", "--url", server.url, "Why?")
    assert (done.stdout, done.returncode) == (b"so", 0)
    assert json.loads(server.requests[1].body)["model"] == "alpha"


@pytest.mark.parametrize(
    ("listed", "said"),
    [([], b"lists no model"), (["a", "b"], b"has 2 models (a, b)")],
)
def test_a_model_must_be_named_when_there_is_a_choice(command, script, listed, said):
    server = script(reply("200 OK", {"data": [{"id": name} for name in listed]}))
    done = command("ask", "--url", server.url, "Why?")
    assert said in done.stderr
    assert done.returncode == 22


def test_reasoning_goes_to_standard_error(command, script):
    server = script(answer("so", deltas=({"reasoning_content": "let me see"},)))
    done = ask(command, server, "Why?")
    assert done.stdout == b"so"
    assert done.stderr.startswith(b"let me see\n[finish stop")


def test_an_answer_appears_as_it_arrives(environment, script):
    go_on = threading.Event()
    first = Send(HEAD + chunk({"content": "first"}))
    second = Send(chunk({"content": ", second"}, "stop") + b"data: [DONE]\n\n")
    server = script([Request(), first, Await(go_on), second, Cut()])
    with running(environment, server) as child:
        assert os.read(child.stdout.fileno(), 100) == b"first"
        go_on.set()
        assert child.communicate(timeout=20)[0] == b", second"
        assert child.returncode == 0


@pytest.mark.parametrize(
    ("finish", "said"),
    [("length", b"it is not whole"), ("content_filter", b"do not use"), ("stop", b"")],
)
def test_how_an_answer_ended_is_said(command, script, finish, said):
    server = script(answer("so", finish=finish))
    done = ask(command, server, "Why?")
    assert f"[finish {finish}; no token counts sent".encode() in done.stderr
    assert said in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("response", "code", "said"),
    [
        (reply("401 Unauthorized", {"error": {"message": "no key"}}), 14, b'The server says: "no key"'),
        (reply("429 Too Many Requests", {}), 12, b"Wait a while"),
        (reply("503 Service Unavailable", {}), 10, b"HTTP 503"),
        (reply("504 Gateway Timeout", {}), 11, b"HTTP 504"),
        (
            reply("400 Bad Request", {"error": {"code": "context_length_exceeded", "message": "too long"}}),
            15,
            b"Shorten",
        ),
        (reply("400 Bad Request", {"error": {"code": "content_filter"}}), 16, b"filter"),
        (reply("200 OK", {"choices": []}), 19, b"not supported"),
        (HEAD + b"data: {}\n\n", 17, b"--lenient"),
        (HEAD + b'data: {"error": {"message": "out of memory"}}\n\n', 18, b'"out of memory"'),
        (HEAD + chunk({"content": "half"}), 13, b"not the whole answer"),
        (HEAD + b"data: " + b"x" * 300_000, 20, b"--raw"),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_every_kind_of_failure_has_its_code_and_two_lines(command, script, response, code, said):
    server = script(response)
    done = ask(command, server, "Why?")
    assert done.returncode == code, done
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("status", "args", "lines"),
    [
        (
            "401 Unauthorized",
            [],
            [
                "svir: the server refused the credentials: HTTP 401: it wants a key",
                "Name the environment variable that holds the key: --api-key-env NAME.",
            ],
        ),
        (
            "401 Unauthorized",
            ["--api-key-env", "MY_KEY"],
            [
                "svir: the server refused the credentials: HTTP 401: the key was not accepted",
                "Check SVIR_KEY, or what --api-key-env or --header names: is it this server's key?",
            ],
        ),
        (
            "404 Not Found",
            [],
            [
                "svir: not supported: HTTP 404: no such path or model (--url: URL)",
                "Check the URL and the model: `svir models` lists the models.",
            ],
        ),
    ],
    ids=["no key", "a wrong key", "a wrong path"],
)
def test_a_refusal_is_told_with_the_commands_options(command, script, status, args, lines):
    server = script(reply(status, {}))
    done = ask(command, server, *args, "Why?", MY_KEY="sesame")
    assert done.stderr.decode().replace(server.url, "URL").splitlines() == lines


def test_a_failure_inside_the_stream_is_not_told_to_be_tried_again(command, script):
    done = ask(command, script(HEAD + b'data: {"error": {"message": "out of memory"}}\n\n'), "Why?")
    assert b"rying again" not in done.stderr
    assert done.returncode == 18


def test_what_came_before_a_failure_is_printed(command, script):
    server = script(HEAD + chunk({"content": "half"}))
    assert ask(command, server, "Why?").stdout == b"half"


def test_no_server_at_all_is_a_transport_failure(process):
    done = process("ask", "--url", "http://127.0.0.1:9", "-m", "m", "Why?")
    assert done.returncode == 10
    assert b"Does the server run" in done.stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["ask", "Why?"], 2, b"no server is named\nGive --url URL, set SVIR_URL, or try --local."),
        (["models"], 2, b"no server is named"),
        (["ask", "--url", "http://192.0.2.1", "-m", "m", "Why?"], 2, b"--allow-http"),
        (["ask", "--url", "ftp://x", "-m", "m", "Why?"], 2, b"--url: the URL must begin with http://"),
        ([*NOBODY, "--api-key-env", "SVIR_NONE", "Why?"], 22, b"variable SVIR_NONE (--api-key-env)"),
        (NOBODY, 2, b"there is no prompt\nGive one"),
        ([*NOBODY, "-f", "-", "-"], 2, b"standard input is named twice"),
        ([*NOBODY, "-f", "-", "-f", "-", "Why?"], 2, b"standard input is named twice"),
        ([*NOBODY, "--path", "x", "Why?"], 2, b"--path must start with /"),
        ([*NOBODY, "--json-schema", "none.json", "Why?"], 22, b"the schema 'none.json' cannot be read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_put_together_wrongly_is_told(command, args, code, said):
    done = command(*args)
    assert done.returncode == code
    assert said in done.stderr
    assert b"configuration" not in done.stderr
    assert b"--help" not in done.stderr or code == 22
    assert len(done.stderr.splitlines()) == 2


LOCAL = ("--local", "--url", "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("args", "pair"),
    [
        ([*NOBODY, "--raw", "--json-schema", "s.json", "Why?"], "--raw and --json-schema"),
        ([*NOBODY, "--raw", "--lenient", "Why?"], "--raw and --lenient"),
        (["ask", *LOCAL, "Why?"], "--local and --url"),
        (["chat", *LOCAL], "--local and --url"),
        (["models", *LOCAL], "--local and --url"),
        (["probe", *LOCAL], "--local and --url"),
        (["probe", "--local", "http://127.0.0.1:9"], "--local and URL"),
        (["ask", "--gguf", "no.gguf", "--url", "http://127.0.0.1:9", "Why?"], "--gguf and --url"),
        (["ask", "--local", "--api-key-env", "HOME", "Why?"], "--local and --api-key-env"),
        (["probe", "http://127.0.0.1:9", "--json", "-v"], "--json and --verbose"),
        (["decode", "x", "--to-case", "a-b", "--lenient"], "--to-case and --lenient"),
        (["decode", "x", "--every-cut", "--merge"], "--every-cut and --merge"),
        (["decode", "x", "--every-cut", "--chunk", "1"], "--every-cut and --chunk"),
    ],
)
def test_options_that_exclude_each_other_are_wrong_usage(command, args, pair):
    done = command(*args, SVIR_URL="http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (2, b"")
    first, _ = done.stderr.decode().splitlines()
    assert first.startswith(f"svir: {pair} exclude each other")


def test_an_attachment_that_cannot_be_read_is_told_by_its_own_name(command):
    done = command("ask", "--url", "http://127.0.0.1:9", "-m", "m", "-f", "/nowhere/none.txt", "Why?")
    assert done.returncode == 21
    assert b"none.txt" in done.stderr
    assert b"/nowhere" not in done.stderr


def test_wrong_usage_has_code_2(command):
    assert command("ask", "--no-such-option").returncode == 2
    assert command("ask", "--max-tokens", "0", "Why?").returncode == 2
    assert command("ask", "--effort", "huge", "Why?").returncode == 2
    assert command("nonsense").returncode == 2


def test_lenient_reads_what_strict_refuses(command, script):
    stray = answer("so", deltas=({"surprise": 1},))
    server = script(stray, stray)
    assert ask(command, server, "Why?").returncode == 19
    assert ask(command, server, "--lenient", "Why?").stdout == b"so"


def test_raw_prints_the_servers_bytes(process, script):
    response = answer("so", usage=USAGE)
    server = script(response)
    done = ask(process, server, "--raw", "Why?")
    assert done.stdout == response.partition(b"\r\n\r\n")[2]
    assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("text", "finish", "code"), [('{"a": 1}', "stop", 0), ("so", "stop", 23), ('{"a": 1}', "length", 23)]
)
def test_an_answer_to_a_schema_must_be_whole_and_json(command, script, tmp_path, text, finish, code):
    (tmp_path / "s.json").write_text("{}")
    server = script(answer(text, finish=finish))
    done = ask(command, server, "--json-schema", str(tmp_path / "s.json"), "Why?")
    assert done.stdout == text.encode()
    assert done.returncode == code


def test_models_are_listed_one_a_line(command, script):
    server = script(reply("200 OK", {"data": [{"id": "alpha"}, {"id": "beta", "name": "Beta"}]}))
    done = command("models", "--url", server.url)
    assert (done.stdout, done.stderr, done.returncode) == (b"alpha\nbeta\n", b"", 0)


def running(environment, server, **more) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "svir", "ask", "--url", server.url, "-m", "m", "Why?"],
        env=environment,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )


def test_ctrl_c_closes_the_connection_and_says_so(environment, script):
    closed = threading.Event()
    server = script([Request(), Send(HEAD + chunk({"content": "first"})), Gone(closed)])
    with running(environment, server) as child:
        assert os.read(child.stdout.fileno(), 100) == b"first"
        child.send_signal(signal.SIGINT)
        assert closed.wait(10)
        _, said = child.communicate(timeout=20)
    assert said == b"svir: interrupted: the connection is closed, the answer is not whole\n"
    assert child.returncode == 130


def test_a_reader_that_goes_away_ends_the_command_quietly(environment, script):
    closed = threading.Event()
    flood = Flood(chunk({"content": "more " * 1000}))
    server = script([Request(), Send(HEAD), flood, Signal(closed)])
    with running(environment, server) as child:
        assert os.read(child.stdout.fileno(), 4) == b"more"
        child.stdout.close()
        assert child.wait(20) == 141
        assert child.stderr.read() == b""
    assert closed.wait(10)


def test_a_terminal_shows_no_control_characters_of_the_model(environment, script):
    server = script(answer("\x1b]0;x\x07so\x9b2J"))
    ours, theirs = pty.openpty()
    with running(environment, server, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 20)[0]:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        assert child.wait(20) == 0
    os.close(ours)
    assert shown.decode().splitlines()[0] == "]0;xso2J"
    assert "\x1b" not in shown.decode()


def test_importing_svir_imports_nothing_of_the_command_line(environment):
    heavy = ("typer", "rich", "svir.cli", "h11", "ssl")
    code = f"import sys, svir; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout == b"[]\n"


@pytest.mark.parametrize("name", ["typer", "rich"])
def test_a_missing_extra_is_one_line_with_the_command(environment, name):
    code = (
        "import importlib.util, svir.cli\n"
        "find = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda wanted: None if wanted == {name!r} else find(wanted)\n"
        "svir.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert done.returncode == 22
    assert done.stderr == f"svir: {name} is missing, install it with: pip install 'svir[cli]'\n".encode()


def test_json_is_what_the_server_was_asked_with(command, script):
    """The body has nothing that was not asked for, but for the token counts (D21)."""
    server = script(answer("so"))
    ask(command, server, "Why?")
    assert json.loads(server.requests[0].body) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "Why?"}],
    }
