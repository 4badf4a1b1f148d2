"""Every class of error: what it is, what it shows, and that it pickles and copies whole."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.pretty import pretty_repr

import svir
from svir import errors
from svir.codec._api import Failure

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, svir.Error)
]
KINDS = [value for value in CLASSES if value is not svir.Error]

# The words of the kinds are the same in every implementation (D12).
WORDS = {
    "AnswerError": "answer",
    "AttachmentError": "attachment",
    "AuthenticationError": "authentication",
    "ConfigError": "config",
    "ContentFilterError": "content_filter",
    "ContextOverflowError": "context_overflow",
    "ProtocolError": "protocol",
    "RateLimitError": "rate_limited",
    "RequestTimeoutError": "timeout",
    "ResponseLimitError": "response_limit",
    "ServerError": "server",
    "TransportError": "transport",
    "TruncatedStreamError": "truncated_stream",
    "UnsupportedError": "unsupported",
}
TRANSIENT = {"transport", "timeout", "rate_limited", "truncated_stream"}
FIELDS = {
    "retryable": True,
    "retry_after": 2.0,
    "retry_after_sent": 90.0,
    "status": 503,
    "code": "overloaded",
    "unsent": True,
    "server_message": "their words",
    "request_id": "r-1",
    "partial": svir.Partial("some text", "some reasoning"),
    "place": svir.Place(3, 120),
}


def full(kind):
    """An error of a kind with everything it can carry."""
    answer = {"completion": svir.Completion(svir.FinishReason.LENGTH, "half")}
    return kind("what happened", **FIELDS, **(answer if kind is svir.AnswerError else {}))


def test_there_is_one_class_for_each_kind():
    assert {kind.__name__: kind.kind for kind in KINDS} == WORDS
    assert set(typing.get_args(svir.ErrorKind)) == set(WORDS.values())


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_four_kinds_are_retryable_unless_one_says_otherwise(kind):
    assert kind("x").retryable is (kind.kind in TRANSIENT)
    assert kind("x", retryable=False).retryable is False
    assert kind("x", retryable=True).retryable is True


def test_errors_are_also_what_python_calls_them():
    assert {kind for kind in KINDS if issubclass(kind, TimeoutError)} == {svir.RequestTimeoutError}
    assert {kind for kind in KINDS if issubclass(kind, ValueError)} == {svir.ConfigError, svir.AnswerError}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_pickle_whole(kind, protocol):
    error = full(kind)
    error.add_note("a note")
    same = pickle.loads(pickle.dumps(error, protocol))
    assert type(same) is kind
    assert same.args == ("what happened",)
    assert vars(same) == vars(error)
    assert (str(same), repr(same)) == (str(error), repr(error))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_errors_copy_whole(kind, how):
    error = full(kind)
    same = how(error)
    assert same is not error
    assert (type(same), same.args, vars(same)) == (kind, error.args, vars(error))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_is_svirs_own_words(kind):
    error = full(kind)
    shown = f"{error} {error!r} {error.args}"
    opening = "the server failed" if kind is svir.TransportError else kind.phrase  # it has a status
    assert str(error) == f"{opening}: what happened (server_message has its words)"
    assert repr(error).startswith(f"{kind.__name__}('what happened'")
    for hidden in ("their words", "some text", "some reasoning", "half"):
        assert hidden not in shown
    for told in ("status=503", "code='overloaded'", "request_id='r-1'", "retryable=True", "unsent=True"):
        assert told in repr(error)
    assert "server_message=<11 bytes withheld>" in repr(error)


@pytest.mark.parametrize("message", [None, ""])
def test_no_words_are_pointed_at_where_there_are_none(message):
    error = svir.ServerError("it broke", server_message=message)
    assert str(error) == "the server reported a failure while answering: it broke"


@pytest.mark.parametrize("kind", [svir.Error, *KINDS])
def test_every_kind_takes_the_same_fields(kind):
    hints = typing.get_type_hints(errors._Fields)
    taken = inspect.signature(svir.Error).parameters
    assert list(hints) == [name for name, p in taken.items() if p.kind is p.KEYWORD_ONLY] == list(FIELDS)
    assert vars(full(kind)).items() >= {"detail": "what happened", **FIELDS}.items()
    with pytest.raises(TypeError):
        kind("x", color="red")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_without_a_detail_says_what_its_kind_means(kind):
    assert str(kind()) == kind.phrase
    assert kind.phrase
    assert kind().args == ("",)
    assert repr(kind("x" * 3)) in {f"{kind.__name__}('xxx')", f"{kind.__name__}('xxx', retryable=True)"}


def test_a_status_is_no_failed_connection():
    assert str(svir.TransportError("HTTP 500", status=500)) == "the server failed: HTTP 500"
    assert svir.TransportError("HTTP 500", status=500).kind == "transport"


def test_an_answer_error_carries_the_answer():
    error = full(svir.AnswerError)
    assert error.completion.text == "half"
    assert svir.AnswerError("x").completion is None


@given(st.text(st.characters(exclude_categories=())))
def test_a_servers_message_is_kept_to_4_kib_of_whole_characters(message):
    message *= 200
    kept = svir.ServerError("x", server_message=message).server_message
    data = kept.encode()  # no lone surrogate is left
    assert len(data) <= 4096
    valid = message.encode("utf-8", "replace" if message.isascii() else "surrogatepass")
    if len(valid) <= 4096 and "\ufffd" not in kept:
        assert kept == message
    if len(valid) > 4096 and kept.isascii() and message.isascii():
        assert kept == message[:4096]


def test_a_message_is_cut_between_characters():
    kept = svir.ServerError("x", server_message="a" + "\N{SNOWMAN}" * 2000).server_message
    assert kept == "a" + "\N{SNOWMAN}" * 1365
    assert len(kept.encode()) == 4096
    assert svir.ServerError("x", server_message="a\ud800b").server_message == "a\ufffdb"


def test_a_partial_answer_shows_only_how_much_there_is():
    partial = svir.Partial("hello", "because")
    assert repr(partial) == "Partial(<5 characters of text, 7 of reasoning>)"
    assert pickle.loads(pickle.dumps(partial)) == partial
    assert svir.Partial() == svir.Partial("", "")


def test_a_pretty_printer_shows_no_more_of_a_partial_answer():
    partial = svir.Partial("secret words", "why")
    assert pretty_repr(partial) == repr(partial) == "Partial(<12 characters of text, 3 of reasoning>)"
    assert "secret" not in pretty_repr({"error": [partial]}, max_width=20)


def test_what_a_server_told_of_its_failure_is_withheld_when_shown():
    failure = Failure("secret words", "busy", "quota")
    assert repr(failure) == "Failure(message=<12 characters withheld>, code='busy', meaning='quota')"
    assert pretty_repr(failure) == "Failure(code='busy', meaning='quota')"
    assert repr(Failure()) == "Failure(message=None, code=None, meaning=None)"
