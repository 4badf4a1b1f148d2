from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir import AttachmentError, Image, TextFile
from svir.body import Body, escaped_len, image_segment, text_segment
from svir.types import BytesSource

EVERY_BYTE = "".join(map(chr, range(0x100)))
WIDE = '\u00e9"\\\n\u20ac\U0001f600\x7f\u2028\x00'


def as_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()[1:-1]


def sent(segment, block=6) -> bytes:
    data = b"".join(segment.blocks(block))
    assert segment.length == len(data)
    return data


@pytest.mark.uncounted
@given(st.text(), st.integers(1, 9))
def test_text_is_escaped_as_json_does_whatever_the_block_size(text, thirds):
    assert sent(text_segment(TextFile.from_text("n", text)), 3 * thirds) == as_json(text)


@given(st.binary(max_size=200), st.integers(1, 9))
def test_an_image_is_base64_whatever_the_block_size(data, thirds):
    assert sent(image_segment(BytesSource(data)), 3 * thirds) == base64.b64encode(data)


@pytest.mark.parametrize("block", [3, 6, 9, 48 * 1024])
def test_files_on_disk_are_written_like_those_in_memory(tmp_path, block):
    data = (EVERY_BYTE + WIDE * 7).encode()
    (path := tmp_path / "a").write_bytes(data)
    assert sent(text_segment(TextFile(path)), block) == as_json(data.decode())
    assert sent(image_segment(Image(path).source), block) == base64.b64encode(data)


def test_the_escaped_length_is_that_of_the_json():
    assert escaped_len(EVERY_BYTE.encode()) == len(as_json(EVERY_BYTE))


@given(st.text(), st.integers(0, 50))
def test_escaped_lengths_add_up_over_any_cut(text, cut):
    data = text.encode()
    assert escaped_len(data[:cut]) + escaped_len(data[cut:]) == len(as_json(text))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_the_escaped_length_takes_any_bytes_beyond_one_block(kind):
    assert escaped_len(kind(b'"a\x01' * 500_000)) == 500_000 * (2 + 1 + 6)


@pytest.mark.parametrize(
    "data",
    [b"\xff", b"\xc3", b"ok \xe2\x82", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"a\x80b"],
    ids=["ff", "cut-2", "cut-3", "surrogate", "overlong", "too-high", "continuation"],
)
@pytest.mark.parametrize("block", [3, 6, 1024])
def test_text_that_is_not_utf8_fails_when_it_is_measured(tmp_path, data, block):
    (path := tmp_path / "notes.txt").write_bytes(data)
    for file in (TextFile(path), TextFile(BytesSource(data), name="notes.txt")):
        with pytest.raises(AttachmentError, match=r"'notes\.txt' is not UTF-8") as caught:
            text_segment(file, block_bytes=block)
        assert caught.value.__context__ is None


@pytest.mark.parametrize("block", [3, 6, 1024])
def test_text_that_is_not_utf8_fails_while_it_is_sent_when_its_length_was_declared(tmp_path, block):
    (path := tmp_path / "notes.txt").write_bytes(b"ok \xff")
    segment = text_segment(TextFile(path, escaped_len=4))
    with pytest.raises(AttachmentError, match=r"'notes\.txt' is not UTF-8"):
        sent(segment, block)


def test_a_character_cut_off_by_the_end_fails_though_its_length_fits(tmp_path):
    (path := tmp_path / "notes.txt").write_bytes(b'"\xc3')
    segment = text_segment(TextFile(path, escaped_len=2))
    with pytest.raises(AttachmentError, match="UTF-8"):
        list(segment.blocks(3))


def test_a_declared_length_spares_the_measuring_read(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"12345")
    segment = text_segment(TextFile(path, escaped_len=6))
    path.write_bytes(b'123"5')  # measured at build time, this would have been the other content
    assert sent(segment) == b'123\\"5'


@pytest.mark.parametrize("declared", [0, 4, 31])
def test_a_declared_length_no_text_of_that_size_has_fails_at_once(tmp_path, declared):
    (path := tmp_path / "notes.txt").write_bytes(b"12345")
    with pytest.raises(AttachmentError, match="declared"):
        text_segment(TextFile(path, escaped_len=declared))


@pytest.mark.parametrize("declared", [6, 30])
def test_a_wrong_declared_length_fails_while_the_file_is_sent(tmp_path, declared):
    (path := tmp_path / "notes.txt").write_bytes(b"12345")
    segment = text_segment(TextFile(path, escaped_len=declared))
    handed = bytearray()
    with pytest.raises(AttachmentError, match=r"'notes\.txt' does not encode to the length"):
        for block in segment.blocks(3):
            handed += block
    assert len(handed) <= declared


def test_text_in_memory_is_measured_whatever_was_declared():
    file = TextFile(BytesSource(b"12345"), name="n", escaped_len=6)
    with pytest.raises(AttachmentError, match="declared"):
        text_segment(file)
    assert text_segment(TextFile(BytesSource(b'1"'), name="n", escaped_len=3)).length == 3


def test_text_whose_escaped_length_grew_never_passes_what_was_declared(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"x" * 90)
    segment = text_segment(TextFile(path))
    path.write_bytes(b"x" * 60 + b'"' * 30)
    handed = bytearray()
    with pytest.raises(AttachmentError, match="does not encode"):
        for block in segment.blocks(30):
            handed += block
    assert bytes(handed) == b"x" * 60


def test_text_whose_escaped_length_shrank_fails(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b'"' * 9)
    segment = text_segment(TextFile(path))
    path.write_bytes(b"x" * 9)
    with pytest.raises(AttachmentError, match="does not encode"):
        list(segment.blocks(3))


def test_an_empty_attachment_is_written_as_nothing(tmp_path):
    (path := tmp_path / "empty").write_bytes(b"")
    for segment in (
        text_segment(TextFile(path)),
        image_segment(Image(path).source),
        text_segment(TextFile.from_text("n", "")),
        image_segment(BytesSource(b"")),
    ):
        assert segment.length == 0
        assert bytes(Body([segment])) == b""
