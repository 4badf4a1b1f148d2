"""What a chat reads from disk, and writes there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import svir
from svir import Request, user
from svir.cli._refused import RefusedError
from svir.cli.chat import _files
from svir.cli.chat._files import as_path, load, read_image, read_text_file, save


@pytest.mark.parametrize(
    "typed", ["{}/my notes.txt", "'{}/my notes.txt'", '"{}/my notes.txt"', "{}/my\\ notes.txt"]
)
def test_a_path_is_read_as_it_is_or_as_a_terminal_quotes_it(tmp_path, typed):
    (tmp_path / "my notes.txt").touch()
    assert as_path(typed.format(tmp_path)) == tmp_path / "my notes.txt"


def test_a_path_with_quotes_of_its_own_is_found(tmp_path):
    (tmp_path / "'quoted'").touch()
    assert as_path(f"{tmp_path}/'quoted'") == tmp_path / "'quoted'"


def test_a_tilde_is_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert as_path("~/notes.txt") == tmp_path / "notes.txt"


@pytest.mark.parametrize("typed", ["~nobody-by-this-name/x", "it's", "nul\0", "x" * 5000])
def test_what_is_no_path_fails_when_it_is_read(typed):
    with pytest.raises(RefusedError, match="cannot be read"):
        read_text_file(as_path(typed))


def test_an_attachment_has_the_content_of_the_moment(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("before")
    part = read_text_file(path)
    path.write_text("after")
    assert part == svir.TextFile.from_text("notes.txt", "before")


def test_an_image_has_the_type_that_its_name_tells(tmp_path):
    (tmp_path / "a.JPG").write_bytes(b"\xff\xd8")
    assert read_image(tmp_path / "a.JPG") == svir.Image.from_bytes(b"\xff\xd8", "image/jpeg")


@pytest.mark.parametrize(
    ("name", "content", "read", "said"),
    [
        ("none.txt", None, read_text_file, "cannot be read: No such file"),
        ("none.png", None, read_image, "cannot be read: No such file"),
        ("latin.txt", b"caf\xe9", read_text_file, "is not UTF-8 text"),
        ("a.bmp", b"BM", read_image, "no image by its name"),
        ("long.txt", b"123456", read_text_file, "larger than 5 bytes, all that a chat keeps"),
        ("", None, read_text_file, "cannot be read: Is a directory"),
    ],
    ids=["no file", "no image", "not text", "unknown image", "too large", "directory"],
)
def test_what_cannot_be_attached_is_told(tmp_path, monkeypatch, name, content, read, said):
    monkeypatch.setattr(_files, "TEXT_BYTES", 5)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RefusedError, match=said) as refused:
        read(tmp_path / name)
    assert refused.value.code == 21


def test_no_more_is_read_than_a_chat_keeps_though_a_file_says_that_it_is_empty(monkeypatch):
    monkeypatch.setattr(_files, "TEXT_BYTES", 5)
    with pytest.raises(RefusedError, match="larger than 5 bytes, all that a chat keeps"):
        read_text_file(Path("/proc/self/status"))


def test_what_could_not_be_loaded_again_is_not_stored(tmp_path, monkeypatch):
    save(tmp_path / "short.json", Request("m", messages=[user("Why?")]))
    most = (tmp_path / "short.json").stat().st_size
    monkeypatch.setattr(_files, "CONVERSATION_BYTES", most)
    load(tmp_path / "short.json")
    save(tmp_path / "short.json", Request("m", messages=[user("Why?")]), overwrite=True)
    longer = Request("m", messages=[user("Why??")])
    with pytest.raises(RefusedError, match=f"'long.json' would be larger than {most} bytes"):
        save(tmp_path / "long.json", longer)
    assert not (tmp_path / "long.json").exists()
    monkeypatch.setattr(_files, "CONVERSATION_BYTES", most - 1)
    with pytest.raises(RefusedError, match=f"'short.json' is larger than {most - 1} bytes"):
        load(tmp_path / "short.json")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RefusedError, match="no regular file"):
        read_text_file(tmp_path / "pipe")


def test_a_conversation_is_stored_in_the_serialized_form(tmp_path):
    request = Request("m", system="be brief", messages=[user("Why?"), svir.assistant("Because. \u2713")])
    save(tmp_path / "talk.json", request)
    text = (tmp_path / "talk.json").read_bytes()
    assert json.loads(text) == svir.to_dict(request)
    assert text.endswith(b"}\n")
    assert load(tmp_path / "talk.json").conversation == request


def test_a_conversation_that_another_implementation_stored_is_read(tmp_path):
    stored = """{"model": "qwen3-27b", "reasoning": "off", "made_by": "another one", "messages": [
        {"role": "user",
         "parts": [{"text": "What?"}, {"file": {"name": "a.txt", "bytes": "c29tZSB0ZXh0"}}]},
        {"role": "assistant",
         "parts": [{"reasoning": {"source": "think", "text": "hm"}}, {"text": "So."}]}]}"""
    (tmp_path / "talk.json").write_text(stored)
    assert load(tmp_path / "talk.json").conversation == Request(
        "qwen3-27b",
        effort="none",
        messages=[
            user("What?", svir.TextFile.from_text("a.txt", "some text")),
            svir.assistant(svir.Reasoning("think", "hm"), "So."),
        ],
    )


def test_a_list_of_messages_is_a_conversation_as_well(tmp_path):
    (tmp_path / "talk.json").write_text('[{"role": "user", "parts": [{"text": "Why?"}]}]')
    assert load(tmp_path / "talk.json").conversation == (user("Why?"),)


def test_files_that_a_stored_conversation_names_are_read_and_told(tmp_path):
    (tmp_path / "notes.txt").write_text("some notes")
    (tmp_path / "scan").write_bytes(b"\x89PNG")
    parts = (
        "What?",
        svir.TextFile(tmp_path / "notes.txt", name="n"),
        svir.Image(tmp_path / "scan", media_type="image/png"),
    )
    save(tmp_path / "talk.json", Request("m", messages=[user(*parts)]))
    stored = load(tmp_path / "talk.json")
    assert stored.paths == (str(tmp_path / "notes.txt"), str(tmp_path / "scan"))
    assert stored.conversation.messages == (
        user(
            "What?",
            svir.TextFile.from_text("n", "some notes"),
            svir.Image.from_bytes(b"\x89PNG", "image/png"),
        ),
    )


def test_a_stored_conversation_whose_file_is_gone_is_refused(tmp_path):
    save(tmp_path / "talk.json", Request("m", messages=[user("What?", svir.TextFile(tmp_path / "gone.txt"))]))
    with pytest.raises(RefusedError, match=r"gone\.txt"):
        load(tmp_path / "talk.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no JSON", "no conversation"),
        (b"\xff\xfe", "no conversation"),
        (b'"text"', "no conversation"),
        (b"{}", "neither a request nor a list"),
        (b'{"messages": [{"role": "narrator"}]}', r"\$\.messages\[0\]"),
        (b'[{"role": "user", "parts": [{"video": "a.mp4"}]}]', r"\$\[0\]\.parts\[0\]"),
        (b'[{"role": "user", "content": "Why?"}]', r"\$\[0\] has 'content', .* docs/migrating\.md"),
        (b"[" * 100_000, "no conversation"),
    ],
    ids=["text", "bytes", "a string", "nothing", "role", "part", "of the wire", "depth"],
)
def test_what_is_no_conversation_is_told(tmp_path, content, said):
    (tmp_path / "talk.json").write_bytes(content)
    with pytest.raises(RefusedError, match=said) as refused:
        load(tmp_path / "talk.json")
    assert refused.value.code == 22


def test_what_is_overwritten_stays_until_all_of_the_new_one_is_there(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text("old")
    before = path.stat().st_ino
    save(path, Request("m"), overwrite=True)
    assert load(path).conversation == Request("m")
    assert path.stat().st_ino != before
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_not_overwritten(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RefusedError, match="no regular file") as refused:
        save(tmp_path / "pipe", Request("m"), overwrite=True)
    assert refused.value.code == 22


def test_what_cannot_be_written_is_told(tmp_path):
    with pytest.raises(RefusedError, match="cannot be written: No such file"):
        save(tmp_path / "none" / "talk.json", Request("m"))
