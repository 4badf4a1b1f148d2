"""Throws damaged URLs at the reader of base URLs: it gives an origin or a ``ConfigError``, nothing else.

    PYTHONPATH=src:. python fuzz/url.py [--seconds 30] [--seed N]

1. What is accepted must be read the same by ``urllib.parse``, the reader that most programs use: two readers
   that take one URL for two hosts are how requests go where they should not.
2. Plain HTTP without leave is accepted for loopback alone, as ``ipaddress`` knows it.
3. What a URL may hide (credentials, a query) is never repeated by the refusal.
"""

from __future__ import annotations

import ipaddress
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from _loop import fuzz, no_longer_than  # noqa: E402

from svir import ConfigError  # noqa: E402
from svir.exchange._url import parse_base  # noqa: E402

SECRET = "hushhush"
PARTS = (
    *("http://", "https://", "HTTP://", "hTTps://", "ftp://", "//", "http:/", "http:", "://", "http:\\\\"),
    *("localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.1", "0x7f.1", "017700000001", "2130706433"),
    *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[fe80::1%25eth0]", "0.0.0.0"),
    *("example.com", "host_x", "xn--bcher-kva.example", "b\u00fccher.example", "127.0.0.1.example.com", "1"),
    *(f"user:{SECRET}@", f"{SECRET}@", "@", ":8080", ":", ":0", ":65536", ":080", ":\u0661", ":99999"),
    *("/v1", "/v1/", "/", "//", "/api/v1", "/a%20b", "/%zz", "/a b", "/../v1", "/v1/chat/completions", "/\\"),
    *(
        f"?key={SECRET}",
        "?",
        f"#{SECRET}",
        "#",
        "\r\n",
        "\n",
        "\t",
        "\x00",
        " ",
        "\ud800",
        "%",
        "%00",
        "\u2024",
    ),
)
SLOWEST = 0.2


def make(rng):
    """A URL of pieces, mostly in a likely order."""
    if rng.random() < 0.6:
        chosen = [rng.choice(PARTS[:4]), rng.choice(PARTS[10:30]), rng.choice(("", rng.choice(PARTS[30:])))]
        chosen += [rng.choice(("", rng.choice(PARTS[40:])))]
    else:
        chosen = [rng.choice(PARTS) for _ in range(rng.randint(0, 6))]
    text = "".join(chosen)
    if text and rng.random() < 0.3:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(("", chr(rng.randrange(0x250)), text[at] * 2)) + text[at + 1 :]
    return text * rng.choice((1, 1, 1, 200)) if rng.random() < 0.05 else text, rng.random() < 0.5


def attempt(given):
    url, allow_http = given
    started, refusal = time.thread_time(), None
    try:
        base = parse_base(url, allow_http=allow_http)
    except ConfigError as error:
        refusal = error
    no_longer_than(SLOWEST, started)
    if refusal is not None:
        said = f"{refusal} {refusal!r}"
        assert SECRET not in said, "a refusal that repeats what a URL hides"
        assert refusal.__context__ is None, "an error that hangs on a foreign one"
        return False
    other = urlsplit(url)
    origin = base.origin
    port = other.port or {"http": 80, "https": 443}[other.scheme]
    assert (other.scheme, other.hostname, port) == (origin.scheme, origin.host, origin.port), other
    assert other.query == other.fragment == "", other
    assert "@" not in other.netloc, other
    assert other.path.rstrip("/") == base.path, other
    assert base.path in {base.prefix, f"{base.prefix}/v1"} or base.path.endswith("/v1"), base
    if origin.scheme == "http" and not allow_http:
        assert is_loopback(origin.host), "plain HTTP to another machine"
    return True


def is_loopback(host):
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = ipaddress.ip_address(host)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


if __name__ == "__main__":
    fuzz(__doc__, make, attempt)
