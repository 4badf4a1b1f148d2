from __future__ import annotations

import math
import types

import pytest

from svir import (
    Completion,
    ConfigError,
    Effort,
    FinishReason,
    Message,
    Reasoning,
    Request,
    Schema,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    assistant,
    user,
)

CALL = ToolCall("c", "t")


class Box:
    """Anything with ``tools()``."""

    def __init__(self, *tools):
        self.tools_ = tools

    def tools(self):
        return iter(self.tools_)


def test_messages_take_every_kind_of_turn():
    answer = Completion(FinishReason.TOOL_CALLS, "t", reasoning=(Reasoning("think", "r"),), calls=(CALL,))
    request = Request("m", messages=["a", assistant("b"), answer, ToolResult("c", "d")])
    assert request.messages == (
        user("a"),
        assistant("b"),
        assistant(Reasoning("think", "r"), Text("t"), CALL),
        Message("tool", ToolResult("c", "d")),
    )
    assert Request("m", messages="a").messages == (user("a"),)
    assert Request("m", messages=user("a")).messages == (user("a"),)
    assert Request("m", messages=iter("ab")).messages == (user("a"), user("b"))


@pytest.mark.parametrize(
    "tools",
    [
        [Tool("a"), Tool("b")],
        Box(Tool("a"), Tool("b")),
        [Tool("a"), Box(Tool("b"))],
        [Box(Tool("a")), Box(), Box(Tool("b"))],
        Box(Box(Tool("a")), Tool("b")),
    ],
    ids=range(5),
)
def test_tools_take_tools_and_whatever_offers_them(tools):
    assert Request("m", tools=tools).tools == (Tool("a"), Tool("b"))


def test_one_tool_is_enough():
    assert Request("m", tools=Tool("a")).tools == (Tool("a"),)


@pytest.mark.parametrize("tools", [None, "a", b"a", 1, [1], ["a"], [None], {"a": Tool("a")}, {Box()}])
def test_what_is_no_tool_is_a_type_error(tools):
    with pytest.raises(TypeError, match=r"tools must be"):
        Request("m", tools=tools)


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (lambda: 1, ": Tools(function) describes a function, and answers its calls"),
        (Box().tools, ": Tools(function) describes a function, and answers its calls"),
        (
            {"type": "function", "function": {"name": "a", "parameters": {}}},
            ": Tool(name, description, schema) has the parts of a dict's function",
        ),
        (int, ""),
        (1, ""),
    ],
    ids=["function", "method", "dict", "class", "number"],
)
def test_what_is_no_tool_is_told_how_it_becomes_one(one, told):
    for given in (one, [one], [Tool("a"), one]):
        with pytest.raises(TypeError) as caught:
            Request("m", tools=given)
        assert str(caught.value).endswith(f"or several of these, not {type(one).__name__}{told}")
        assert caught.value.__context__ is None


@pytest.mark.parametrize("word", [*Effort, "none", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_an_effort_is_one_of_seven_words(word):
    assert type(Request("m", effort=word).effort) is Effort


UNORDERED = [{}, {"role": "user"}, types.MappingProxyType({}), {"a"}, frozenset("a"), b"a", bytearray(b"a")]


@pytest.mark.parametrize("given", UNORDERED, ids=repr)
def test_what_gives_its_items_as_something_else_is_never_taken_apart(given):
    kind = type(given).__name__
    with pytest.raises(TypeError, match=rf"messages must be .*svir\.user\(.* not {kind}$"):
        Request(messages=given)
    with pytest.raises(TypeError, match=rf"turn 1 must be .*svir\.user\(.* not {kind}$"):
        Request(messages=["a", given])
    with pytest.raises(TypeError, match=rf"tools must be .* not {kind}(: Tool\(|$)"):
        Request(tools=given)
    with pytest.raises(TypeError, match=rf"Request\.stop must be .* not {kind}$"):
        Request(stop=given)


def test_stop_is_a_text_or_several():
    assert Request("m", stop="x").stop == ("x",)
    assert Request("m", stop=iter(["x", "y"])).stop == ("x", "y")
    assert Request("m", stop=[]).stop == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"effort": "off"},
        {"effort": ""},
        {"tool_choice": "any"},
        {"tool_choice": "lookup"},
        {"response_format": "json_object"},
        {"max_tokens": -1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_p": -math.inf},
    ],
    ids=str,
)
def test_a_word_or_number_outside_its_range_of_meaning_is_refused(fields):
    with pytest.raises(ConfigError, match=f"Request.{next(iter(fields))}"):
        Request("m", **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": 1},
        {"messages": [1]},
        {"messages": None},
        {"system": 1},
        {"max_tokens": "1"},
        {"max_tokens": True},
        {"max_tokens": 1.0},
        {"temperature": "0"},
        {"temperature": True},
        {"top_p": []},
        {"stop": 1},
        {"stop": [1]},
        {"seed": 1.5},
        {"seed": True},
        {"parallel_tool_calls": 1},
        {"include_usage": "yes"},
        {"send_reasoning": None},
        {"effort": 1},
        {"extra": []},
        {"extra": {1: 2}},
        {"extra": None},
        {"tool_choice": ["auto"]},
        {"tool_choice": None},
        {"response_format": {"type": "json_object"}},
        {"response_format": None},
        {"model": None},
    ],
    ids=str,
)
def test_a_wrong_python_type_is_a_type_error(fields):
    with pytest.raises((TypeError, ConfigError)):
        Request(**fields)


def test_what_a_server_may_refuse_is_not_judged_here():
    Request("m", temperature=99, top_p=-1, max_tokens=0, seed=-1)


@pytest.mark.parametrize(
    "kept",
    [
        lambda given: Request(extra=given).extra,
        lambda given: Schema("a", given).schema,
        lambda given: Tool("a", "", given).input_schema,
    ],
    ids=["extra", "schema", "input_schema"],
)
class TestFreeJson:
    def test_is_a_copy_that_does_not_change_with_what_was_given(self, kept):
        given = {"a": 1, "b": {"c": [{"d": 1}]}, "e": (1,), "f": types.MappingProxyType({"g": None})}
        copy = kept(types.MappingProxyType(given))
        given["b"]["c"][0]["d"] = 2
        given["h"] = 2
        assert copy == {"a": 1, "b": {"c": [{"d": 1}]}, "e": [1], "f": {"g": None}}

    @pytest.mark.parametrize(
        "key", [1, None, True, 1.5, (1,), b"x", 10**5000], ids=lambda key: type(key).__name__
    )
    def test_has_no_key_but_text(self, kept, key):
        for given, place in [({key: 1}, ""), ({"a b": [{"1": 1, key: 2}]}, r"\['a b'\]\[0\]")]:
            problem = f"{place} has a key that is not text, but {type(key).__name__}$"
            with pytest.raises(ConfigError, match=problem):
                kept(given)

    @pytest.mark.parametrize(
        "value", [{1}, b"x", object(), iter(()), 1j], ids=lambda value: type(value).__name__
    )
    def test_holds_nothing_but_json(self, kept, value):
        with pytest.raises(
            ConfigError, match=rf"(extra|schema)\.a\[1\] is not JSON, but {type(value).__name__}$"
        ):
            kept({"a": [0, value]})

    def test_is_no_deeper_than_can_be_written(self, kept):
        deep, loop = {}, {}
        for _ in range(99):
            deep = {"x": deep}
        loop["x"] = [loop, loop]
        assert kept(deep) == deep
        for given in ({"x": deep}, loop):
            with pytest.raises(ConfigError, match="nested too deeply") as caught:
                kept(given)
            assert len(str(caught.value)) < 300


def test_replace_checks_and_normalizes_like_the_constructor():
    request = Request("m", messages="a", tools=Tool("t"))
    changed = request.replace(messages=["b"], effort="low", model="n")
    assert changed == Request("n", messages="b", tools=Tool("t"), effort="low")
    assert request == Request("m", messages="a", tools=Tool("t"))
    with pytest.raises(TypeError, match="no field 'temprature'"):
        request.replace(temprature=1)
    with pytest.raises(ConfigError):
        request.replace(effort="off")


def test_turns_are_added_at_the_end():
    request = Request("m", messages="a").with_turns(assistant("b"), "c")
    assert request.messages == (user("a"), assistant("b"), user("c"))
    assert request.with_turns() == request


def test_an_answer_becomes_the_assistants_turn_and_nothing_of_it_is_lost():
    answer = Completion(
        FinishReason.TOOL_CALLS,
        "text",
        reasoning=(Reasoning("reasoning", "r"), Reasoning("think", "t")),
        calls=(CALL,),
    )
    turn = Request("m").with_turns(answer).messages[-1]
    assert turn == assistant(*answer.reasoning, "text", CALL)


@pytest.mark.parametrize("finish", FinishReason)
def test_an_answer_keeps_what_it_says_however_it_ended(finish):
    cut = finish is FinishReason.LENGTH
    reasoning = (Reasoning("reasoning_content", "r"), Reasoning("think", "t"))
    answer = Completion(
        finish, " said ", reasoning=reasoning, **{"cut_calls" if cut else "calls": (CALL, ToolCall("d", "t"))}
    )
    turn = assistant(*reasoning, " said ", *(() if cut else answer.calls))
    assert answer.to_message() == turn
    assert Request("m", messages="a").with_turns(answer, "b").messages == (user("a"), turn, user("b"))


def test_cut_calls_are_left_out_of_the_turn():
    answer = Completion(FinishReason.LENGTH, "", cut_calls=(CALL,))
    assert Request("m").with_turns(answer).messages == (assistant(),)


@pytest.mark.parametrize("choice", ["required", ToolChoice.tool("t")], ids=str)
@pytest.mark.parametrize(
    "result", [ToolResult("c", "x"), Message("tool", ToolResult("c", "x"))], ids=["result", "message"]
)
def test_results_turn_a_required_choice_back_to_auto_unless_it_is_kept(choice, result):
    request = Request("m", tools=Tool("t"), tool_choice=choice)
    assert request.with_turns(result).tool_choice == "auto"
    assert request.with_turns(result, keep_tool_choice=True).tool_choice == choice
    assert request.with_turns("no result").tool_choice == choice


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_results_leave_a_choice_alone_that_forces_nothing(choice):
    assert Request("m", tool_choice=choice).with_turns(ToolResult("c", "x")).tool_choice == choice


@pytest.mark.parametrize("turn", [1, None, Text("x"), CALL, b"x"])
def test_what_is_no_turn_is_a_type_error_that_names_its_place(turn):
    with pytest.raises(TypeError, match="turn 1 must be"):
        Request("m").with_turns("a", turn)


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 64])
def test_a_schema_has_a_plain_name(name):
    assert Schema(name, {}).name == name


@pytest.mark.parametrize("name", ["", "a b", "caf\u00e9", "x" * 65, "a.b", "\u0661"])
def test_any_other_schema_name_is_refused(name):
    with pytest.raises(ConfigError, match=r"Schema\.name"):
        Schema(name, {})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Schema(1, {}),
        lambda: Schema("a", []),
        lambda: Schema("a", {}, strict=1),
        lambda: ToolChoice(None),
    ],
)
def test_a_wrong_type_in_a_schema_or_a_choice_is_a_type_error(make):
    with pytest.raises(TypeError):
        make()
