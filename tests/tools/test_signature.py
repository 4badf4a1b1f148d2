from __future__ import annotations

import dataclasses
import enum
import functools
import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import attrs
import msgspec
import pydantic
import pytest
from annotated_types import Interval
from typing_extensions import Doc

from svir import ConfigError, Injected, Request, Tool, ToolCall, Tools

if False:
    from nowhere import Absent


class Unit(enum.Enum):
    METRIC = "metric"
    US = "us"


@dataclasses.dataclass
class Data:
    lat: float


class Struct(msgspec.Struct):
    lat: float


class Typed(TypedDict):
    lat: float


class Named(NamedTuple):
    lat: float


@attrs.define
class Attrs:
    lat: float


class Model(pydantic.BaseModel):
    lat: float


class Node(msgspec.Struct):
    below: list[Node] = []


def schema(function, **options):
    (tool,) = Tools(function, **options).tools()
    return tool.input_schema


def parameter(hint, **default):
    def f(x): ...

    f.__annotations__ = {"x": hint}
    f.__defaults__ = tuple(default.values()) or None
    return schema(f)["properties"]["x"]


def test_a_function_is_described_by_what_it_says():
    def weather(city: str, days: int = 3, *, unit: Literal["c", "f"] = "c") -> str:
        """The weather in a city.

        Measured, not guessed.

        Args:
            city: Its name in English.
            days: How many.
        """
        raise NotImplementedError

    assert Tools(weather).tools() == (
        Tool(
            "weather",
            "The weather in a city.\n\nMeasured, not guessed.",
            {
                "type": "object",
                "properties": {
                    "city": {"description": "Its name in English.", "type": "string"},
                    "days": {"description": "How many.", "type": "integer", "default": 3},
                    "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
                },
                "required": ["city"],
            },
        ),
    )


def test_a_function_without_parameters_takes_an_empty_object():
    def today() -> str:
        raise NotImplementedError

    assert Tools(today).tools() == (Tool("today", "", {"type": "object", "properties": {}}),)


def test_a_request_takes_the_set_as_its_tools():
    def one(a: int): ...
    def two(a: int): ...

    assert [tool.name for tool in Request(tools=Tools(one, two)).tools] == ["one", "two"]


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Any, {}),
    ],
    ids=str,
)
def test_plain_types_are_described(hint, expected):
    assert parameter(hint) == expected


def test_an_enum_lists_its_values():
    assert parameter(Unit)["enum"] == ["metric", "us"]


@pytest.mark.parametrize("kind", [Data, Struct, Typed, Attrs, Model])
def test_classes_are_described_where_they_stand(kind):
    described = parameter(kind)
    assert described["type"] == "object"
    assert described["properties"]["lat"]["type"] == "number"
    assert described["required"] == ["lat"]
    assert "$ref" not in described


def test_a_named_tuple_is_an_array():
    assert parameter(Named)["type"] == "array"


@pytest.mark.parametrize("kind", [Data, Struct, Typed, Attrs, Model])
def test_definitions_are_at_the_root_where_references_look_for_them(kind):
    def f(places: list[kind], other: list[kind]): ...

    f.__annotations__ = {"places": list[kind], "other": list[kind]}
    described = schema(f)
    name = described["properties"]["places"]["items"]["$ref"].removeprefix("#/$defs/")
    assert described["$defs"][name]["properties"]["lat"]["type"] == "number"
    assert described["properties"]["other"] == described["properties"]["places"]
    assert "$defs" not in described["properties"]["places"]


def test_a_type_that_contains_itself_is_described():
    described = schema(_takes(Node))
    below = described["properties"]["x"]["properties"]["below"]
    assert below["items"] == {"$ref": "#/$defs/Node"}
    assert "Node" in described["$defs"]


def _takes(*hints):
    def f(x, y=None): ...

    f.__annotations__ = dict(zip("xy", hints, strict=False))
    if len(hints) == 1:
        f = functools.partial(f, y=None)
        f.__name__ = "f"
    return f


def test_two_types_of_one_name_do_not_share_a_definition():
    others = [msgspec.defstruct("Place", [("name", str)]), msgspec.defstruct("Place", [("size", int)])]
    described = schema(_takes(*(list[other] for other in others)))
    text = str(described["properties"]) + str(described["$defs"])
    assert "name" in text
    assert "size" in text
    tools = Tools(_takes(*(list[other] for other in others)))
    assert tools.call(ToolCall("1", "f", '{"x": [{"name": "a"}], "y": [{"size": 1}]}')).content == "null"


@pytest.mark.parametrize(
    "extra",
    [
        "how far",
        msgspec.Meta(description="how far"),
        pydantic.Field(description="how far"),
        Doc("how far"),
    ],
    ids=lambda extra: type(extra).__name__,
)
def test_annotated_describes_a_parameter_in_many_ways(extra):
    assert parameter(Annotated[int, extra]) == {"description": "how far", "type": "integer"}
    assert parameter(Annotated[Data, extra])["description"] == "how far"


def test_annotated_says_it_better_than_the_docstring():
    def f(x: Annotated[int, "the best"]):
        """F.

        Args:
            x: Not this.
        """

    assert schema(f)["properties"]["x"]["description"] == "the best"


@pytest.mark.parametrize(
    ("hint", "limits"),
    [
        (Annotated[int, pydantic.Field(ge=1, le=9)], {"minimum": 1, "maximum": 9}),
        (Annotated[int, Interval(gt=1, lt=9)], {"exclusiveMinimum": 1, "exclusiveMaximum": 9}),
        (Annotated[int, msgspec.Meta(ge=1), Interval(le=9)], {"minimum": 1, "maximum": 9}),
        (Annotated[str, pydantic.Field(pattern="^a", max_length=4)], {"pattern": "^a", "maxLength": 4}),
        (Annotated[str, pydantic.Field(pattern=re.compile("^a"))], {"pattern": "^a"}),
    ],
    ids=str,
)
def test_limits_are_described_whosever_they_are(hint, limits):
    assert parameter(hint).items() >= limits.items()


@pytest.mark.parametrize(
    "hint",
    [
        Annotated[int | None, pydantic.Field(ge=1)],
        Annotated[int, pydantic.Field(ge=1)] | None,
        list[Annotated[int, pydantic.Field(ge=1)]],
        dict[str, Annotated[int, pydantic.Field(ge=1)]],
        tuple[Annotated[int, pydantic.Field(ge=1)], ...],
    ],
    ids=str,
)
def test_limits_hold_inside_unions_and_collections(hint):
    assert "'minimum': 1" in str(parameter(hint))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (Unit.US, "us"),
        (Data(1.5), {"lat": 1.5}),
        ((1, 2), [1, 2]),
    ],
    ids=str,
)
def test_a_default_is_shown_as_json(value, shown):
    assert parameter(Any, default=value)["default"] == shown


@pytest.mark.parametrize("value", [object(), math.inf, [math.nan]], ids=["object", "inf", "nan"])
def test_a_default_that_is_no_json_is_not_shown(value):
    described = parameter(Any, default=value)
    assert described == {}


def test_name_and_description_may_be_given():
    tools = Tools()

    @tools.add(name="look_up", description="Finds it.")
    def f(x: int):
        """Not this."""

    tools.add(f, name="again")
    assert [(tool.name, tool.description) for tool in tools.tools()] == [
        ("look_up", "Finds it."),
        ("again", "Not this."),
    ]


def test_the_function_comes_back_unchanged():
    tools = Tools()

    def f(x: int): ...

    assert tools.add(f) is f
    assert tools.add()(f) is f
    assert tools.add(name="g")(f) is f


def test_the_same_name_replaces():
    tools = Tools()

    @tools.add(name="f")
    def one(x: int) -> str:
        return "one"

    @tools.add
    def other(y: int): ...

    @tools.add(name="f")
    def two(x: int) -> str:
        return "two"

    assert [tool.name for tool in tools.tools()] == ["f", "other"]
    assert tools.call(ToolCall("1", "f", '{"x": 1}')).content == "two"


class Shop:
    """A shop."""

    def stock(self, item: str) -> str:
        """How many there are."""
        return f"many {item}"

    def __call__(self, item: str) -> str:
        """Sells one."""
        return f"sold {item}"

    @staticmethod
    def open(day: str) -> bool:
        return True


def test_methods_and_callable_objects_are_functions_too():
    shop = Shop()
    tools = Tools(shop.stock, shop.open)
    tools.add(shop, name="sell")
    assert [(tool.name, tool.description) for tool in tools.tools()] == [
        ("stock", "How many there are."),
        ("open", ""),
        ("sell", "Sells one."),
    ]
    assert all("self" not in tool.input_schema["properties"] for tool in tools.tools())
    assert tools.call(ToolCall("1", "sell", '{"item": "nails"}')).content == "sold nails"


def test_what_a_partial_has_given_is_not_asked_for():
    def f(x: int, db: dict) -> int:
        """Looks."""
        return db[x]

    tools = Tools()
    tools.add(functools.partial(f, db={1: 7}), name="f")
    (tool,) = tools.tools()
    assert list(tool.input_schema["properties"]) == ["x"]
    assert tool.description == "Looks."
    assert tools.call(ToolCall("1", "f", '{"x": 1}')).content == "7"


def test_a_wrapped_function_is_described_by_what_it_wraps():
    def plain(x: Unit) -> str:
        """Plain."""
        return x.value

    @functools.wraps(plain)
    def wrapper(*args, **kwargs):
        return "wrapped " + plain(*args, **kwargs)

    tools = Tools(wrapper)
    assert tools.tools()[0].description == "Plain."
    assert tools.call(ToolCall("1", "plain", '{"x": "us"}')).content == "wrapped us"


def unannotated(x): ...
def several(*paths: str): ...
def anything(**fields: str): ...
def unnamed(x: int, /): ...
def callback(x: Callable[[], None]): ...
def absent(x: Absent): ...
def misspelled(x: "list[in"): ...  # noqa: F722
def ambiguous(x: Data | Attrs): ...
def nested(x: Injected[int] | None): ...
def reserved(concurrency: Injected[int]): ...
def contradictory(x: Annotated[int, pydantic.Field(ge=1, gt=1)]): ...
def misplaced(x: Annotated[str, pydantic.Field(ge=1)]): ...
def field_as_default(x: int = pydantic.Field(description="x")): ...


@pytest.mark.parametrize(
    ("function", "named", "why"),
    [
        (unannotated, "parameter x", "no type annotation"),
        (several, "*paths", "names"),
        (anything, "**fields", "described"),
        (unnamed, "parameter x", "names"),
        (callback, "parameter x", "cannot be described"),
        (absent, "parameter x", "Absent"),
        (misspelled, "parameter x", "cannot be read"),
        (ambiguous, "parameter x", "cannot be described"),
        (nested, "parameter x", "Injected"),
        (reserved, "parameter concurrency", "name"),
        (contradictory, "parameter x", "cannot be described"),
        (misplaced, "parameter x", "cannot be described"),
        (field_as_default, "parameter x", "Annotated"),
    ],
)
def test_what_cannot_be_described_is_refused_by_name(function, named, why):
    with pytest.raises(ConfigError) as caught:
        Tools(function)
    assert f"tool {function.__name__}, {named}" in str(caught.value)
    assert why in str(caught.value)
    assert caught.value.__context__ is None


def generates(x: int):
    yield x


async def agenerates(x: int):
    yield x


@pytest.mark.parametrize(
    "thing", [generates, agenerates, Data, dict.fromkeys, max, lambda: 1, functools.partial(unnamed, 1)]
)
def test_what_is_no_plain_function_is_refused(thing):
    with pytest.raises(ConfigError):
        Tools(thing)


@pytest.mark.parametrize("thing", ["weather", None, 3])
def test_what_cannot_be_called_is_a_type_error(thing):
    with pytest.raises(TypeError):
        Tools(thing)


def test_a_failed_addition_leaves_the_set_as_it_was():
    tools = Tools()
    with pytest.raises(ConfigError):
        tools.add(unannotated)
    assert tools.tools() == ()


class TestAToolOfItsOwn:
    TOOL = Tool("look", "Looks.", {"type": "object", "properties": {"lat": {"type": "number"}}})

    def answer(self, handler, arguments='{"lat": 1.5}', **options):
        tools = Tools(**options)
        tools.add_tool(self.TOOL, handler)
        assert tools.tools() == (self.TOOL,)
        return tools.call(ToolCall("1", "look", arguments)).content

    def test_the_handler_takes_a_dict(self):
        assert self.answer(lambda arguments: f"{arguments}") == "{'lat': 1.5}"

    @pytest.mark.parametrize("kind", [Data, Struct, Attrs, Model])
    def test_the_handler_takes_its_annotation(self, kind):
        def handler(arguments) -> str:
            assert type(arguments) is kind
            return str(arguments.lat)

        handler.__annotations__ = {"arguments": kind}
        assert self.answer(handler) == "1.5"
        assert self.answer(handler, '{"lat": "x"}').startswith("invalid arguments: lat: ")
        assert self.answer(handler, "{}").startswith("invalid arguments: ")
        assert self.answer(handler, "[1]") == "invalid arguments: not a JSON object"

    def test_no_handler_is_called_for_what_is_no_object(self):
        def handler(arguments: list[int]):
            raise AssertionError

        assert self.answer(handler, "[1]") == "invalid arguments: not a JSON object"

    def test_a_variadic_handler_takes_it_too(self):
        assert self.answer(lambda *arguments, **others: str((arguments, others))) == "(({'lat': 1.5},), {})"

    def test_the_handler_may_have_injected_parameters(self):
        tools = Tools()

        def handler(arguments: dict, db: Injected[str]) -> str:
            return db

        tools.add_tool(self.TOOL, handler)
        assert tools.call(ToolCall("1", "look"), db="x").content == "x"

    @pytest.mark.parametrize(
        "handler",
        [
            lambda: 1,
            lambda a, b: 1,
            lambda *, a: 1,
            absent,
            ambiguous,
            callback,
        ],
    )
    def test_other_handlers_are_refused(self, handler):
        with pytest.raises(ConfigError, match="tool look"):
            Tools().add_tool(self.TOOL, handler)

    def test_a_tool_and_a_function_are_needed(self):
        with pytest.raises(TypeError):
            Tools().add_tool("look", lambda a: 1)
        with pytest.raises(TypeError):
            Tools().add_tool(self.TOOL, "look")
