from __future__ import annotations

import base64
import decimal
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svir
from svir import (
    Image,
    Message,
    Reasoning,
    Request,
    Schema,
    Text,
    TextFile,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    user,
)
from svir.openai.chat import Encoder
from svir.openai.chat._encoder import OPTIONAL_FIELDS, optional_fields

MISSING = "no-such-file.txt"


def sent(request, **options):
    body = Encoder(**options).encode(request)
    data = bytes(body)
    assert len(body) == len(data)
    return data


def test_fields_are_written_in_a_fixed_order_with_the_messages_last():
    request = Request(
        "m",
        messages=["hi"],
        system="s",
        tools=Tool("t"),
        tool_choice="required",
        response_format=Schema("answer", {"type": "object"}, strict=True),
        max_tokens=1,
        temperature=1.0,
        top_p=1,
        stop="x",
        seed=1,
        parallel_tool_calls=False,
        effort="low",
        include_usage=True,
        extra={"a": 1, "b": None},
    )
    assert list(json.loads(sent(request))) == [
        *("model", "stream", "max_tokens", "temperature", "top_p", "stop", "seed", "parallel_tool_calls"),
        *(
            "tools",
            "tool_choice",
            "response_format",
            "reasoning_effort",
            "stream_options",
            "a",
            "b",
            "messages",
        ),
    ]


def test_the_body_of_a_plain_request_is_compact_to_the_byte():
    data = sent(Request("m", messages=["\u00e9"], system="s", temperature=0.5))
    assert (
        data
        == (
            '{"model":"m","stream":true,"temperature":0.5,"messages":'
            '[{"role":"system","content":"s"},{"role":"user","content":"\u00e9"}]}'
        ).encode()
    )


def test_an_empty_model_and_no_messages_are_the_clients_business():
    assert sent(Request()) == b'{"model":"","stream":true,"messages":[]}'


@pytest.mark.parametrize(
    ("ours", "requests", "asked"),
    [(False, None, False), (True, None, True), (True, False, False), (False, True, True)],
)
def test_usage_is_asked_for_when_the_request_says_so_else_as_the_encoder_was_told(ours, requests, asked):
    request = Request("m", messages="hi", include_usage=requests)
    assert ("stream_options" in json.loads(sent(request, include_usage=ours))) is asked
    assert optional_fields(request, include_usage=ours) == (("stream_options",) if asked else ())


@pytest.mark.parametrize("omit", [(), ("stream_options",), ("reasoning_effort",), OPTIONAL_FIELDS])
def test_only_the_named_optional_fields_are_left_out(omit):
    request = Request("m", messages="hi", effort="low")
    assert optional_fields(request, include_usage=True) == OPTIONAL_FIELDS
    fields = json.loads(sent(request, include_usage=True, omit=omit)).keys()
    assert set(OPTIONAL_FIELDS) - fields == set(omit)


@pytest.mark.parametrize(
    "options",
    [
        {"omit": ["temperature"]},
        {"omit": "stream_options"},
        {"block_bytes": 0},
        {"context_tokens": 0},
        {"max_tokens_field": ""},
        {"max_tokens_field": "\ud800"},
    ],
    ids=str,
)
def test_an_encoder_refuses_options_it_does_not_know(options):
    with pytest.raises(svir.ConfigError):
        Encoder(**options)


FULL = Request(
    "m",
    messages=["hi"],
    tools=Tool("t"),
    tool_choice="required",
    response_format="json",
    temperature=1.0,
    top_p=1.0,
    stop="x",
    seed=1,
    parallel_tool_calls=False,
    effort="low",
    include_usage=True,
)


@pytest.mark.parametrize("name", [*json.loads(sent(FULL)), "n"])
def test_the_limit_cannot_have_the_name_of_another_field(name):
    with pytest.raises(svir.ConfigError, match="max_tokens_field"):
        Encoder(max_tokens_field=name)


@pytest.mark.parametrize("name", [None, 5, b"max_tokens"])
def test_a_limits_name_is_text(name):
    with pytest.raises(TypeError, match="max_tokens_field"):
        Encoder(max_tokens_field=name)


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens", "n_predict"])
def test_extra_sets_no_other_limit_beside_the_requests_own(field):
    request = Request("m", messages="hi", max_tokens=5)
    assert json.loads(sent(request, max_tokens_field=field))[field] == 5
    for name in {"max_tokens", "max_completion_tokens", field}:
        limited = request.replace(extra={name: 6})
        with pytest.raises(svir.ConfigError, match=f"extra must not set '{name}'"):
            sent(limited, max_tokens_field=field)
        unlimited = limited.replace(max_tokens=None)
        assert json.loads(sent(unlimited, max_tokens_field=field))[name] == 6


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (math.nan, r"extra\.x is not a finite number"),
        ({"a": [1, math.inf]}, r"extra\.x\.a\[1\] is not a finite number"),
        ({"a b": -math.inf}, r"extra\.x\['a b'\] is not a finite number"),
        ({1, 2}, r"extra\.x is not JSON, but set"),
        ([b"x"], r"extra\.x\[0\] is not JSON, but bytes"),
        (decimal.Decimal(1), r"extra\.x is not JSON, but Decimal"),
        ({"a": object()}, r"extra\.x\.a is not JSON, but object"),
        ({(1, 2): 3}, r"extra\.x has a key that is not text, but tuple"),
        (10**5000, r"extra\.x is a number too large"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_refused_by_its_place(value, place):
    with pytest.raises(svir.ConfigError, match=place) as caught:
        sent(Request("m", messages="hi", extra={"fine": [1, "x", None], "x": value}))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "top_p", "seed"])
def test_a_number_too_large_to_be_written_is_refused_by_its_field(name):
    with pytest.raises(svir.ConfigError, match=f"{name} is a number too large"):
        sent(Request("m", messages="hi", **{name: 10**5000}))


def test_nesting_beyond_what_can_be_written_is_refused():
    deep = around = {}
    for _ in range(100_000):
        around["x"] = around = {}
    loop = []
    loop.append(loop)
    for value in (deep, loop):
        with pytest.raises(svir.ConfigError, match="nested too deeply"):
            sent(Request("m", messages="hi", extra={"x": value}))
    while deep:  # taken apart from the outside: freeing it whole would recurse
        deep = deep.pop("x")


def test_schemas_are_checked_like_extra_fields():
    bad = {"properties": {"a": {"maximum": math.nan}}}
    with pytest.raises(
        svir.ConfigError, match=r"^the conf.*tools\[1\]\.input_schema\.properties\.a\.maximum is not"
    ):
        sent(Request("m", messages="hi", tools=[Tool("a"), Tool("b", "", bad)]))
    with pytest.raises(svir.ConfigError, match=r"response_format\.schema\.properties\.a\.maximum is not"):
        sent(Request("m", messages="hi", response_format=Schema("s", bad)))


BROKEN = "secret \ud800"


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        (Request(BROKEN), "model"),
        (Request("m", system=BROKEN), "system"),
        (Request("m", messages=["a", "b", user("c", Text(BROKEN))]), "messages[2].parts[1]"),
        (Request("m", messages=[user(Image.from_url(BROKEN))]), "messages[0].parts[0]"),
        (Request("m", messages=[user(Image.from_bytes(b"", BROKEN))]), "messages[0].parts[0]"),
        (Request("m", messages=[user(TextFile.from_text(BROKEN, "x"))]), "messages[0].parts[0]"),
        (Request("m", messages=[Message("assistant", ToolCall(BROKEN, "t"))]), "messages[0].parts[0]"),
        (Request("m", messages=[Message("assistant", ToolCall("c", BROKEN))]), "messages[0].parts[0]"),
        (Request("m", messages=[Message("assistant", ToolCall("c", "t", BROKEN))]), "messages[0].parts[0]"),
        (Request("m", messages=[ToolResult(BROKEN, "x")]), "messages[0].parts[0]"),
        (Request("m", messages=[ToolResult("c", BROKEN)]), "messages[0].parts[0]"),
        (Request("m", tools=[Tool("a"), Tool(BROKEN)]), "tools[1].name"),
        (Request("m", tools=[Tool("a"), Tool("b", BROKEN)]), "tools[1].description"),
        (Request("m", tools=Tool("a", "", {"x": [BROKEN]})), "tools[0].input_schema.x[0]"),
        (Request("m", tools=Tool("a", "", {BROKEN: 1})), "a key of tools[0].input_schema"),
        (Request("m", response_format=Schema("s", {"title": BROKEN})), "response_format.schema.title"),
        (Request("m", stop=["a", BROKEN]), "stop[1]"),
        (Request("m", extra={"x": BROKEN}), "extra.x"),
        (Request("m", extra={BROKEN: "x"}), "a key of extra"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text_that_is_not_unicode_is_refused_by_its_place(request_, place):
    with pytest.raises(svir.UnsupportedError) as caught:
        sent(request_)
    assert str(caught.value) == f"not supported: {place} is not valid Unicode: it has a lone surrogate"
    assert caught.value.__context__ is None


def test_reasoning_that_is_not_unicode_matters_only_when_it_is_sent():
    request = Request("m", messages=[Message("assistant", Reasoning("reasoning", BROKEN))])
    sent(request)
    with pytest.raises(svir.UnsupportedError, match=r"messages\[0\]\.parts\[0\]"):
        sent(request.replace(send_reasoning=True))


def test_a_file_name_that_is_not_unicode_fails_before_a_path_is_shown(tmp_path):
    path = tmp_path / "caf\udce9.txt"
    path.write_bytes(b"x")
    with pytest.raises(svir.UnsupportedError, match="lone surrogate"):
        sent(Request("m", messages=[user(TextFile(path))]))
    sent(Request("m", messages=[user(TextFile(path, name="cafe.txt"))]))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"tool_choice": "required"}, svir.UnsupportedError),
        ({"tool_choice": ToolChoice.tool("x"), "tools": Tool("y")}, svir.UnsupportedError),
        ({"extra": {"model": "x"}}, svir.ConfigError),
        ({"extra": {"x": math.nan}}, svir.ConfigError),
        ({"messages": [user(TextFile(MISSING)), Message("tool", Text("x"))]}, svir.UnsupportedError),
    ],
    ids=lambda value: str(next(iter(value))) if isinstance(value, dict) else "",
)
def test_checks_come_before_any_file_is_looked_at(change, error):
    request = Request("m", messages=[user(TextFile(MISSING))])
    with pytest.raises(svir.AttachmentError):
        sent(request)
    with pytest.raises(error):
        sent(request.replace(**change))


def test_an_image_without_a_media_type_says_where_it_is_and_what_helps():
    with pytest.raises(svir.AttachmentError, match=r"messages\[1\]\.parts\[0\].*media_type="):
        sent(Request("m", messages=["hi", user(Image("river.bmp"))]))


def test_a_part_in_the_wrong_role_says_where_it_is():
    with pytest.raises(svir.UnsupportedError, match=r"messages\[0\]\.parts\[1\].*assistant.*Image"):
        sent(Request("m", messages=[svir.assistant("x", Image("a.png"))]))


def test_an_overflow_says_the_numbers():
    request = Request("m", messages="hi", max_tokens=1000)
    size = len(sent(request))
    with pytest.raises(svir.ContextOverflowError) as caught:
        sent(request, context_tokens=size + 999)
    for number in (size, "max_tokens=1000", f"context_tokens={size + 999}"):
        assert str(number) in str(caught.value)
    assert sent(request, context_tokens=size + 1000)


def test_an_encoder_opens_an_image_only_while_the_body_is_read(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    body = Encoder().encode(Request("m", messages=[user(Image(path))]))
    path.write_bytes(b"xyz")
    assert base64.b64encode(b"xyz") in bytes(body)
    assert not body.in_memory


def test_a_request_without_files_is_in_memory_and_one_block():
    body = Encoder().encode(Request("m", messages=["a", svir.assistant("b"), "c"], system="s"))
    assert body.in_memory
    assert len(list(body)) == 1


def test_extra_values_may_be_anything_json_has():
    extra = {"a": None, "b": [True, 1, 1.5, "x", {"c": []}], "d": ("x",)}
    assert json.loads(sent(Request("m", extra=extra)))["b"] == extra["b"]


plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
parts = st.lists(
    st.one_of(
        plain.map(Text),
        st.builds(lambda data: Image.from_bytes(data, "image/png"), st.binary(max_size=20)),
        st.builds(TextFile.from_text, plain, plain),
    ),
    max_size=5,
)


@given(parts, st.integers(1, 12))
def test_whatever_the_parts_are_the_body_is_the_json_it_should_be(given_, block_bytes):
    request = Request("m", messages=[Message("user", given_)])
    body = Encoder(block_bytes=block_bytes).encode(request)
    assert len(body) == len(bytes(body))
    ((message),) = json.loads(bytes(body))["messages"]
    texts = [
        part.text
        if isinstance(part, Text)
        else '<file name="{}">\n{}\n</file>'.format(
            part.name.replace('"', "&quot;"), part.source.data.decode()
        )
        for part in given_
        if part != Text("")
        if not isinstance(part, Image)
    ]
    images = [base64.b64encode(part.source.data).decode() for part in given_ if isinstance(part, Image)]
    content = message["content"]
    if images:
        assert [part["image_url"]["url"] for part in content if part["type"] == "image_url"] == [
            f"data:image/png;base64,{data}" for data in images
        ]
        assert [part["text"] for part in content if part["type"] == "text"] == (
            ["\n\n".join(texts)] if texts else []
        )
    else:
        assert content == "\n\n".join(texts)


class Shouted(str):
    """Text of a subclass, as template engines and parsers make it."""

    __slots__ = ()

    def __str__(self):
        return self.upper()

    def __format__(self, spec):
        return self.upper()


def test_text_of_a_subclass_is_written_like_any_text():
    def request(text):
        return Request(
            text("m"),
            messages=[
                text("hi"),
                user(text("a"), Image.from_bytes(b"x", text("image/png"), detail=text("low"))),
                user(Image.from_url(text("https://example.org")), TextFile.from_text(text("n"), text("x"))),
                svir.assistant(
                    Reasoning(text("reasoning"), text("r")), ToolCall(text("c"), text("t"), text("{}"))
                ),
                ToolResult(text("c"), text("x"), is_error=True),
            ],
            system=text("s"),
            tools=Tool(text("t"), text("d"), {text("type"): text("object")}),
            stop=text("x"),
            effort=text("low"),
            send_reasoning=True,
            extra={text("a"): {text("b"): [text("c")]}},
        )

    assert sent(request(Shouted)) == sent(request(str))
