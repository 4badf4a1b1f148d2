from __future__ import annotations

import asyncio
import functools
import threading

import pytest
import trio

from svir import (
    AsyncToolbox,
    Completion,
    ConfigError,
    FinishReason,
    Request,
    Tool,
    Toolbox,
    ToolCall,
    ToolResult,
    Tools,
)
from tests.support.faces import ASYNC_FACES

asynchronous = pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)


def double(x: int) -> int:
    return 2 * x


async def triple(x: int) -> int:
    return 3 * x


class Quadruple:
    async def __call__(self, x: int) -> int:
        return 4 * x


def calls(*names):
    return [ToolCall(f"c{n}", name, f'{{"x": {n}}}') for n, name in enumerate(names)]


def contents(results):
    return [result.content for result in results]


def test_calls_are_answered_in_their_order():
    results = Tools(double).call_all(iter(calls("double", "other", "double")))
    assert results == (
        ToolResult("c0", "0"),
        ToolResult("c1", "no tool named other", is_error=True),
        ToolResult("c2", "4"),
    )


def test_the_calls_of_an_answer_are_answered_and_cut_ones_are_not():
    whole = Completion(FinishReason.TOOL_CALLS, calls=tuple(calls("double")))
    cut = Completion(FinishReason.LENGTH, cut_calls=tuple(calls("double")))
    assert contents(Tools(double).call_all(whole)) == ["0"]
    assert Tools(double).call_all(cut) == ()
    assert Tools().call_all([]) == ()


def test_only_calls_are_answered():
    with pytest.raises(TypeError, match="a call must be ToolCall"):
        Tools().call("double")
    with pytest.raises(TypeError, match="a call must be ToolCall"):
        Tools().call_all(["double"])
    with pytest.raises(TypeError, match="a call must be ToolCall"):
        asyncio.run(Tools().acall("double"))


def test_an_unknown_name_is_cut_and_clean():
    result = Tools().call(ToolCall("1", "x" * 1000 + "\ud800"))
    assert result.content == f"no tool named {'x' * 64}..."
    assert Tools().call(ToolCall("1", "\ud800")).content == "no tool named ?"


def test_a_set_shows_its_names():
    assert repr(Tools(double, triple)) == "Tools(double, triple)"


@pytest.mark.parametrize(
    "function", [triple, Quadruple(), functools.partial(triple)], ids=["function", "object", "partial"]
)
def test_a_blocking_call_of_an_asynchronous_function_names_the_method_to_use(function):
    ran = []
    tools = Tools(double)
    tools.add(function, name="f")
    tools.add(lambda: ran.append(1), name="first")
    with pytest.raises(ConfigError, match=r"tool f is asynchronous: .* acall"):
        tools.call_all([ToolCall("0", "first"), ToolCall("1", "f", '{"x": 1}')])
    assert not ran  # found before anything ran
    assert tools.call(ToolCall("1", "double", '{"x": 1}')).content == "2"


class Later:
    def __await__(self):
        return triple(1).__await__()


@pytest.mark.parametrize("make", [lambda: triple(1), Later])
def test_a_function_that_turns_out_to_be_asynchronous_is_told_too(make):
    tools = Tools()
    tools.add(lambda: make(), name="f")  # noqa: PLW0108 (Later alone would be a class)
    with pytest.raises(ConfigError, match="acall"):
        tools.call(ToolCall("1", "f"))


@asynchronous
@pytest.mark.parametrize("concurrency", [1, 2, 100])
@pytest.mark.parametrize("threads", [False, True])
def test_both_kinds_of_functions_are_answered_in_the_order_of_the_calls(face, concurrency, threads):
    tools = Tools(double, triple, threads=threads)
    tools.add(Quadruple(), name="quadruple")
    tools.add(lambda: triple(1), name="turns_out")
    asked = [*calls("double", "triple", "other", "quadruple", "triple"), ToolCall("t", "turns_out")]

    async def main():
        return await tools.acall_all(asked, concurrency=concurrency)

    results = face.run(main)
    assert [result.call_id for result in results] == ["c0", "c1", "c2", "c3", "c4", "t"]
    assert contents(results) == ["0", "3", "no tool named other", "12", "12", "3"]


@asynchronous
def test_one_call_is_answered(face):
    async def main():
        return await Tools(triple).acall(calls("triple")[0])

    assert face.run(main) == ToolResult("c0", "0")


@asynchronous
def test_wrong_arguments_do_not_reach_an_asynchronous_function(face):
    async def main():
        return await Tools(triple).acall(ToolCall("1", "triple", '{"x": "1"}'))

    assert face.run(main).content == "invalid arguments: x: expected int, got str"


@asynchronous
@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("error", [ValueError("no"), StopIteration("no"), TimeoutError("no")], ids=repr)
def test_an_exception_becomes_a_result(face, threads, error):
    def plain():
        raise error

    async def coroutine():
        await face.sleep(0)
        raise error

    tools = Tools(plain, coroutine, threads=threads)

    async def main():
        return await tools.acall_all([ToolCall("1", "plain"), ToolCall("2", "coroutine")], concurrency=2)

    plain_result, coroutine_result = face.run(main)
    assert plain_result == ToolResult("1", "no", is_error=True)
    # Python itself does not let a StopIteration out of a coroutine.
    assert coroutine_result.content == (
        "coroutine raised StopIteration" if isinstance(error, StopIteration) else "no"
    )


@asynchronous
def test_plain_functions_run_where_they_are_called_unless_threads_are_asked_for(face):
    def where() -> int:
        return threading.get_ident()

    async def main():
        inline = await Tools(where).acall(ToolCall("1", "where"))
        elsewhere = await Tools(where, threads=True).acall(ToolCall("1", "where"))
        return inline.content, elsewhere.content, str(threading.get_ident())

    inline, elsewhere, here = face.run(main)
    assert inline == here
    assert elsewhere != here


@asynchronous
def test_in_threads_blocking_functions_run_at_once(face):
    meeting = threading.Barrier(3, timeout=10)
    tools = Tools(threads=True)
    tools.add(lambda: meeting.wait() >= 0, name="meet")

    async def main():
        return await tools.acall_all([ToolCall(str(n), "meet") for n in range(3)], concurrency=3)

    assert contents(face.run(main)) == ["true"] * 3


@asynchronous
@pytest.mark.parametrize("threads", [False, True])
def test_a_system_exit_goes_through(face, threads):
    def leave():
        raise SystemExit(3)

    tools = Tools(leave, triple, threads=threads)

    async def main():
        with pytest.raises(SystemExit):
            await tools.acall(ToolCall("1", "leave"))
        with pytest.raises(SystemExit):
            await tools.acall_all([ToolCall("1", "leave"), *calls("triple")], concurrency=2)
        return "on"

    assert face.run(main) == "on"


def test_a_set_may_change_while_it_is_used():
    tools = Tools(double)
    request = Request(tools=tools)
    tools.add(triple)
    assert len(request.tools) == 1
    assert len(request.replace(tools=tools).tools) == 2


class Echo(Toolbox, AsyncToolbox):
    """What a user derives from the protocols."""

    def tools(self):
        return (Tool("echo"),)

    def call(self, call):
        return ToolResult(call.id, call.name)

    async def acall(self, call):
        return self.call(call)


@asynchronous
def test_the_protocols_provide_what_answers_several(face):
    asked = Completion(FinishReason.TOOL_CALLS, calls=tuple(calls("a", "b")))
    assert contents(Echo().call_all(asked)) == ["a", "b"]

    async def main():
        return await Echo().acall_all(asked, concurrency=2)

    assert contents(face.run(main)) == ["a", "b"]
    assert Request(tools=Echo()).tools == (Tool("echo"),)


def test_trio_is_not_needed_for_asyncio(monkeypatch):
    monkeypatch.delitem(__import__("sys").modules, "trio")
    assert contents(asyncio.run(Tools(double).acall_all(calls("double", "double"), concurrency=2))) == [
        "0",
        "2",
    ]
    assert trio
