from __future__ import annotations

import pytest

from svir import (
    ConfigError,
    Image,
    Message,
    Reasoning,
    Role,
    Text,
    TextFile,
    ToolCall,
    ToolResult,
    assistant,
    user,
)


def test_a_message_takes_a_string_a_part_or_several_and_keeps_their_order():
    image, file = Image("a.png"), TextFile("a.txt")
    assert Message("user", "x").parts == (Text("x"),)
    assert Message("user", image).parts == (image,)
    assert Message("user", iter(["x", image, "y", file])).parts == (Text("x"), image, Text("y"), file)
    assert Message("user").parts == ()


def test_user_and_assistant_say_their_role():
    assert user("a", "b") == Message(Role.USER, ["a", "b"])
    assert assistant() == Message(Role.ASSISTANT)


@pytest.mark.parametrize("role", [*Role, "user", "assistant", "tool"])
def test_a_role_is_one_of_three_words(role):
    assert type(Message(role).role) is Role


@pytest.mark.parametrize("role", ["system", "User", "developer", ""])
def test_any_other_role_is_refused_and_the_words_are_named(role):
    with pytest.raises(ConfigError, match="user, assistant, tool"):
        Message(role)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Message(None),
        lambda: Message("user", 1),
        lambda: Message("user", [b"x"]),
        lambda: Message("user", [Message("user")]),
        lambda: Text(None),
        lambda: Reasoning("think", None),
        lambda: ToolCall(1, "b"),
        lambda: ToolCall("a", None),
        lambda: ToolCall("a", "b", {}),
        lambda: ToolResult("a", 1),
        lambda: ToolResult(None, "b"),
        lambda: ToolResult("a", "b", 1),
    ],
)
def test_a_wrong_python_type_is_a_type_error(make):
    with pytest.raises(TypeError):
        make()


def test_a_users_turn_says_something():
    with pytest.raises(ConfigError, match=r"user\(\) needs a part"):
        user()


def test_a_wrong_part_is_named_by_its_place():
    with pytest.raises(TypeError, match=r"Message\.parts\[1\] must be str or Text .* not int"):
        Message("user", ["a", 1])


@pytest.mark.parametrize(
    "parts", [{"type": "text", "text": "hi"}, {}, {"a"}, frozenset("a"), b"a", bytearray(b"a"), 1, None]
)
def test_what_gives_its_items_as_something_else_is_never_taken_apart(parts):
    with pytest.raises(
        TypeError, match=rf"Message\.parts must be str or Text or .* not {type(parts).__name__}$"
    ):
        Message("user", parts)
    with pytest.raises(
        TypeError, match=rf"Message\.parts\[0\] must be str or Text .* not {type(parts).__name__}$"
    ):
        Message("user", [parts])


@pytest.mark.parametrize("source", ["", "content", None, []])
def test_reasoning_came_in_one_of_three_ways(source):
    with pytest.raises((ConfigError, TypeError)):
        Reasoning(source, "x")


def test_parts_a_role_cannot_carry_are_not_judged_here():
    assert Message("assistant", Image("a.png")).parts
    assert Message("user", ToolResult("a", "b")).parts
