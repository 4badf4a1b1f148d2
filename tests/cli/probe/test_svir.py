"""What svir makes of an answer is what a client makes of it, whatever the answer is."""

from __future__ import annotations

import pytest

import svir
from svir.cli.probe._svir import outcome, outcome_of_listing
from tests.cli.probe.servers import HTML_200, ONE, ZIPPED, refused, reply_json, stream
from tests.cli.probe.test_ask import answer_of, backend  # noqa: F401 (a fixture)
from tests.cli.scripted import chunk
from tests.support.loopback import Cut, Send, Stall


def of(backend, raw: bytes, mode="strict"):  # noqa: F811
    return outcome(answer_of(backend, Send(raw), Cut()), mode)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (refused("400 No", "too long", code="context_length_exceeded"), svir.ContextOverflowError),
        (refused("401 No"), svir.AuthenticationError),
        (refused("429 Slow"), svir.RateLimitError),
        (refused("500 Oh"), svir.TransportError),
        (b"HTTP/1.1 302 Go\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", svir.UnsupportedError),
        (HTML_200, svir.UnsupportedError),
        (ZIPPED, svir.UnsupportedError),
        (b"nonsense\r\n\r\n", svir.ProtocolError),
        (ONE.removesuffix(b"data: [DONE]\n\n"), svir.TruncatedStreamError),
    ],
)
def test_an_answer_that_is_none_is_its_error(backend, raw, kind):  # noqa: F811
    found = of(backend, raw)
    assert type(found.error) is kind
    assert found.said.startswith(kind.__name__)
    assert found.completion is None


def test_a_whole_answer_is_a_completion_in_its_mode(backend):  # noqa: F811
    assert of(backend, ONE).said == "a whole answer, finish length, 3 characters of text"
    odd = stream(chunk({"content": "a", "emotion": "joy"}), chunk({}, "stop"))
    assert isinstance(of(backend, odd).error, svir.UnsupportedError)
    assert of(backend, odd, "lenient").completion.text == "a"


def test_an_answer_that_came_too_late_stays_late(backend):  # noqa: F811
    late = answer_of(backend, Send(ONE[:150]), Stall(), seconds=0.2)
    assert isinstance(outcome(late, "strict").error, svir.RequestTimeoutError)


def test_a_listing_is_read_as_a_client_reads_it(backend):  # noqa: F811
    answer = answer_of(backend, Send(reply_json({"data": [{"id": "a"}, {"id": "b"}]})), Cut())
    assert outcome_of_listing(answer).models == ("a", "b")
    assert outcome_of_listing(answer).said == "a list of 2 models"
    none = answer_of(backend, Send(HTML_200), Cut())
    assert isinstance(outcome_of_listing(none).error, svir.ProtocolError)
