from __future__ import annotations

from pathlib import Path

import pytest

from svir import ConfigError, Image, TextFile
from svir.types import BytesSource, PathSource, UrlSource

NO_FILE = "no/such/river.PNG"


@pytest.mark.parametrize(
    "path", [NO_FILE, Path(NO_FILE), PathSource(NO_FILE)], ids=lambda p: type(p).__name__
)
def test_a_path_is_noted_and_nothing_is_read(path):
    assert Image(path).source == PathSource(NO_FILE)
    assert TextFile(path).source == PathSource(NO_FILE)
    assert type(Image(path).source.path) is str


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.png", "image/png"),
        ("a.JPG", "image/jpeg"),
        ("a.jpeg", "image/jpeg"),
        ("dir.gif/a.webp", "image/webp"),
        ("a.b.gif", "image/gif"),
        ("a.bmp", None),
        ("png", None),
        ("a.png/", "image/png"),
        ("", None),
    ],
)
def test_an_image_knows_its_media_type_by_its_ending(name, media_type):
    assert Image(name).media_type == media_type


def test_a_given_media_type_wins():
    assert Image("a.png", media_type="image/avif").media_type == "image/avif"


def test_images_are_made_from_bytes_and_addresses():
    assert Image.from_bytes(bytearray(b"x"), "image/png", detail="low") == Image(
        BytesSource(b"x"), media_type="image/png", detail="low"
    )
    assert Image.from_url("https://example.org", detail="auto").source == UrlSource("https://example.org")


@pytest.mark.parametrize("data", [b"x", bytearray(b"x"), memoryview(b"x")], ids=lambda d: type(d).__name__)
def test_bytes_are_kept_as_bytes_of_their_own(data):
    assert type(BytesSource(data).data) is bytes


def test_bytes_given_as_a_buffer_do_not_change_with_it():
    data = bytearray(b"abc")
    source = BytesSource(data)
    data[0] = 0
    assert source.data == b"abc"


def test_a_text_file_is_called_by_its_last_part_unless_it_is_named():
    assert TextFile("src/diff.patch").name == "diff.patch"
    assert TextFile("src/diff.patch", name="d").name == "d"
    assert TextFile("src/diff.patch", name="").name == ""


def test_text_in_memory_is_kept_as_utf8_and_needs_a_name():
    assert TextFile.from_text("n", "\u20ac").source == BytesSource(b"\xe2\x82\xac")
    with pytest.raises(ConfigError, match="name="):
        TextFile(BytesSource(b"x"))


@pytest.mark.parametrize("detail", ["", "LOW"])
def test_a_detail_is_one_of_three_words(detail):
    with pytest.raises(ConfigError, match="auto, low, high"):
        Image("a.png", detail=detail)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Image(None),
        lambda: Image(1),
        lambda: Image(b"bytes"),
        lambda: Image("a.png", media_type=1),
        lambda: Image("a.png", detail=1),
        lambda: TextFile(None),
        lambda: TextFile(UrlSource("https://example.org")),
        lambda: TextFile("a", name=1),
        lambda: TextFile("a", escaped_len="3"),
        lambda: TextFile("a", escaped_len=True),
        lambda: TextFile("a", escaped_len=1.0),
        lambda: TextFile.from_text("n", b"x"),
        lambda: BytesSource("text"),
        lambda: UrlSource(None),
        lambda: PathSource(3),
        lambda: Image.from_bytes("text", "image/png"),
        lambda: Image.from_url(b"x"),
    ],
)
def test_a_wrong_python_type_is_a_type_error(make):
    with pytest.raises(TypeError):
        make()


def test_a_negative_length_is_refused():
    with pytest.raises(ConfigError, match="escaped_len must not be negative"):
        TextFile("a", escaped_len=-1)


@pytest.mark.parametrize(
    "url", ["https://example.org/a.png", "HTTP://example.org/a.png", "data:image/png;base64,YQ=="]
)
def test_an_address_is_no_path(url):
    for make in (Image, TextFile):
        with pytest.raises(ConfigError, match=r"use Image\.from_url\(\.\.\.\)") as caught:
            make(url)
        assert url not in str(caught.value)
    assert Image.from_url(url).source.url == url
    assert Image(PathSource(url)).source.path == url
