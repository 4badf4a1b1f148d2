"""svir's values as fields of pydantic models, and in a FastAPI application."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Annotated

import pydantic
import pytest
from fastapi import Body, FastAPI
from hypothesis import given

import svir
from svir import (
    Completion,
    Event,
    FinishReason,
    Image,
    Message,
    Part,
    Request,
    Text,
    TextDelta,
    TextFile,
    to_dict,
    user,
)
from svir.exchange._compat import Learned
from svir.types import Source
from svir.types._serde import FORMS
from tests.support import values
from tests.support.values import EXAMPLES


def holder(kind):
    return pydantic.create_model("Holder", value=(kind, ...))


@pytest.mark.parametrize("value", EXAMPLES.values(), ids=EXAMPLES)
class TestEveryValue:
    def test_is_taken_as_it_is(self, value):
        assert holder(type(value))(value=value).value is value

    def test_is_dumped_in_its_serialized_form_and_read_back(self, value):
        model = holder(type(value))
        held = model(value=value)
        assert held.model_dump() == held.model_dump(mode="json") == {"value": to_dict(value)}
        assert model.model_validate(held.model_dump(), context=TRUSTED) == held
        assert model.model_validate_json(held.model_dump_json(), context=TRUSTED) == held

    def test_fits_its_own_json_schema(self, value):
        schema = holder(type(value)).model_json_schema()
        assert fits({"value": to_dict(value)}, schema, schema)
        assert not fits({"value": 3}, schema, schema)
        assert not fits({"value": {}}, schema, schema) or isinstance(value, Request)

    def test_is_described_in_words_of_its_own(self, value):
        (described,) = holder(type(value)).model_json_schema()["$defs"].values()
        assert described["title"] == type(value).__name__
        assert described["description"].rstrip(".)")
        assert "(D" not in described["description"]


def fits(data, schema, root):
    """Whether data fits a schema, as far as the keywords go that are used here."""
    if "$ref" in schema:
        return fits(data, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if "anyOf" in schema and not any(fits(data, one, root) for one in schema["anyOf"]):
        return False
    if "enum" in schema and data not in schema["enum"]:
        return False
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return (
                isinstance(data, dict)
                and set(schema.get("required", ())) <= data.keys()
                and (not properties or data.keys() <= properties.keys())
                and all(fits(data[key], one, root) for key, one in properties.items() if key in data)
            )
        case "array":
            return isinstance(data, list) and all(fits(one, schema["items"], root) for one in data)
        case "string":
            return isinstance(data, str)
        case "boolean":
            return isinstance(data, bool)
        case "integer" | "number" as kind:
            number = int if kind == "integer" else (int, float)
            return isinstance(data, number) and data >= schema.get("minimum", float("-inf"))
        case _:
            return not isinstance(data, dict) or set(schema.get("required", ())) <= data.keys()


TRUSTED = {"svir_paths": True}
ADAPTERS = {kind: pydantic.TypeAdapter(kind) for kind in FORMS}
SCHEMAS = {kind: adapter.json_schema() for kind, adapter in ADAPTERS.items()}


@given(values.values)
def test_any_value_survives_a_model_and_fits_its_schema(value):
    kind = type(value)
    assert ADAPTERS[kind].validate_json(ADAPTERS[kind].dump_json(value), context=TRUSTED) == value
    assert fits(to_dict(value), SCHEMAS[kind], SCHEMAS[kind])


class Chat(pydantic.BaseModel):
    request: Request
    parts: list[Part] = []
    events: tuple[Event, ...] = ()
    source: Source | None = None
    last: Completion | None = None
    either: Message | str = ""


CHAT = Chat(
    request=Request("m", messages=["hi"], effort="low"),
    parts=[Text("hi"), EXAMPLES["Image"], EXAMPLES["ToolCall"]],
    events=[TextDelta("hi"), EXAMPLES["Completed"]],
    source=EXAMPLES["BytesSource"],
    last=EXAMPLES["Completion"],
    either=user("hi"),
)


def test_unions_lists_and_optional_fields_of_values_survive():
    assert Chat.model_validate(CHAT.model_dump(), context=TRUSTED) == CHAT
    assert Chat.model_validate_json(CHAT.model_dump_json(), context=TRUSTED) == CHAT
    assert Chat(request=Request(), either="hi").model_dump()["either"] == "hi"


def test_what_is_wrong_is_said_with_its_place():
    with pytest.raises(pydantic.ValidationError) as caught:
        Chat.model_validate({"request": {"messages": [{"role": "robot"}]}, "last": {"finish": "stop"}})
    (error,) = caught.value.errors()
    assert error["loc"] == ("request",)
    assert error["type"] == "value_form"
    assert error["msg"].startswith("$.messages[0].role must be one of user, assistant, tool")


@pytest.mark.parametrize("given", [None, 3, "hi", [], {"text": 3}, {"image": {}}])
def test_nothing_but_a_value_or_its_form_is_taken(given):
    with pytest.raises(pydantic.ValidationError):
        holder(Text)(value=given)


def test_a_value_without_a_form_is_taken_as_it_is():
    limits = svir.Limits(tool_calls=3)
    assert holder(svir.Limits)(value=limits).value is limits
    with pytest.raises(pydantic.ValidationError):
        holder(svir.Limits)(value={})


@pytest.mark.parametrize("kind", [svir.Limits, Learned])
@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_a_value_without_a_form_is_described_as_anything(kind, mode):
    schema = holder(kind).model_json_schema(mode=mode)
    (described,) = schema.get("$defs", {"": schema["properties"]["value"]}).values()
    assert described["title"] == kind.__name__
    assert described.keys() <= {"title", "description"}


def test_values_are_parts_of_what_a_model_answers_too():
    text = json.dumps({"request": {"model": "m"}, "parts": [{"text": "hi"}]})
    assert Completion(FinishReason.STOP, text).parse(Chat).parts == [Text("hi")]
    assert Completion(FinishReason.STOP, f"[{text}]").parse(list[Chat])[0].request == Request("m")


# --- FastAPI ---------------------------------------------------------------------------------------------

app = FastAPI()


@app.post("/chat")
async def chat(asked: Chat) -> Chat:
    return asked.model_copy(update={"last": Completion(FinishReason.STOP, "hello")})


@app.post("/complete")
async def complete(request: Annotated[Request, Body()]) -> Completion:
    return Completion(FinishReason.STOP, request.model)


def post(path, data):
    """What the application answers: its status and JSON."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": json.dumps(data).encode()}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


def test_an_application_takes_and_answers_with_values():
    sent = CHAT.model_copy(update={"parts": [Text("hi"), Image.from_bytes(b"GIF89a", "image/gif")]})
    status, body = post("/chat", sent.model_dump(mode="json"))
    assert status == 200
    assert Chat.model_validate(body) == sent.model_copy(
        update={"last": Completion(FinishReason.STOP, "hello")}
    )
    assert body["last"] == {"finish": "stop", "text": "hello"}
    assert post("/complete", {"model": "m"}) == (200, {"finish": "stop", "text": "m"})


def test_data_from_strangers_cannot_name_a_file_to_read():
    stolen = {"messages": [{"role": "user", "parts": [{"file": {"name": "x", "path": "/etc/passwd"}}]}]}
    status, body = post("/complete", stolen)
    assert status == 422
    assert "may not name a file" in body["detail"][0]["msg"]
    for kind, data in [(TextFile, {"path": "x", "name": "x"}), (Image, {"image": {"path": "x.png"}})]:
        with pytest.raises(pydantic.ValidationError):
            pydantic.TypeAdapter(kind).validate_python(data)
    # What a program made itself is taken as it is.
    assert Chat(request=CHAT.request).request == CHAT.request


def test_an_application_refuses_what_is_no_value_and_says_where():
    status, body = post("/complete", {"max_tokens": "many"})
    assert status == 422
    assert body["detail"][0]["msg"].startswith("$.max_tokens must be a whole number")


def test_an_applications_page_describes_the_values():
    page = app.openapi()
    components = page["components"]["schemas"]
    assert {"Request", "Completion", "Message", "Text", "Image", "Chat"} <= components.keys()
    assert components["Chat"]["properties"]["request"] == {"$ref": "#/components/schemas/Request"}
    answered = page["paths"]["/complete"]["post"]["responses"]["200"]["content"]["application/json"]
    assert answered["schema"] == {"$ref": "#/components/schemas/Completion"}
    assert set(components["Request"]["properties"]) >= {"model", "messages", "tools", "extra"}


def test_svir_never_imports_pydantic():
    code = """
import dataclasses, sys, svir
@dataclasses.dataclass
class River:
    name: str
svir.Request("m", response_format=River)
svir.Completion(svir.FinishReason.STOP, '{"name": "Otra"}').parse(River | None)
print([name for name in sys.modules if name.startswith("pydantic")])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
