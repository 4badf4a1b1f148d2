from __future__ import annotations

import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svir import AttachmentError, Image, TextFile
from svir.body import Body, image_segment, text_segment
from svir.body._body import LONGEST_BLOCK
from svir.types import BytesSource

MIB = 1024 * 1024
OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture
def paths(tmp_path):
    image, text = tmp_path / "river.png", tmp_path / "notes.txt"
    image.write_bytes(bytes(range(256)) * 40)
    text.write_text('say "hi"\n\u20ac' * 400, encoding="utf-8")
    return image, text


def body_of(paths, block_bytes=300):
    image, text = paths
    segments = [b"[", image_segment(Image(image).source), b"|", text_segment(TextFile(text)), b"]"]
    return Body(segments, block_bytes=block_bytes)


def descriptors():
    return sum(1 for _ in OPEN_FILES.iterdir())


needs_proc = pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="counts open files in /proc")


def test_the_length_is_that_of_the_bytes_and_every_reading_gives_the_same(paths):
    body = body_of(paths)
    first = bytes(body)
    assert len(body) == len(first)
    assert bytes(body) == first == b"".join(body)


@given(st.integers(-5, 40))
def test_the_bytes_do_not_depend_on_the_block_size(block_bytes):
    segments = [
        b"[",
        image_segment(BytesSource(b"abcdefg" * 9)),
        text_segment(TextFile.from_text("n", '\u20ac"' * 9)),
    ]
    assert bytes(Body(segments, block_bytes=block_bytes)) == bytes(Body(segments))


def test_no_block_is_longer_than_a_mebibyte_whatever_it_is_made_of(tmp_path):
    (text := tmp_path / "control").write_bytes(b"\x01" * MIB)
    (image := tmp_path / "image").write_bytes(b"x" * 3 * MIB)
    segments = [b"y" * (3 * MIB + 1), text_segment(TextFile(text)), image_segment(Image(image).source)]
    body = Body(segments)
    sizes = [len(block) for block in body]
    assert max(sizes) <= LONGEST_BLOCK
    assert sum(sizes) == len(body) == 3 * MIB + 1 + 6 * MIB + 4 * MIB


def test_no_block_is_empty(tmp_path):
    (text := tmp_path / "wide").write_text("\u20ac", encoding="utf-8")
    (empty := tmp_path / "empty").write_bytes(b"")
    segments = [b"", text_segment(TextFile(text)), image_segment(Image(empty).source), b"."]
    assert list(Body(segments, block_bytes=3)) == ["\u20ac".encode(), b"."]


def test_in_memory_says_whether_a_disk_is_touched(paths):
    assert Body([]).in_memory
    assert Body(
        [b"x", image_segment(BytesSource(b"x")), text_segment(TextFile.from_text("n", "x"))]
    ).in_memory
    assert not body_of(paths).in_memory
    assert not Body([image_segment(Image(paths[0]).source)]).in_memory


def test_a_repr_shows_the_length_and_nothing_else():
    assert repr(Body([b"secret"])) == "Body(<6 bytes>)"


def test_an_empty_body_has_no_bytes():
    assert (len(Body([])), bytes(Body([])), list(Body([b""]))) == (0, b"", [])


def test_two_readings_in_turn_do_not_disturb_each_other(paths):
    body = body_of(paths)
    assert all(a == b for a, b in zip(body, body, strict=True))


def test_several_threads_read_one_body_at_once(paths):
    body, whole, seen = body_of(paths, 30), bytes(body_of(paths)), []
    start = threading.Barrier(4)

    def read():
        start.wait(10)
        seen.append(bytes(body))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert seen == [whole] * 4


@needs_proc
def test_an_iterator_dropped_half_way_closes_its_file(paths):
    body = body_of(paths)
    before = descriptors()
    blocks = iter(body)
    next(blocks), next(blocks)
    assert descriptors() == before + 1
    del blocks
    assert descriptors() == before


@needs_proc
def test_no_file_is_open_between_building_and_reading_or_after_an_error(paths):
    before = descriptors()
    body = body_of(paths)
    assert descriptors() == before
    bytes(body)
    assert descriptors() == before
    paths[1].write_bytes(b"")
    with pytest.raises(AttachmentError):
        bytes(body)
    assert descriptors() == before


def test_a_body_read_again_after_its_file_came_back_is_whole(paths):
    body = body_of(paths)
    whole, data = bytes(body), paths[0].read_bytes()
    paths[0].unlink()
    with pytest.raises(AttachmentError, match=r"river\.png"):
        bytes(body)
    paths[0].write_bytes(data)
    assert bytes(body) == whole


def test_a_large_file_is_read_in_constant_memory(tmp_path):
    image = tmp_path / "large.png"
    with image.open("wb") as file:
        file.truncate(64 * MIB)  # a hole: it takes no space on disk
    body = Body([b"[", image_segment(Image(image).source), b"]"])
    tracemalloc.start()
    try:
        total = sum(map(len, body))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == len(body)
    assert peak < 8 * MIB
