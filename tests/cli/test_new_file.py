"""A file that is there as a whole, or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from svir.cli._new_file import NewFile
from svir.cli._refused import RefusedError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_file_has_its_name_when_all_of_it_is_there(tmp_path):
    path = tmp_path / "page.html"
    with NewFile(path) as file:
        assert not path.exists()
        file.put("a\nb \u2713")
        assert path.read_bytes() == b"a\nb \xe2\x9c\x93"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_there_stays_until_then_and_when_nothing_is_put(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with NewFile(path):
        assert path.read_text() == "old"
    with pytest.raises(KeyboardInterrupt), NewFile(path):
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_heeds_the_umask_and_a_replaced_one_keeps_its_permissions(tmp_path):
    private, new = tmp_path / "private.html", tmp_path / "new.html"
    private.write_text("old")
    private.chmod(0o600)
    before = os.umask(0o027)
    try:
        for path in (private, new):
            with NewFile(path) as file:
                file.put("new")
    finally:
        os.umask(before)
    assert (mode(private), mode(new)) == (0o600, 0o640)


def test_a_file_is_written_where_files_have_no_permissions_of_their_own(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr(os, "fchmod", refuse)
    with NewFile(path) as file:
        file.put("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def link(path: Path) -> None:
    (path.parent / "elsewhere").write_text("mine")
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "make",
    [link, lambda path: path.symlink_to("nowhere"), Path.mkdir, os.mkfifo],
    ids=["link", "dangling link", "folder", "pipe"],
)
def test_only_a_regular_file_is_replaced(tmp_path, make):
    path = tmp_path / "page.html"
    make(path)
    there = sorted(tmp_path.iterdir())
    with pytest.raises(RefusedError, match=r"^the file 'page\.html' cannot"):
        NewFile(path)
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing/page.html", r"'page\.html' cannot be written: No such file or directory"),
        (".", "no regular file"),
        ("/dev/null", "'null' cannot be written: what is there is no regular file"),
        ("-", "'-' cannot be written: give it a name"),
    ],
)
def test_a_place_for_no_file_is_said_at_once(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError, match=said) as caught:
        NewFile(Path(name))
    assert caught.value.__context__ is None
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_goes_away_meanwhile_is_said_and_leaves_nothing(tmp_path):
    path = tmp_path / "page.html"
    with NewFile(path) as file:
        path.mkdir()
        with pytest.raises(RefusedError, match="cannot be written"):
            file.put("text")
    assert list(tmp_path.iterdir()) == [path]
