"""Whatever is typed at any command ends with a documented exit code and one or two plain lines.

The commands and their options are those that typer knows, so that a new one is tried as well.
"""

from __future__ import annotations

import random
import re
import socket

import pytest

from tests.cli.scripted import HEAD, answer, chunk, reply
from tests.cli.test_help import COMMANDS, PAGE
from tests.support.loopback import Cut, Loopback, Request, Reset, Send

CODES = {int(code) for code in re.findall(r"^\| (\d+) \| ", PAGE.read_text("ascii"), re.MULTILINE)}
ROUNDS = 25

ODD = (
    *("", " ", "-", "--", "-1", "0", "1", "99999999999999999999", "1e9", "nan", "x" * 5000, "a\tb\nc"),
    *(
        "\x1b[2J\x07",
        "\x9b2J\u202e",
        "caf\xe9 \u65e5\U0001f600",
        "\udcff\udc80",
        "\ud800",
        "%s %d {0}",
        "[red]",
    ),
    *("/", ".", "/proc/self/mem", "/dev/null", "/dev/full", "no/such/file", "/root/\udcff", "~"),
    *(
        "http://",
        "http://[::1",
        "ftp://x",
        "http://user:pw@127.0.0.1:9",
        "http://127.0.0.1:99999",
        "http://\u65e5",
    ),
    *("low", "split", "stream", "wire_bytes=5", "wire_bytes=\u0665", "HOME", "PATH", "=", "A=B"),
)
# What an option may well be given, by what it is called in the help.
SENSIBLE = {
    "N": ("1", "7", "99999999999999999999", "-1"),
    "WORD": ("low", "split", "max"),
    "NAME=N": ("wire_bytes=1", "event_bytes=99999999", "tool_calls=0"),
    "GROUP": ("models", "stream,tools", ","),
    "NAME": ("HOME", "a-case", "Not A Case"),
    "URL": ("http://127.0.0.1:9", "http://localhost:9/v1?x=y", "https://127.0.0.1:9"),
}
STDIN = (
    b"",
    b"Why?\n",
    b"\xff\xfe\n",
    b"\x00\x1b[2J\n" * 3,
    b"/help\n/nonsense\n/file /\n/quit\n",
    b"data: {\n\n",
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of its own, without files that a command must not read or write."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def dead_url():
    """A loopback port on which nobody listens, as long as this lasts."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def plain(done, args):
    """Checks how a command ended."""
    assert done.returncode in CODES, (args, done)
    for stream in (done.stdout, done.stderr):
        assert b"Traceback" not in stream, (args, done)
    assert done.returncode != 70, (args, done)
    if done.returncode and args[0] != "probe":  # which says first what it is going to do
        lines = done.stderr.decode("utf-8").splitlines()
        if args[0] != "chat":
            assert 1 <= len(lines) <= 2, (args, done)
        assert lines[-2:][0].startswith("svir: "), (args, done)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", "\n".join(lines)), (args, done)


def odd_words(name, rng):
    """A command with some of its options and some words, all of them odd."""
    args = [name]
    for option in rng.sample(COMMANDS[name].params, rng.randint(0, min(4, len(COMMANDS[name].params)))):
        words = [word for word in option.opts if word.startswith("-")]
        if not words or "--local" in words or "--help" in words:
            continue
        args.append(rng.choice(words))
        if not option.is_flag and rng.random() < 0.97:
            args.append(rng.choice(rng.choice((ODD, SENSIBLE.get(option.metavar, ODD)))))
    takes = sum(not word.startswith("-") for option in COMMANDS[name].params for word in option.opts)
    args += rng.choices(ODD, k=takes if rng.random() < 0.8 else rng.randrange(3))
    # A server of one's own is started by other tests.
    return [*args, "--gguf", "no/such/file"] if name == "local" else args


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("name", COMMANDS)
def test_odd_words_are_answered_plainly(command, home, dead_url, name, seed):
    rng = random.Random(f"{name} {seed}")
    args = odd_words(name, rng)
    more = {"SVIR_URL": dead_url} if rng.random() < 0.7 else {}
    columns = rng.choice(("80", "1", "0", "-3", "wide"))
    plain(command(*args, stdin=rng.choice(STDIN), COLUMNS=columns, **more), args)


# What a server does before it is gone.
DYING = {
    "at once": [Cut()],
    "after the request": [Request(), Cut()],
    "by a reset": [Request(), Reset()],
    "in its head": [Request(), Send(b"HTTP/1.1 200 OK\r\ncontent-"), Cut()],
    "after its head": [Request(), Send(HEAD), Cut()],
    "in its answer": [Request(), Send(HEAD + chunk({"content": "half"})), Reset()],
    "in an event": [Request(), Send(HEAD + answer("half")[:-40]), Cut()],
    "with noise": [Request(), Send(bytes(range(256)) * 50), Cut()],
    "with noise in a stream": [Request(), Send(HEAD + bytes(range(256)) * 50), Cut()],
    "with a page": [Request(), Send(b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>\x1b[2J"), Cut()],
    "with an error of no form": [Request(), Send(reply("500 Oh", ["\u001b[2J", None])), Cut()],
}
ASKING = {
    "ask": (("ask", "-m", "m", "--url"), b"Why?"),
    "chat": (("chat", "-m", "m", "--url"), b"Why?\nAnd then?\n"),
    "models": (("models", "--url"), b""),
    "probe": (("probe", "-m", "m", "--only", "stream"), b""),
}


def test_every_command_that_asks_a_server_is_tried():
    asking = {name for name in COMMANDS if {"URL"} & {option.metavar for option in COMMANDS[name].params}}
    assert asking == set(ASKING)


@pytest.mark.parametrize("dying", DYING)
@pytest.mark.parametrize("name", ASKING)
def test_a_server_that_dies_is_told_plainly(command, home, name, dying):
    words, stdin = ASKING[name]
    with Loopback(repeat=DYING[dying]) as server:
        args = (*words, server.url)
        done = command(*args, stdin=stdin)
    plain(done, args)
    assert done.returncode != 0 or name == "probe"  # which reports what it found
