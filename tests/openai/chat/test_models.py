from __future__ import annotations

import pytest

import svir
from svir.openai.chat import API


def test_a_listing_is_read_in_its_order_and_not_filtered():
    body = b'{"object":"list","data":[{"id":"embed-2"},{"id":"heron","name":"Heron 2","max_model_len":4}]}'
    assert API.read_models(body) == (svir.ModelInfo("embed-2"), svir.ModelInfo("heron", "Heron 2"))


@pytest.mark.parametrize("name", [b"null", b"7", b"[]"])
def test_a_name_that_is_no_text_is_none(name):
    assert API.read_models(b'{"data":[{"id":"a","name":%b}]}' % name) == (svir.ModelInfo("a"),)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"<html>", b"{}", b'{"data":{}}', b'{"data":[3]}', b'{"data":[{"id":3}]}', b"[" * 999],
)
def test_what_is_no_listing_is_a_protocol_error(body):
    with pytest.raises(svir.ProtocolError) as caught:
        API.read_models(body)
    assert caught.value.__context__ is None
