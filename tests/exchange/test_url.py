"""Which base URLs are accepted, what they mean, and what the refusal says."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import svir
from svir.exchange._url import Base, as_query, check_path, parse_base
from svir.http import Origin


@pytest.mark.parametrize(
    ("url", "origin", "prefix", "path"),
    [
        ("http://localhost", ("http", "localhost", 80), "", ""),
        ("http://localhost/", ("http", "localhost", 80), "", ""),
        ("http://LOCALHOST:1234/v1", ("http", "localhost", 1234), "", "/v1"),
        ("HTTP://localhost:1234/v1///", ("http", "localhost", 1234), "", "/v1"),
        ("http://127.0.0.1:65535/openai/v1", ("http", "127.0.0.1", 65535), "/openai", "/openai/v1"),
        ("http://127.255.255.255/a//v1/", ("http", "127.255.255.255", 80), "/a", "/a//v1"),
        ("http://[::1]:8080/v1", ("http", "::1", 8080), "", "/v1"),
        ("http://[::FFFF:127.0.0.2]", ("http", "::ffff:127.0.0.2", 80), "", ""),
        ("http://model.localhost/x", ("http", "model.localhost", 80), "/x", "/x"),
        ("https://api.example.com", ("https", "api.example.com", 443), "", ""),
        ("https://api.example.com:443/v1", ("https", "api.example.com", 443), "", "/v1"),
        (
            "https://a_b-c.example/%7Euser/v1x",
            ("https", "a_b-c.example", 443),
            "/%7Euser/v1x",
            "/%7Euser/v1x",
        ),
        ("https://[2001:DB8::1]/v1/v1", ("https", "2001:db8::1", 443), "/v1", "/v1/v1"),
    ],
)
def test_a_url_is_split_with_or_without_v1_and_slashes(url, origin, prefix, path):
    assert parse_base(url, allow_http=False) == Base(Origin(*origin), prefix, path)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "http:// or https://"),
        ("localhost:1234", "http:// or https://"),
        ("ftp://localhost", "http:// or https://"),
        ("//localhost", "http:// or https://"),
        ("http:/localhost", "http:// or https://"),
        (" http://localhost", "http:// or https://"),
        ("http://localhost/v1\n", "line breaks|percent-encoded"),
        ("http://localhost/v1\r\nx: y", "line breaks|percent-encoded"),
        ("http://user:secret@localhost", "api_key="),
        ("http://sk-secret@localhost", "api_key="),
        ("http://localhost/v1?key=secret", "query="),
        ("http://localhost?key=secret", "query="),
        ("http://localhost/v1?", "query="),
        ("http://localhost/v1#part", "fragment"),
        ("http://localhost#", "fragment"),
        ("http://", "host or port"),
        ("http:///v1", "host or port"),
        ("http://localhost:", "host or port"),
        ("http://localhost:123456", "host or port"),
        ("http://localhost:-1", "host or port"),
        ("http://local host", "host or port"),
        ("http://localhost\\evil", "host or port"),
        ("http://b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example", "ASCII"),
        ("http://[::1", "host or port"),
        ("http://[::1%25eth0]", "host or port"),
        ("http://localhost:0", "between 1 and 65535"),
        ("http://localhost:65536", "between 1 and 65535"),
        ("http://[::1::]", "IPv6"),
        ("http://[:::1]", "IPv6"),
        ("http://localhost/a b", "percent-encoded"),
        ("http://localhost/%zz", "percent-encoded"),
        ("http://localhost/\N{SNOWMAN}", "percent-encoded"),
        ("http://localhost/\x00", "percent-encoded"),
    ],
)
def test_a_url_that_is_not_accepted_says_why_and_is_not_repeated(url, why):
    with pytest.raises(svir.ConfigError, match=why) as caught:
        parse_base(url, allow_http=True)
    assert "secret" not in f"{caught.value} {caught.value!r}"
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "host",
    [
        *("192.168.1.50", "example.com", "0.0.0.0", "128.0.0.1", "[2001:db8::1]", "[::]", "[::127.0.0.1]"),
        *("localhost.example.com", "127.0.0.1.example.com", "notlocalhost", "localhos", "foo.localhost."),
        *("1", "0x", "1" * 32, "1" * 5000, "127." * 4 + "1"),
    ],
)
def test_plain_http_off_loopback_is_refused_unless_allowed(host):
    with pytest.raises(svir.ConfigError, match="allow_http=True"):
        parse_base(f"http://{host}", allow_http=False)
    assert parse_base(f"http://{host}", allow_http=True).origin.scheme == "http"
    assert parse_base(f"https://{host}", allow_http=False).origin.scheme == "https"


@pytest.mark.parametrize(
    ("host", "usual"),
    [
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.0.0.01", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("localhost.", "localhost"),
        ("[0:0:0:0:0:0:0:1]", r"\[::1\]"),
        ("[0000::0001]", r"\[::1\]"),
        ("[::ffff:7f00:1]", "127.0.0.1"),
        ("[0:0:0:0:0:ffff:127.0.0.1]", "127.0.0.1"),
    ],
)
def test_loopback_in_another_spelling_is_refused_with_the_usual_one_named(host, usual):
    with pytest.raises(svir.ConfigError, match=f"write {usual}$"):
        parse_base(f"http://{host}/v1", allow_http=False)


# Pieces that URLs are made of, and what does not belong in one.
pieces = st.sampled_from(
    [
        *("http://", "https://", "localhost", "127.", "0x7f", "[", "]", "::1", ":", "@", "/", "v1", "?", "#"),
        *("%", "a=b", "\n", "\x00", " ", "\ud800", "\N{SNOWMAN}", ".", "-", "0", "9" * 30, "sk-secret", "\\"),
    ]
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=12).map("".join)), st.booleans())
@example("http://" + "9" * 5000, True)
def test_nothing_but_a_config_error_comes_out_and_it_repeats_nothing(url, allow_http):
    refusal = None
    try:
        base = parse_base(url, allow_http=allow_http)
    except svir.ConfigError as error:
        refusal = error
    if refusal is not None:
        assert refusal.__context__ is None
        assert "secret" not in repr(refusal)
        assert len(url) <= 20 or url not in f"{refusal} {refusal!r}"  # short ones may be words of the text
    else:
        assert base.prefix == "" or base.prefix.startswith("/")
        assert not base.path.endswith("/")
        assert all("!" <= character <= "~" for character in base.origin.authority + base.path)


# Path and query of the caller's own


@pytest.mark.parametrize("path", ["/", "/api/chat", "/a%20b;c=d", "/deployments/gpt-4o/chat/completions"])
def test_a_path_is_taken_as_it_is(path):
    assert check_path(path) == path


@pytest.mark.parametrize("path", ["", "chat", "/a b", "/a?b", "/a#b", "/%", "/\r\n", "/\N{SNOWMAN}"])
def test_a_path_that_needs_encoding_is_refused(path):
    with pytest.raises(svir.ConfigError, match="path="):
        check_path(path)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (None, ""),
        ("", ""),
        ("api-version=2026-01-01", "api-version=2026-01-01"),
        ("?a=b&c=%20", "a=b&c=%20"),
        ({"a": "b c", "&": "=?"}, "a=b%20c&%26=%3D%3F"),
        ({"name": "\N{SNOWMAN}"}, "name=%E2%98%83"),
        ({}, ""),
    ],
)
def test_a_query_is_taken_as_it_is_and_a_mapping_is_encoded(query, text):
    assert as_query(query) == text


@pytest.mark.parametrize(
    "query", ["a b", "secret\n", "#secret", "\N{SNOWMAN}", "%secret", {"a": "\ud800secret"}]
)
def test_a_query_that_needs_encoding_is_refused_and_not_shown(query):
    with pytest.raises(svir.ConfigError, match="query=") as caught:
        as_query(query)
    assert "secret" not in repr(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("query", [7, b"a=b", ["a"], {"a": 1}, {1: "a"}, {"a": None}])
def test_a_query_of_another_type_is_a_type_error(query):
    with pytest.raises(TypeError):
        as_query(query)


@given(st.one_of(st.text(), st.dictionaries(st.text(), st.text())))
def test_whatever_a_query_holds_what_is_sent_is_printable_ascii(query):
    try:
        sent = as_query(query)
    except svir.ConfigError:
        return
    assert all("!" <= character <= "~" for character in sent)
    assert "#" not in sent
