"""What a user of typed answers writes; checked by mypy and basedpyright, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, assert_type

import msgspec
import pydantic

from svir import AsyncClient, Client, Completion, Request, Schema, ToolCall
from svir.types import ResponseFormat


@dataclass
class River:
    name: Annotated[str, "as locals call it"]
    km: float


class Lake(TypedDict):
    name: str


class Sea(msgspec.Struct):
    name: str


class Canal(pydantic.BaseModel):
    name: str


class Point(NamedTuple):
    lat: float
    lon: float


def read(completion: Completion) -> None:
    assert_type(completion.parse(River), River)
    assert_type(completion.parse(Lake), Lake)
    assert_type(completion.parse(Sea), Sea)
    assert_type(completion.parse(Canal), Canal)
    assert_type(completion.parse(Point), Point)
    assert_type(completion.parse(list[River]), list[River])
    assert_type(completion.parse(dict[str, int]), dict[str, int])
    assert_type(completion.parse(River | Lake), River | Lake)
    assert_type(completion.parse(River | None), River | None)
    assert_type(completion.parse(Literal["yes", "no"]), Literal["yes", "no"])
    assert_type(completion.parse(Annotated[int, "a count"]), int)
    assert_type(completion.parse(int).bit_length(), int)


def call(call: ToolCall) -> None:
    assert_type(call.parse(River), River)
    assert_type(call.parse(River | Canal), River | Canal)


def ask(client: Client, request: Request) -> None:
    river = client.parse(River, "Name a river.", system="Be brief.", strict=True, max_tokens=100)
    assert_type(river, River)
    assert_type(river.km, float)
    assert_type(client.parse(list[River], request), list[River])
    assert_type(client.parse(River | None, ["One.", "Two."]), River | None)
    assert_type(client.parse(Literal["yes", "no"], "Well?"), Literal["yes", "no"])
    assert_type(client.complete("Name a river.", response_format=River).parse(River), River)


async def ask_async(client: AsyncClient, request: Request) -> None:
    assert_type(await client.parse(River, "Name a river.", strict=True), River)
    assert_type(await client.parse(list[Canal], request), list[Canal])
    assert_type(await client.parse(Sea | Canal, request, temperature=0), Sea | Canal)


def schemas() -> Request:
    assert_type(Schema.of(River), Schema)
    assert_type(Schema.of(River | None, name="river", strict=True, inline=True).schema, dict[str, Any])
    Request("m", response_format=list[River])
    Request("m", response_format=Literal["yes", "no"])
    Request("m", response_format="json")
    request = Request("m", response_format=River)
    assert_type(request.response_format, ResponseFormat)
    return request


def refused(client: Client, completion: Completion) -> None:
    completion.parse(River("Otra", 245))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    completion.parse(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.parse()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.parse(River, "hi", modle="m")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Request("m", response_format="xml")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.complete("hi", response_format=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    _ = completion.parse(River).length  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
