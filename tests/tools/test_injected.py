from __future__ import annotations

from typing import Annotated

import pytest

import svir
from svir import Injected, ToolCall, Tools
from svir.tools._injected import is_injected, mentions_injected
from tests.support.faces import ASYNC_FACES

ran: list[str] = []


def stock(item: str, db: Injected[dict[str, int]]) -> int:
    ran.append("stock")
    return db[item]


def who(user: Injected[str | None] = None) -> str:
    ran.append("who")
    return user or "nobody"


def plain() -> str:
    ran.append("plain")
    return "ok"


@pytest.fixture(autouse=True)
def empty():
    ran.clear()


CALLS = [ToolCall("1", "stock", '{"item": "nails"}'), ToolCall("2", "who"), ToolCall("3", "plain")]
DB = {"nails": 3}


def contents(results):
    return [result.content for result in results]


def test_the_mark_is_found_where_it_means_something():
    assert is_injected(Injected[int])
    assert is_injected(Injected[int | None])
    assert is_injected(Annotated[Injected[int], "the count"])
    assert not is_injected(int)
    assert not is_injected(Annotated[int, "the count"])
    assert mentions_injected(Injected[int] | None)
    assert mentions_injected(list[Injected[int]])
    assert not mentions_injected(list[int])
    assert repr(Injected[int]) == "typing.Annotated[int, injected]"


def test_the_model_is_not_told_of_them():
    for tool in Tools(stock, who).tools():
        assert not {"db", "user"} & set(tool.input_schema["properties"])


def test_each_function_is_given_what_it_asks_for():
    tools = Tools(stock, who, plain)
    assert contents(tools.call_all(CALLS, db=DB)) == ["3", "nobody", "ok"]
    assert contents(tools.call_all(CALLS, db=DB, user="Ann")) == ["3", "Ann", "ok"]
    assert tools.call(CALLS[0], db=DB).content == "3"


def test_none_is_a_value():
    def f(x: Injected[object]) -> str:
        return repr(x)

    assert Tools(f).call(ToolCall("1", "f"), x=None).content == "None"


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_the_asynchronous_methods_take_them_too(face):
    tools = Tools(stock, who, plain)

    async def main():
        results = await tools.acall_all(CALLS, concurrency=2, db=DB)
        return [*results, await tools.acall(CALLS[0], db=DB)]

    assert contents(face.run(main)) == ["3", "nobody", "ok", "3"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "the tools need db="),
        ({"user": "Ann"}, "the tools need db="),
        ({"db": DB, "bd": DB, "ab": 1}, "no tool takes ab=, bd="),
    ],
)
@pytest.mark.parametrize("calls", [CALLS, CALLS[2:], [ToolCall("1", "other")], []], ids=len)
def test_a_wrong_set_of_them_is_a_type_error_before_anything_runs(given, why, calls):
    """Whatever the model calls: it must show in the first test, not on the day a model calls ``stock``."""
    tools = Tools(plain, who, stock)
    with pytest.raises(TypeError, match=why):
        tools.call_all(calls, **given)
    for face in ASYNC_FACES:
        with pytest.raises(TypeError, match=why):
            face.run(lambda: tools.acall_all(calls, **given))
    assert not ran


def test_a_model_cannot_give_one():
    result = Tools(stock).call(ToolCall("1", "stock", '{"item": "nails", "db": {"nails": 9}}'), db=DB)
    assert result.content == "invalid arguments: db: there is no such parameter"
    assert not ran


def test_any_name_but_the_reserved_may_be_used():
    def f(self: Injected[int], call: Injected[int], calls: Injected[int]) -> int:
        return self + call + calls

    tools = Tools(f)
    given = {"self": 1, "call": 2, "calls": 3}
    assert tools.call(ToolCall("1", "f"), **given).content == "6"
    assert tools.call_all([ToolCall("1", "f")], **given)[0].content == "6"


def test_the_function_itself_takes_plain_values():
    assert stock("nails", DB) == 3
    assert svir.Injected is Injected
