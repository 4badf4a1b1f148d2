"""JSON Schemas from types: what they say, and what cannot be said."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from typing_extensions import Doc

from svir import ConfigError, Request, Schema
from svir.types._schema import schema_of

T = TypeVar("T")


class Kind(enum.Enum):
    BIG = "big"
    SMALL = "small"


@dataclasses.dataclass
class Mouth:
    """Where a river ends."""

    sea: Annotated[str, "its usual name"]
    depth_m: float | None = None


@dataclasses.dataclass
class AsDataclass:
    name: Annotated[str, "as locals call it"]
    km: Annotated[float, Meta(description="from source to mouth", gt=0)]
    mouth: Mouth | None = None


class AsTypedDict(TypedDict):
    name: Annotated[str, "as locals call it"]
    km: Annotated[float, Meta(description="from source to mouth", gt=0)]
    mouth: NotRequired[Mouth | None]


class AsStruct(msgspec.Struct):
    name: Annotated[str, "as locals call it"]
    km: Annotated[float, Meta(description="from source to mouth", gt=0)]
    mouth: Mouth | None = None


@attrs.define
class AsAttrs:
    name: Annotated[str, "as locals call it"]
    km: Annotated[float, Meta(description="from source to mouth", gt=0)]
    mouth: Mouth | None = None


class AsModel(pydantic.BaseModel):
    name: str = pydantic.Field(description="as locals call it")
    km: float = pydantic.Field(description="from source to mouth", gt=0)
    mouth: Mouth | None = None


class AsNamedTuple(NamedTuple):
    name: Annotated[str, "as locals call it"]
    km: float = 0.0


class Tree(msgspec.Struct):
    name: str
    branches: list[Tree] = []


class ModelTree(pydantic.BaseModel):
    name: str
    branches: list[ModelTree] = []


@dataclasses.dataclass
class Chain:
    next: Annotated[Chain, "the one after"] | None = None


class Page(msgspec.Struct, Generic[T]):
    first: Annotated[T, "the first one"]
    all: list[Annotated[T, "one of them"]]


CLASSES = [AsDataclass, AsTypedDict, AsStruct, AsAttrs, AsModel]


def untitled(schema):
    """A schema without titles, which the makers of classes choose."""
    if isinstance(schema, dict):
        return {key: untitled(value) for key, value in schema.items() if key != "title"}
    return [untitled(one) for one in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("kind", CLASSES)
def test_every_kind_of_class_says_the_same(kind):
    schema = untitled(schema_of(kind))
    properties = schema["properties"]
    assert schema["type"] == "object"
    assert schema["required"] == ["name", "km"]
    assert properties["name"] == {"type": "string", "description": "as locals call it"}
    assert properties["km"] == {
        "type": "number",
        "description": "from source to mouth",
        "exclusiveMinimum": 0,
    }
    assert properties["mouth"]["anyOf"] == [{"$ref": "#/$defs/Mouth"}, {"type": "null"}]
    assert list(schema["$defs"]) == ["Mouth"]


def test_a_named_tuple_is_an_array_of_its_fields():
    assert untitled(schema_of(AsNamedTuple)) == {
        "type": "array",
        "prefixItems": [
            {"type": "string", "description": "as locals call it"},
            {"type": "number", "default": 0.0},
        ],
        "minItems": 1,
        "maxItems": 2,
    }


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, {"type": "string"}),
        (bool | None, {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (
            Literal[1, "a"] | None,
            {"anyOf": [{"type": ["integer", "string"], "enum": [1, "a"]}, {"type": "null"}]},
        ),
        (Kind, {"title": "Kind", "type": "string", "enum": ["big", "small"]}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (Annotated[dt.datetime, Meta(tz=False)], {"type": "string"}),
        (Annotated[dt.datetime, Meta(tz=True)], {"type": "string", "format": "date-time"}),
        (dt.date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Annotated[int, "a count"], {"type": "integer", "description": "a count"}),
        (Annotated[int, Doc("a count")], {"type": "integer", "description": "a count"}),
        (
            Annotated[int, pydantic.Field(description="a count")],
            {"type": "integer", "description": "a count"},
        ),
        pytest.param(
            Annotated[int, object(), "", "a count"],
            {"type": "integer", "description": "a count"},
            id="what says nothing is passed over",
        ),
        (Annotated[int, "mine", Meta(description="theirs")], {"type": "integer", "description": "theirs"}),
        (
            Sequence[Annotated[str, "a name"]],
            {"type": "array", "items": {"type": "string", "description": "a name"}},
        ),
        (
            dict[str, list[Annotated[int, "a count"] | None]],
            {
                "type": "object",
                "additionalProperties": {
                    "type": "array",
                    "items": {"anyOf": [{"type": "integer", "description": "a count"}, {"type": "null"}]},
                },
            },
        ),
    ],
    ids=str,
)
def test_plain_types_have_their_schemas(kind, schema):
    assert schema_of(kind) == schema


def test_descriptions_are_found_at_any_depth_of_a_field():
    @dataclasses.dataclass
    class Deep:
        names: list[Annotated[str, "a name"]] = dataclasses.field(default_factory=list)
        when: dt.datetime | None = None
        literal: Literal["a", "not a description"] = "a"

    properties = schema_of(Deep)["properties"]
    assert properties["names"]["items"]["description"] == "a name"
    assert properties["names"]["default"] == []
    assert properties["when"]["anyOf"][0]["format"] == "date-time"
    assert properties["literal"] == {
        "type": "string",
        "enum": ["a", "not a description"],
        "default": "a",
    }


def test_a_description_stands_beside_a_reference():
    class Trip(TypedDict):
        end: Annotated[Mouth, "where the boat stops"]

    schema = schema_of(Trip)
    assert schema["properties"]["end"] == {"$ref": "#/$defs/Mouth", "description": "where the boat stops"}


def test_a_class_of_tagged_fields_keeps_its_tag_first():
    class Tagged(msgspec.Struct, tag="t", array_like=True):
        name: Annotated[str, "a name"]

    assert [place.get("description") for place in schema_of(Tagged)["prefixItems"]] == [None, "a name"]


def test_names_that_are_renamed_keep_their_descriptions():
    class Renamed(msgspec.Struct, rename="camel"):
        full_name: Annotated[str, "all of it"]

    assert schema_of(Renamed)["properties"] == {"fullName": {"type": "string", "description": "all of it"}}


def test_a_generic_class_is_described_with_its_types():
    properties = schema_of(Page[int])["properties"]
    assert properties["first"] == {"type": "integer", "description": "the first one"}
    assert properties["all"]["items"] == {"type": "integer", "description": "one of them"}


def test_a_class_made_of_a_generic_one_is_described_with_its_types():
    class Numbers(Page[int]):
        pass

    class Pages(Page[list[T]], Generic[T]):
        pass

    assert schema_of(Numbers)["properties"]["first"] == {"type": "integer", "description": "the first one"}
    properties = schema_of(Pages[str])["properties"]
    assert properties["first"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "the first one",
    }


def test_a_variable_alone_is_described_as_what_it_stands_for():
    class Box(msgspec.Struct, Generic[T]):
        value: T

    assert schema_of(Box[dt.datetime])["properties"]["value"]["format"] == "date-time"


def test_a_generic_class_without_its_types_keeps_what_msgspec_says_of_it():
    assert schema_of(Page)["properties"] == {"first": {}, "all": {"type": "array"}}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases that are types came with 3.12")
def test_an_alias_says_what_it_stands_for():
    space = {"Annotated": Annotated}
    exec("type Km = Annotated[float, 'kilometres']\ntype Name = str", space)
    km, name = space["Km"], space["Name"]
    assert schema_of(list[km])["items"] == {"type": "number", "description": "kilometres"}
    assert schema_of(name) == {"type": "string"}
    assert Schema.of(km).name == "Km"


def test_a_docstring_describes_a_class():
    assert schema_of(Mouth)["description"] == "Where a river ends."


def test_an_annotated_string_describes_the_whole():
    for kind in (Mouth, AsModel, list[AsModel]):
        assert schema_of(Annotated[kind, "the whole"])["description"] == "the whole"


@pytest.mark.parametrize("kind", [*CLASSES, Tree, ModelTree, list[Mouth], AsModel | ModelTree, Page[Mouth]])
def test_the_root_is_never_a_reference_and_all_references_lead_somewhere(kind):
    schema = schema_of(kind)
    assert "$ref" not in schema
    targets = {node["$ref"].removeprefix("#/$defs/") for node in nodes(schema) if "$ref" in node}
    assert targets == set(schema.get("$defs", {}))


def nodes(schema):
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@pytest.mark.parametrize("kind", [*CLASSES, list[Mouth], Page[Mouth], Annotated[AsModel | None, "?"]])
def test_definitions_are_inlined_on_request(kind):
    schema = schema_of(kind, inline=True)
    assert not any({"$ref", "$defs"} & node.keys() for node in nodes(schema))
    assert any(node.get("title") == "Mouth" for node in nodes(schema))


@pytest.mark.parametrize("kind", [Tree, ModelTree, list[Tree]])
def test_what_contains_itself_is_described_and_not_inlined(kind):
    name = "ModelTree" if kind is ModelTree else "Tree"
    assert name in schema_of(kind)["$defs"]
    with pytest.raises(ConfigError, match=f"^the configuration is invalid: {name} contains itself"):
        schema_of(kind, inline=True)


def test_a_property_may_have_any_name():
    class Odd(pydantic.BaseModel):
        default: Mouth
        ref: int = pydantic.Field(alias="$ref")
        enum: Literal["$ref"] = "$ref"
        properties: dict[str, Mouth]

    inlined = schema_of(Odd, inline=True)["properties"]
    assert inlined["default"]["title"] == "Mouth"
    assert inlined["$ref"]["type"] == "integer"
    assert inlined["properties"]["additionalProperties"]["title"] == "Mouth"
    assert set(schema_of(Odd)["$defs"]) == {"Mouth"}


class Model(pydantic.BaseModel):
    inner: Mouth


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]


class Zoo(pydantic.BaseModel):
    pet: Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]


def test_models_inside_other_classes_bring_their_definitions():
    class Holder(msgspec.Struct):
        model: Annotated[Model, "the model"]
        more: list[Model | None] = []
        mouth: Mouth | None = None

    schema = schema_of(Holder)
    model = schema["properties"]["model"]
    assert model["description"] == "the model"
    target = schema["$defs"][model["$ref"].removeprefix("#/$defs/")]
    inner = schema["$defs"][target["properties"]["inner"]["$ref"].removeprefix("#/$defs/")]
    assert set(inner["properties"]) == {"sea", "depth_m"}
    assert set(schema["$defs"]) == {"Mouth", "Mouth_2", "Model"}


def test_a_discriminator_follows_its_definitions():
    class Holder(msgspec.Struct):
        zoo: Zoo
        cat: Cat | None = None

    schema = schema_of(Holder)
    pet = schema["$defs"]["Zoo"]["properties"]["pet"]
    assert {ref for one in pet["oneOf"] for ref in one.values()} == set(
        pet["discriminator"]["mapping"].values()
    )
    assert schema_of(Zoo, inline=True)["properties"]["pet"]["discriminator"] == {"propertyName": "kind"}


def test_pydantic_is_used_only_when_it_is_there(monkeypatch):
    monkeypatch.delitem(sys.modules, "pydantic")
    assert schema_of(list[Model])["items"] == {"$ref": "#/$defs/Model"}
    assert "pydantic" not in sys.modules


@dataclasses.dataclass
class Lake:
    area_km2: float


def test_a_union_of_classes_is_any_of_them():
    schema = schema_of(Mouth | Lake | None)
    assert schema["anyOf"] == [{"$ref": "#/$defs/Mouth"}, {"$ref": "#/$defs/Lake"}, {"type": "null"}]


class Opaque:
    pass


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Opaque, "Opaque"),
        (list[Opaque], r"list\[Opaque\]"),
        (dict[str, Mouth | Lake], r"dict\[str, Mouth \| Lake\]"),
        ("AsDataclass", "the name 'AsDataclass'"),
        pytest.param(object(), "<object object", id="no type at all"),
        (
            pydantic.create_model(
                "Odd", x=(pydantic.SkipValidation[Opaque], ...), __config__={"arbitrary_types_allowed": True}
            ),
            "Odd",
        ),
        (dataclasses.make_dataclass("Mixed", [("x", enum.Enum("E", {"A": 1, "B": "b"}))]), "Mixed"),
        (dataclasses.make_dataclass("Unknown", [("x", "Nowhere")]), "Unknown"),
    ],
    ids=str,
)
def test_what_has_no_schema_or_is_never_read_back_is_refused_by_name(kind, text):
    with pytest.raises(
        ConfigError, match=f"{text}.*(has no JSON Schema|nothing can be read)|nothing can be read into {text}"
    ) as caught:
        schema_of(kind)
    assert caught.value.__context__ is None


# --- strict ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_strict_requires_every_property_and_allows_no_others(kind):
    schema = schema_of(kind, strict=True)
    assert schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "as locals call it"},
            "km": {"type": "number", "description": "from source to mouth", "exclusiveMinimum": 0},
            "mouth": {"anyOf": [{"$ref": "#/$defs/Mouth"}, {"type": "null"}]},
        },
        "required": ["name", "km", "mouth"],
        "additionalProperties": False,
        "$defs": {"Mouth": schema["$defs"]["Mouth"]},
    }
    mouth = schema["$defs"]["Mouth"]
    assert mouth["required"] == ["sea", "depth_m"]
    assert mouth["properties"]["depth_m"] == {"anyOf": [{"type": "number"}, {"type": "null"}]}


def test_strict_keeps_what_is_taken_and_leaves_out_what_only_narrows():
    class Many(msgspec.Struct, forbid_unknown_fields=True):
        ids: Annotated[list[UUID], Meta(min_length=1, max_length=3)]
        word: Annotated[str, Meta(pattern="^a", max_length=3, title="Word", examples=["a"])] = "a"
        data: bytes = b""
        seen: frozenset[int] = frozenset()
        price: Annotated[float, Meta(multiple_of=0.5, le=9)] = 1
        point: tuple[float, float] = (0, 0)
        level: Literal[1, 2] = 1

    assert schema_of(Many, strict=True)["properties"] == {
        "ids": {
            "type": "array",
            "items": {"type": "string", "format": "uuid"},
            "minItems": 1,
            "maxItems": 3,
        },
        "word": {"type": "string", "pattern": "^a"},
        "data": {"type": "string"},
        "seen": {"type": "array", "items": {"type": "integer"}},
        "price": {"type": "number", "multipleOf": 0.5, "maximum": 9},
        "point": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        "level": {"type": "integer", "enum": [1, 2]},
    }


def test_strict_takes_what_contains_itself():
    schema = schema_of(Tree, strict=True)
    assert schema["$defs"]["Tree"]["properties"]["branches"]["items"] == {"$ref": "#/$defs/Tree"}


def test_a_strict_reference_stands_alone_even_inside_itself():
    described = schema_of(Chain, strict=True)["properties"]["next"]["anyOf"][0]
    assert described["description"] == "the one after"
    assert described["type"] == "object"
    assert all(len(node) == 1 for node in nodes(described) if "$ref" in node)
    assert schema_of(Chain, strict=True)["$defs"].keys() == {"Chain"}


def test_strict_reads_a_lone_all_of_as_what_it_holds():
    kind = holding(Annotated[Any, Meta(extra_json_schema={"allOf": [{"type": "string"}]})])
    assert schema_of(kind, strict=True)["properties"]["bad"] == {"type": "string"}


def test_strict_writes_one_of_as_any_of():
    pet = schema_of(Zoo, strict=True)["properties"]["pet"]
    assert pet == {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}


def holding(hint):
    return dataclasses.make_dataclass("Holding", [("good", int), ("bad", hint)])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (list[Mouth], r"list\[Mouth\] is no object"),
        (Mouth | None, r"Mouth \| None is no object"),
        (str, "str is no object"),
        (dict[str, int], r"dict\[str, int\] takes any keys"),
        (holding(dict), r"Holding\.bad takes any keys"),
        (holding(dict[str, int] | None), r"Holding\.bad takes any keys"),
        (holding(list[dict[str, int]]), r"Holding\.bad\[\] takes any keys"),
        (holding(Any), r"Holding\.bad takes anything"),
        (holding(list), r"Holding\.bad\[\] takes anything"),
        (holding(tuple[int, str]), r"Holding\.bad is a tuple of different types"),
        (holding(AsNamedTuple), r"AsNamedTuple is a tuple of different types"),
        (holding(Annotated[int, Meta(extra_json_schema={"not": {}})]), r"Holding\.bad: .* does not take not"),
        (
            pydantic.create_model("Open", __config__={"extra": "allow"}, x=(int, ...)),
            "Open takes any keys",
        ),
    ],
    ids=str,
)
def test_what_a_strict_server_refuses_is_refused_here_and_the_place_is_named(kind, text):
    schema_of(kind)
    with pytest.raises(ConfigError, match=text):
        schema_of(kind, strict=True)


def test_every_object_of_a_strict_schema_is_closed_whatever_it_is_made_of():
    for kind in (AsModel, Tree, Zoo, Page[Mouth]):
        for node in nodes(schema_of(kind, strict=True)):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            assert not {"default", "title", "oneOf", "discriminator"} & (
                node.keys() if "$ref" in node or "type" in node else set()
            )


# --- Schema.of -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Mouth, "Mouth"),
        (Page[int], "Page_int"),
        (list[Mouth], "list_Mouth"),
        (Mouth | None, "Mouth_None"),
        (Annotated[Mouth, "where"], "Mouth"),
        (Literal["a", "b c"], "Literal_a_b_c"),
        (type("Fl\u00fc\u00dfe", (Mouth,), {}), "Fl_e"),
        (dataclasses.make_dataclass("\u5ddd", [("x", int)]), "answer"),
        (dataclasses.make_dataclass("X" * 80, [("x", int)]), "X" * 64),
    ],
    ids=ascii,
)
def test_a_schema_is_named_after_its_type(kind, name):
    assert Schema.of(kind).name == name


def test_a_schema_can_be_named():
    assert Schema.of(Mouth, name="my_mouth").name == "my_mouth"
    with pytest.raises(ConfigError, match=r"Schema\.name"):
        Schema.of(Mouth, name="my mouth")


def test_strict_is_part_of_the_schema_made():
    assert Schema.of(Mouth).strict is False
    assert Schema.of(Mouth, strict=True) == Schema("Mouth", schema_of(Mouth, strict=True), strict=True)
    assert Schema.of(list[Mouth], inline=True).schema["items"]["title"] == "Mouth"


@pytest.mark.parametrize("kind", [*CLASSES, list[int], int | None, Literal["a"], Kind, Any, Tree], ids=str)
def test_a_request_takes_the_type_itself(kind):
    request = Request("m", response_format=kind)
    assert request.response_format == Schema.of(kind)
    assert request.replace(model="n").response_format == Schema.of(kind)


@pytest.mark.parametrize(
    "given", [None, 3, 1.5, b"json", ["json"], ("json",), "River", object()], ids=range(8)
)
def test_a_request_takes_nothing_else(given):
    with pytest.raises(ConfigError):
        Request("m", response_format=given)


scalars = st.sampled_from([int, float, str, bool, None, UUID, dt.date, Kind, Mouth, Literal["a", "b"]])


@st.composite
def hints(draw, depth=2):
    """Types that msgspec reads, with a description here and there."""
    if depth == 0 or draw(st.booleans()):
        hint = draw(scalars)
    else:
        inner = draw(hints(depth=depth - 1))
        hint = draw(st.sampled_from([list[inner], tuple[inner, inner], inner | None if inner else int]))
    return Annotated[hint, draw(st.text("abc", max_size=3))] if hint and draw(st.booleans()) else hint


@given(st.dictionaries(st.sampled_from("abcdef"), hints(), min_size=1))
def test_a_strict_schema_says_the_same_as_the_plain_one_and_more(fields):
    kind = dataclasses.make_dataclass("Made", list(fields.items()))
    plain, strict = schema_of(kind), schema_of(kind, strict=True)
    assert list(plain["properties"]) == list(strict["properties"]) == strict["required"]
    again = {**schema_of(kind, inline=True)}
    assert list(again["properties"]) == list(plain["properties"])
    assert msgspec.json.decode(msgspec.json.encode(strict)) == strict
