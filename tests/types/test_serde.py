from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import svir.types
from svir import (
    Completion,
    ConfigError,
    Event,
    FinishReason,
    Message,
    Part,
    Request,
    Text,
    TextDelta,
    ToolCall,
)
from svir.types import from_dict, to_dict
from svir.types._serde import FORMS
from svir.types._value import Value
from tests.support import values
from tests.support.values import EXAMPLES

GOLDEN = Path(__file__).parent.parent / "golden"


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text("ascii"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_value_is_written_as_its_golden_file_says_and_read_from_it(name):
    value = EXAMPLES[name]
    assert json.dumps(to_dict(value)) == json.dumps(golden(name))  # the order of keys too
    assert from_dict(type(value), golden(name)) == value


def test_every_kind_of_value_has_a_form_and_a_golden_file():
    kinds = {
        kind
        for kind in vars(svir.types).values()
        if isinstance(kind, type) and issubclass(kind, Value) and kind is not Value
    }
    assert kinds == set(FORMS) == {type(value) for value in EXAMPLES.values()}
    assert {path.stem for path in GOLDEN.glob("*.json")} >= set(EXAMPLES)


def test_a_conversation_stored_by_the_rust_implementation_is_read():
    request = from_dict(Request, golden("rust-request"))
    assert to_dict(request) == golden("rust-request")
    assert request.effort == "none"
    completion = from_dict(Completion, golden("rust-completion"))
    assert to_dict(completion) == golden("rust-completion")
    assert completion.calls == ()
    assert [call.id for call in completion.cut_calls] == ["call-a", "call-b"]


@given(values.values)
def test_what_is_written_is_json_and_is_read_back_equal(value):
    stored = json.loads(json.dumps(to_dict(value)))
    assert from_dict(type(value), stored) == value


@given(st.lists(values.messages, max_size=3))
def test_sequences_are_written_as_lists_and_read_as_asked(messages):
    stored = json.loads(json.dumps(to_dict(messages)))
    assert from_dict(tuple[Message, ...], stored) == tuple(messages)
    assert from_dict(list[Message], stored) == messages


@given(values.parts)
def test_any_part_is_read_by_its_tag(part):
    assert from_dict(Part, to_dict(part)) == part
    assert from_dict(list[Part], to_dict([part])) == [part]


@given(values.events)
def test_any_event_is_read_by_its_tag(event):
    assert from_dict(Event, to_dict(event)) == event


def test_the_same_tag_means_a_part_or_an_event_as_asked():
    assert type(from_dict(Part, {"text": "x"})) is Text
    assert type(from_dict(Event, {"text": "x"})) is TextDelta
    assert type(from_dict(Text | ToolCall, {"text": "x"})) is Text


def test_defaults_are_left_out():
    assert to_dict(Request("m")) == {"model": "m", "messages": []}
    assert to_dict(Completion(FinishReason.STOP)) == {"finish": "stop", "text": ""}
    assert from_dict(Request, {}) == Request()


@pytest.mark.parametrize("finish", FinishReason)
def test_calls_are_read_as_cut_only_after_a_length_finish(finish):
    call = {"id": "a", "name": "b", "arguments": "{}"}
    read = from_dict(Completion, {"finish": finish.value, "text": "", "calls": [call]})
    calls = (ToolCall("a", "b"),)
    assert (read.calls, read.cut_calls) == (((), calls) if finish == "length" else (calls, ()))


@pytest.mark.parametrize("finish", [*FinishReason, "length", "stop"])
def test_calls_that_would_be_read_back_as_the_other_kind_are_not_written(finish):
    fits, wrong = ("cut_calls", "calls") if finish == "length" else ("calls", "cut_calls")
    calls = (ToolCall("a", "b"),)
    fitting = Completion(FinishReason(finish), **{fits: calls})
    assert from_dict(Completion, to_dict(fitting)) == fitting
    for fields in ({wrong: calls}, {"calls": calls, "cut_calls": calls}):
        answer = Completion(finish, **fields)
        for value in (answer, svir.Completed(answer), [answer]):
            with pytest.raises(ConfigError, match=rf"finished with '{finish}' has no {wrong}$"):
                to_dict(value)


@pytest.mark.parametrize("word", ["off", "none"])
def test_both_words_for_no_effort_are_read_and_the_common_one_is_written(word):
    request = from_dict(Request, {"model": "m", "messages": [], "reasoning": word})
    assert request.effort == "none"
    assert to_dict(request)["reasoning"] == "off"


def test_unknown_keys_are_ignored_everywhere():
    message = {
        "role": "user",
        "parts": [{"text": "x", "later": 1}, {"file": {"path": "a", "new": {}}}],
        "id": 7,
    }
    assert from_dict(Message, message) == svir.user("x", svir.TextFile("a"))


def test_null_says_what_a_missing_key_says_where_nothing_is_a_value():
    assert from_dict(Request, {"model": "m", "max_tokens": None, "system": None}) == Request("m")


def test_a_message_may_have_any_further_key_beside_its_parts():
    message = {"role": "user", "parts": [{"text": "x"}], "content": "x"}
    assert from_dict(Message, message) == svir.user("x")


USER = {"role": "user", "parts": []}
OF_THE_WIRE = (
    "as messages have it on the wire; svir's have 'parts' (from_wire() in docs/migrating.md converts)"
)


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        (Message, [], "$ must be an object with text keys, not a list"),
        (Message, {"parts": []}, "$.role is missing"),
        (
            Message,
            {"role": "system", "parts": []},
            "$.role must be one of user, assistant, tool, not 'system'",
        ),
        (Message, {"role": [], "parts": []}, "$.role must be one of user, assistant, tool, not a list"),
        (Message, {"role": "user", "content": "my only copy"}, f"$ has 'content', {OF_THE_WIRE}"),
        (Message, {"role": "system", "content": []}, f"$ has 'content', {OF_THE_WIRE}"),
        (Message, {"role": "assistant", "tool_calls": []}, f"$ has 'tool_calls', {OF_THE_WIRE}"),
        (
            tuple[Message, ...],
            [{"role": "user", "parts": []}, {"role": "user", "content": "x"}],
            f"$[1] has 'content', {OF_THE_WIRE}",
        ),
        (
            Request,
            {"messages": [{"role": "user", "content": "x"}]},
            f"$.messages[0] has 'content', {OF_THE_WIRE}",
        ),
        (Message, {"role": "user", "parts": {}}, "$.parts must be a list, not an object"),
        (Message, {"role": "user", "parts": ["x"]}, "$.parts[0] must be an object with text keys, not 'x'"),
        (Message, {"role": "user", "parts": [{}]}, "$.parts[0] has no known part, but nothing"),
        (Message, {"role": "user", "parts": [{"text": 1}]}, "$.parts[0].text must be text, not 1"),
        (
            Message,
            {"role": "user", "parts": [{"text": "a", "file": {}}]},
            "$.parts[0] has more than one part: text, file",
        ),
        (
            Request,
            {"messages": [USER, {"role": "user", "parts": [{"text": ""}, {"video": 1}]}]},
            "$.messages[1].parts[1] has no known part, but 'video'",
        ),
        (Request, {"messages": None}, "$.messages must be a list, not null"),
        (Request, {"max_tokens": True}, "$.max_tokens must be a whole number from 0 on, not a boolean"),
        (Request, {"max_tokens": -1}, "$.max_tokens must be a whole number from 0 on, not -1"),
        (Request, {"temperature": float("nan")}, "$: Request.temperature must be a finite number"),
        (
            Request,
            {"reasoning": "huge"},
            "$.reasoning must be one of none, minimal, low, medium, high, xhigh, max, off, not 'huge'",
        ),
        (Request, {"tool_choice": "maybe"}, "$.tool_choice must be one of auto, none, required, not 'maybe'"),
        (Request, {"tool_choice": {"name": "x"}}, "$.tool_choice has no known tool choice, but 'name'"),
        (
            Request,
            {"response_format": {"schema": {"name": "a b", "schema": {}}}},
            "$.response_format.schema: Schema.name must be 1 to 64 ASCII letters, digits, _ or -",
        ),
        (Request, {"tools": [{"name": ""}]}, "$.tools[0]: a tool needs a name"),
        (Request, {"extra": {1: 2}}, "$.extra must be an object with text keys, not an object"),
        (Request, {"extra": {"a": [{1: 2}]}}, "$.extra.a[0] has a key that is not text, but int"),
        (Part, [], "$ must be an object with text keys, not a list"),
        (Part, {"image": {}}, "$.image has no known source, but nothing"),
        (Part, {"image": {"path": "a", "bytes": ""}}, "$.image has more than one source: path, bytes"),
        (Part, {"image": {"bytes": "a"}}, "$.image.bytes is no base64"),
        (Part, {"image": {"bytes": "\ud800"}}, "$.image.bytes is no base64"),
        (Part, {"image": {"bytes": "YQ==\n"}}, "$.image.bytes is no base64"),
        (Part, {"file": {"url": "https://example.org"}}, "$.file has no known source, but 'url'"),
        (Part, {"file": {"bytes": ""}}, "$.file: a text file in memory needs a name="),
        (Part, {"completed": {}}, "$ has no known part, but 'completed'"),
        (
            Event,
            {"tool_call_delta": {"index": -1}},
            "$.tool_call_delta.index must be a whole number from 0 on, not -1",
        ),
        (
            Event,
            {"completed": {"finish": "eos", "text": ""}},
            "$.completed.finish must be one of stop, tool_calls, length, content_filter, refusal, not 'eos'",
        ),
        (Completion, {"finish": "stop", "usage": {"input": 1}}, "$.usage.output is missing"),
        (list[Message], {}, "$ must be a list, not an object"),
        (tuple[Message, ...], [USER, 1], "$[1] must be an object with text keys, not 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_data_is_refused_by_its_place(kind, data, problem):
    with pytest.raises(ConfigError) as caught:
        from_dict(kind, data)
    assert caught.value.detail == problem
    assert caught.value.__context__ is None


@pytest.mark.uncounted
@settings(max_examples=500)
@given(st.data(), values.values, st.sampled_from([None, Part, Event, Message, Request, Completion]))
def test_nothing_but_a_config_error_comes_of_bad_data(data, value, kind):
    damaged = damage(data.draw, to_dict(value))
    said = []
    try:
        from_dict(kind or type(value), damaged)
    except ConfigError as error:
        said.append(str(error))
    for text in said:
        text.encode()
        assert len(text) < 400


def damage(draw, data):
    """Some data of a value, with one place of it replaced by any JSON."""
    spots = []

    def walk(node):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            spots.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    data = json.loads(json.dumps(data))
    walk(data)
    if not spots:
        return data
    node, key = draw(st.sampled_from(spots))
    node[key] = draw(values.json_values | st.just("\ud800") | st.floats())
    return data


@pytest.mark.parametrize("around", [lambda x: [x], lambda x: {"x": x}, lambda x: {"parts": [x]}])
def test_deeply_nested_data_is_refused_not_recursed_into(around):
    deep = 1
    for _ in range(100_000):
        deep = around(deep)
    try:
        for kind in FORMS:
            with pytest.raises(ConfigError):
                from_dict(kind, {"role": deep, "text": deep, "model": deep, "id": deep, "finish": deep})
        with pytest.raises(ConfigError, match=r"\$\.extra\.x.* is nested too deeply"):
            from_dict(Request, {"extra": {"x": deep}})
    finally:
        while isinstance(deep, (dict, list)):  # taken apart from the outside: freeing it whole would recurse
            deep = deep.popitem()[1] if isinstance(deep, dict) else deep.pop()


@pytest.mark.parametrize(
    "kind", [int, str, dict, list[int], tuple[Message], svir.Limits, int | str, Text | TextDelta]
)
def test_what_has_no_form_is_a_type_error(kind):
    with pytest.raises(TypeError, match="no serialized form"):
        from_dict(kind, {})


@pytest.mark.parametrize("value", ["x", b"x", {}, 1, None, svir.Limits(), [1]], ids=repr)
def test_only_values_are_written(value):
    with pytest.raises(TypeError, match="no serialized form"):
        to_dict(value)


def test_nothing_that_is_written_or_read_is_shared_with_the_value():
    stored = to_dict(EXAMPLES["Request"].replace(extra={"a": {"b": 1}}))
    value = from_dict(Request, stored)
    written = to_dict(value)
    for data in (stored, written):
        data["extra"]["a"]["b"] = data["tools"][0]["input_schema"]["properties"]["value"]["type"] = "changed"
    assert value.extra == {"a": {"b": 1}}
    assert value.tools == EXAMPLES["Request"].tools
