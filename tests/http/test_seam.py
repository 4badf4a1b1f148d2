from __future__ import annotations

import pytest

from svir.http import Headers, HttpRequest, Origin, Secret


class TestSecret:
    def test_it_shows_itself_to_no_one(self):
        secret = Secret("sk-1")
        shown = [repr(secret), str(secret), f"{secret}", *map(str, secret.__rich_repr__())]
        assert not any("sk-1" in text for text in shown)
        assert secret.reveal() == "sk-1"

    def test_it_is_compared_by_value(self):
        assert Secret("a") == Secret("a")
        assert Secret("a") != Secret("b")
        assert Secret("a") != "a"
        assert len({Secret("a"), Secret("a")}) == 1


class TestHeaders:
    def test_names_are_found_in_any_case_and_joined(self):
        headers = Headers([("A", "1"), ("b", "2"), ("a", "3")])
        assert headers.get("A") == "1, 3"
        assert headers.get("c") is None
        assert "B" in headers
        assert "c" not in headers
        assert 1 not in headers
        assert list(headers) == [("a", "1"), ("b", "2"), ("a", "3")]
        assert len(headers) == 3

    def test_values_are_not_shown(self):
        headers = Headers([("authorization", "Bearer sk-1")])
        assert "sk-1" not in f"{headers!r} {list(headers.__rich_repr__())}"

    def test_they_are_compared_by_value(self):
        assert Headers([("A", "b")]) == Headers([("a", "b")])
        assert Headers([("a", "b")]) != Headers([("a", "c")])
        assert len({Headers([("a", "b")]), Headers((("A", "b"),))}) == 1


@pytest.mark.parametrize(
    ("origin", "authority"),
    [
        (Origin("http", "a", 80), "a"),
        (Origin("http", "a", 443), "a:443"),
        (Origin("https", "a", 443), "a"),
        (Origin("https", "::1", 443), "[::1]"),
        (Origin("http", "fe80::1%eth0", 8080), "[fe80::1]:8080"),
    ],
)
def test_authority(origin, authority):
    assert origin.authority == authority


def test_a_request_shows_neither_query_nor_values():
    request = HttpRequest(
        method="POST",
        origin=Origin("http", "a", 80),
        target="/v1?key=sk-1",
        headers=Headers([("authorization", "sk-1")]),
    )
    assert "sk-1" not in f"{request!r} {list(request.__rich_repr__())}"
