from __future__ import annotations

import io
import os
import pickle
import traceback

import pytest

from svir import AttachmentError, Image, TextFile
from svir.body import image_segment, text_segment
from svir.body._content import _read
from svir.types import PathSource

BLOCK = 3


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "river.png"
    path.write_bytes(b"0123456")
    return path


def read(segment):
    """The blocks handed out, and the error after them."""
    blocks = []
    try:
        blocks.extend(segment.blocks(BLOCK))
    except AttachmentError as error:
        return blocks, error
    return blocks, None


def change(path, how):
    match how:
        case "vanished":
            path.unlink()
        case "became a directory":
            path.unlink()
            path.mkdir()
        case "became a pipe":
            path.unlink()
            os.mkfifo(path)
        case "unreadable":
            path.unlink()
            path.symlink_to(path)
        case "grew":
            path.write_bytes(b"01234567")
        case "shrank":
            path.write_bytes(b"012345")
        case "emptied":
            path.write_bytes(b"")


CHANGES = {
    "vanished": "cannot be read (No such file or directory)",
    "became a directory": "",
    "became a pipe": "is no regular file",
    "unreadable": "cannot be read (Too many levels of symbolic links)",
    "grew": "is longer than it was measured",
    "shrank": "is shorter than it was measured",
    "emptied": "is shorter than it was measured",
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("kind", ["image", "text", "declared"])
def test_a_file_that_changed_before_it_is_sent_fails_and_names_itself_only(image, kind, how):
    segment = {
        "image": lambda: image_segment(Image(image).source),
        "text": lambda: text_segment(TextFile(image)),
        "declared": lambda: text_segment(TextFile(image, escaped_len=7)),
    }[kind]()
    change(image, how)
    blocks, error = read(segment)
    assert str(error).startswith("an attachment cannot be sent: 'river.png' ")
    assert CHANGES[how] in str(error)
    assert sum(map(len, blocks)) <= segment.length
    assert not error.retryable


@pytest.mark.parametrize("how", ["vanished", "became a directory", "became a pipe", "unreadable"])
@pytest.mark.parametrize(
    "measure", [lambda p: image_segment(PathSource(p)), lambda p: text_segment(TextFile(p))]
)
def test_what_cannot_be_measured_fails_when_the_body_is_built(image, measure, how):
    change(image, how)
    with pytest.raises(AttachmentError, match="river") as caught:
        measure(image)
    shown = "".join(traceback.format_exception_only(caught.value)) + repr(caught.value.__dict__)
    assert str(image.parent) not in shown
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert str(image.parent).encode() not in pickle.dumps(caught.value)


def test_a_directory_is_no_attachment(tmp_path):
    (folder := tmp_path / "photos").mkdir()
    for measure in (image_segment, lambda source: text_segment(TextFile(source))):
        with pytest.raises(AttachmentError, match="'photos' is no regular file"):
            measure(PathSource(folder))


@pytest.mark.parametrize("path", ["a\0b", "\udcff\ud800"])
def test_a_path_the_system_cannot_take_is_an_attachment_error(path):
    with pytest.raises(AttachmentError, match="path is not valid"):
        image_segment(PathSource(path))


def test_a_text_file_is_called_by_the_name_it_was_given(tmp_path):
    with pytest.raises(AttachmentError, match=r"'plan\.md' cannot be read"):
        text_segment(TextFile(tmp_path / "x81.tmp", name="plan.md"))


def test_a_name_in_an_error_can_be_printed_and_is_short(tmp_path):
    with pytest.raises(AttachmentError) as caught:
        text_segment(TextFile(tmp_path / "x", name="\ud800\n\x1b[31m" + "y" * 5000))
    str(caught.value).encode()
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_file_that_grew_hands_out_less_than_the_whole(image):
    segment = image_segment(Image(image).source)
    change(image, "grew")
    blocks, _ = read(segment)
    assert sum(map(len, blocks)) < segment.length


def test_a_file_that_grows_while_it_is_read_fails(image):
    segment = image_segment(Image(image).source)
    blocks = segment.blocks(BLOCK)
    next(blocks)
    with image.open("ab") as file:
        file.write(b"more")
    with pytest.raises(AttachmentError, match="longer"):
        list(blocks)


def test_a_file_that_shrinks_while_it_is_read_fails(image):
    segment = image_segment(Image(image).source)
    blocks = segment.blocks(BLOCK)
    next(blocks)
    os.truncate(image, 4)
    with pytest.raises(AttachmentError, match="shorter"):
        list(blocks)


def test_a_read_that_gives_less_than_asked_for_is_continued(image):
    class Slow(io.FileIO):  # as network file systems do
        def read(self, size=-1):
            return super().read(min(size, 2))

    with Slow(image) as file:
        assert _read(file, 5, "x") == b"01234"
        assert _read(file, 9, "x") == b"56"
        assert _read(file, 9, "x") == b""


def test_a_read_that_fails_is_an_attachment_error(image):
    with io.FileIO(image) as file:
        folder = os.open(image.parent, os.O_RDONLY)
        os.dup2(folder, file.fileno())
        os.close(folder)
        with pytest.raises(
            AttachmentError, match=r"^[^/]*'river' cannot be read \(Is a directory\)$"
        ) as caught:
            _read(file, 5, "'river'")
    assert caught.value.__context__ is None
