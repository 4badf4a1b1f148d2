"""`svir probe` as it is typed, against servers that behave and servers that do not."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys

import msgspec
import pytest

from svir.cli.probe._report import Report, Verdict
from tests.cli.probe.servers import refused, reply_json, serving, text


def probed(command, url, *args, **more) -> Report:
    done = command("probe", url, "--json", *args, **more)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout, type=Report)


def verdicts(report: Report) -> dict[str, Verdict]:
    return {row.id: row.verdict for row in report.rows}


def test_a_server_that_keeps_to_the_documents_is_all_right(command):
    with serving() as server:
        report = probed(command, server.url, "--only", "models,stream,usage,finish")
    odd = {row: verdict for row, verdict in verdicts(report).items() if verdict is not Verdict.OK}
    assert odd == {"stream.pieces": Verdict.UNCLEAR}  # so short an answer is over at once
    assert report.requests == len(server.requests)
    assert report.call == f"svir.Client.openai('{server.url}', model='m')"


def test_the_report_for_a_pipe_is_plain_and_fits_80_columns(process):
    with serving() as server:
        done = process("probe", server.url, "--only", "models", "--only", "stream", COLUMNS="300")
    lines = done.stdout.decode("ascii").splitlines()
    assert max(map(len, lines)) <= 80
    assert "  ok  done          Ends with [DONE]." in lines
    assert lines[-1] == f"svir.Client.openai('{server.url}', model='m')"
    assert b"svir probe: at most " in done.stderr
    assert done.returncode == 0


def test_help_fits_a_small_terminal(command):
    lines = command("probe", "--help", COLUMNS="80").stdout.decode().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert any("svir probe http" in line for line in lines)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("http://127.0.0.1:9",), 10, b"connect"),
        (("http://example.org",), 2, b"--allow-http"),
        (("no-url",), 2, b"must begin with http"),
        ((), 2, b"no server is named"),
        (("http://127.0.0.1:9", "--only", "nonsense"), 2, b"--only has no group 'nonsense'"),
        (("http://127.0.0.1:9", "--api-key-env", "NOT_SET"), 22, b"NOT_SET"),
    ],
)
def test_what_cannot_be_probed_ends_with_the_code_of_its_kind(command, args, code, said):
    done = command("probe", *args)
    assert said in done.stderr
    assert done.stdout == b""
    assert done.returncode == code


def test_a_server_that_wants_a_key_is_not_asked_on_and_on(command):
    no = refused("401 Unauthorized", "who are you?")
    with serving(models=reply_json({}), bare=no, completion=no) as server:
        done = command("probe", server.url, "-m", "m")
    assert done.returncode == 14
    assert b"--api-key-env" in done.stderr
    assert len(server.requests) <= 4


def test_a_model_must_be_named_when_there_is_a_choice(command):
    listing = {"data": [{"id": "a"}, {"id": "b"}]}

    with serving(models=reply_json(listing)) as server:
        assert b"has 2 models (a, b)" in command("probe", server.url).stderr
        assert verdicts(probed(command, server.url, "-m", "b", "--only", "models")) == {
            "models.list": Verdict.OK
        }
        odd = probed(command, server.url, "-m", "c", "--only", "models")
    assert verdicts(odd) == {"models.list": Verdict.DIFFERENT}


def test_a_server_that_wants_the_newer_limit_and_no_stream_options_is_asked_so(command):
    with serving(bare=refused(message="no"), plain=refused(message="no")) as server:
        report = probed(command, server.url, "--only", "usage,finish")
    found = verdicts(report)
    assert found["usage.asked"] is Verdict.UNSUPPORTED
    assert found["finish.stop"] is Verdict.OK
    assert "include_usage=False" in report.call


def test_a_key_that_the_server_repeats_is_never_shown(command):
    key = "sk-abcdefgh-0123456789"

    said = refused(message=f"denied for {key} and {key[:-4]}", param=key)
    with serving(plain=said, lean=said, auto=said, image=text(key)) as server:
        done = command("probe", server.url, "--api-key-env", "MY_KEY", "-v", MY_KEY=key)
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"
    assert b"denied for <key>" in done.stdout
    assert key[:12].encode() not in done.stdout + done.stderr


def test_a_bar_moves_on_standard_error_only_where_that_is_a_terminal(environment):
    with serving() as server:
        args = [
            sys.executable,
            "-W",
            "error",
            "-m",
            "svir",
            "probe",
            server.url,
            "--only",
            "models",
            "--json",
        ]
        here, there = pty.openpty()
        with os.fdopen(here, "rb", buffering=0) as terminal:
            child = subprocess.Popen(
                args, stdout=subprocess.PIPE, stderr=there, env={**environment, "TERM": "xterm"}
            )
            os.close(there)
            shown = b""
            while select.select([terminal], [], [], 20)[0]:
                try:
                    shown += os.read(here, 65536)
                except OSError:  # how a terminal says that nobody writes to it any more
                    break
            printed = child.communicate(timeout=20)[0]
    assert b"at most 8 requests" in shown
    assert b"/4" in shown
    assert msgspec.json.decode(printed, type=Report).requests == 3


@pytest.mark.parametrize("options", [[], ["--json"], ["-v"]])
def test_nobody_reads_the_report_any_more(environment, options):
    reading, unread = os.pipe()
    os.close(reading)
    with serving() as server, os.fdopen(unread, "wb") as nowhere:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "svir", "probe", server.url, "--only", "models", *options],
            env=environment,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 141
    assert b"at most" in done.stderr
