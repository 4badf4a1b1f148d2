"""What a user of tool sets writes; checked by type checkers, never run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, assert_type

from svir import (
    AsyncClient,
    AsyncToolbox,
    Client,
    Completion,
    Injected,
    Request,
    Tool,
    Toolbox,
    ToolCall,
    ToolResult,
    Tools,
)


class Database:
    def stock(self, item: str) -> int:
        return len(item)


@dataclass
class Place:
    lat: float


tools = Tools(lax=True, threads=True)


@tools.add
def stock(item: Annotated[str, "Its name."], db: Injected[Database], least: int = 0) -> int:
    assert_type(item, str)
    assert_type(db, Database)
    return db.stock(item)


@tools.add(name="look_up", description="Looks it up.")
async def look_up(place: Place) -> list[str]:
    return [str(place.lat)]


def the_functions_are_what_they_were() -> None:
    # The decorators keep the whole type: positional names, defaults, and what comes back.
    assert_type(stock("nails", Database()), int)
    assert_type(stock(item="nails", db=Database(), least=2), int)
    stock("nails", 3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    stock("nails")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    assert_type(tools.add(stock)("nails", Database()), int)
    assert_type(tools.add(stock, name="other")("nails", Database()), int)


async def an_asynchronous_one_too() -> None:
    assert_type(await look_up(Place(1.0)), list[str])


def handle(arguments: Place) -> dict[str, float]:
    return {"lat": arguments.lat}


def raw(arguments: dict[str, object]) -> object:
    return arguments


def described() -> None:
    tools.add_tool(Tool("look"), handle)
    tools.add_tool(Tool("raw"), raw)
    assert_type(tools.tools(), tuple[Tool, ...])
    tools.add_tool("look", handle)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Tools(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def loop(client: Client, request: Request) -> Completion:
    request = request.replace(tools=tools)
    while (answer := client.complete(request, tools=tools)).calls:
        assert_type(tools.call_all(answer, db=Database()), tuple[ToolResult, ...])
        request = request.with_turns(answer, *tools.call_all(answer, db=Database()))
    assert_type(tools.call(answer.calls[0], db=Database()), ToolResult)
    tools.call_all(answer.calls)
    tools.call("look")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    return answer


async def async_loop(client: AsyncClient, request: Request) -> Completion:
    while (answer := await client.complete(request)).calls:
        results = await tools.acall_all(answer, concurrency=4, db=Database())
        assert_type(results, tuple[ToolResult, ...])
        request = request.with_turns(answer, *results)
    assert_type(await tools.acall(answer.calls[0]), ToolResult)
    return answer


class Echo(Toolbox, AsyncToolbox):
    """One's own tool set, with what the protocols provide."""

    def tools(self) -> Iterable[Tool]:
        return [Tool("echo")]

    def call(self, call: ToolCall, /) -> ToolResult:
        return ToolResult(call.id, call.arguments)

    async def acall(self, call: ToolCall, /) -> ToolResult:
        return self.call(call)


def boxed(box: Toolbox, answer: Completion) -> Sequence[ToolResult]:
    Request(tools=[box, Tool("other"), tools])
    return box.call_all(answer)


async def aboxed(box: AsyncToolbox, answer: Completion) -> Sequence[ToolResult]:
    return await box.acall_all(answer, concurrency=2)


async def both_are_tool_sets(answer: Completion) -> None:
    boxed(Echo(), answer)
    boxed(tools, answer)
    await aboxed(Echo(), answer)
    await aboxed(tools, answer)
