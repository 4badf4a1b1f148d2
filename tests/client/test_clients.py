"""Clients of both faces: options, what is shared, and keys asked for."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import svir
from tests.client.test_streams import URL, client_of, run
from tests.support.chat import answer
from tests.support.faces import ASYNC_FACES
from tests.support.world import AsyncWorld, Response, World

MAKERS = [svir.Client.openai, svir.AsyncClient.openai]
REJECTED = b'{"error": {"message": "unknown field"}}'


@pytest.mark.parametrize("make", MAKERS)
def test_a_client_shows_whom_it_talks_to_and_no_secret(make):
    client = make(
        "https://example.com:8443/secret/v1",
        model="qwen",
        api_key="sk-secret",
        headers={"x-team": "secret"},
        query="code=secret",
    )
    assert repr(client) == f"{type(client).__name__}(openai.chat at example.com:8443, model='qwen')"
    assert "secret" not in str(client)
    assert repr(make(URL)) == f"{type(client).__name__}(openai.chat at 127.0.0.1:1234)"


@pytest.mark.parametrize("make", MAKERS)
def test_an_option_that_does_not_exist_is_a_type_error(make):
    with pytest.raises(TypeError, match="'modle'"):
        make(URL, modle="m")
    with pytest.raises(TypeError, match="'backend'"):
        make(URL).with_options(backend=None)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "option",
    [{"max_connections": 4}, {"ca_file": "ca.pem"}, {"ssl_context": object()}],
    ids=lambda o: next(iter(o)),
)
def test_options_of_the_pool_are_refused_where_they_would_do_nothing(make, option):
    (name,) = option
    with pytest.raises(svir.ConfigError, match=f"{name} belongs to the built-in backend"):
        make(URL, backend=World(), **option)
    with pytest.raises(svir.ConfigError, match=f"{name} belongs to the pool"):
        make(URL).with_options(**option)
    blocking = make == svir.Client.openai
    own, other = (World(), AsyncWorld(World())) if blocking else (AsyncWorld(World()), World())
    assert make(URL, backend=own, **{name: None})
    with pytest.raises(svir.ConfigError, match="backend, not"):
        make(URL, backend=other)


@pytest.mark.parametrize("make", MAKERS)
def test_what_was_learned_is_checked_to_be_that(make):
    with pytest.raises(TypeError, match="compatibility"):
        make(URL, compatibility={})
    memory = svir.Compatibility()
    assert make(URL, compatibility=memory).compatibility is memory
    assert make(URL, compatibility=None).compatibility.learned == ()


@pytest.mark.parametrize("make", MAKERS)
def test_a_bad_url_or_key_is_refused_when_the_client_is_built(make):
    for bad in (
        {"url": "http://example.com"},
        {"api_key": "two words"},
        {"api_key": "a", "api_key_env": "B"},
    ):
        with pytest.raises(svir.ConfigError):
            make(bad.pop("url", URL), **bad)


def test_learning_is_seen_by_the_client_and_those_derived_from_it(face):
    async def scenario(client):
        derived = client.with_options(timeout=60)
        await derived.complete("hi", effort="low")
        assert derived.compatibility is client.compatibility
        assert [one.fields for one in client.compatibility.learned] == [
            ("reasoning_effort", "stream_options")
        ]
        done = await client.complete("hi", effort="low")
        assert done.dropped == ("reasoning_effort", "stream_options")
        client.compatibility.reset()
        await client.complete("hi", effort="low")

    world = World(Response(REJECTED, status=400), *(Response(answer("a")) for _ in range(3)))
    run(face, world, scenario)
    assert ["stream_options" in body for body in world.bodies] == [True, False, False, True]


def test_a_derived_client_keeps_what_was_not_changed_and_shares_the_key(face):
    async def scenario(client):
        derived = client.with_options(headers={"x-team": "b"}, model="n", timeout=60)
        again = derived.with_options(query="v=2")
        for one in (client, derived, again):
            await one.complete("hi")

    world = World(*(Response(answer("a")) for _ in range(3)))
    run(face, world, scenario, api_key="sk-1", headers={"x-team": "a"}, path="/own")
    assert [(r.target, r.headers.get("x-team"), r.headers.get("authorization")) for r in world.requests] == [
        ("/own", "a", "Bearer sk-1"),
        ("/own", "b", "Bearer sk-1"),
        ("/own?v=2", "b", "Bearer sk-1"),
    ]
    assert [body["model"] for body in world.bodies] == ["m", "n", "n"]
    totals = [entry[3] for entry in world.log if entry[0] == "send"]
    assert totals[0] is None
    assert all(59 < total <= 60 for total in totals[1:])


def test_a_derived_client_may_have_another_key_or_none(face):
    async def scenario(client):
        for change in ({"api_key": "sk-2"}, {"api_key": None}, {"compatibility": svir.Compatibility()}):
            await client.with_options(**change).complete("hi")

    world = World(*(Response(answer("a")) for _ in range(3)))
    run(face, world, scenario, api_key="sk-1")
    keys = [request.headers.get("authorization") for request in world.requests]
    assert keys == ["Bearer sk-2", None, "Bearer sk-1"]


def test_layers_are_kept_or_replaced(face):
    asked = []

    def named(name):
        async def layer(request, following):
            asked.append(name)
            return await following(request)

        return face.layer(layer)

    async def scenario(client):
        await client.with_options(timeout=9).complete("hi")
        await client.with_options(layers=[named("b")]).complete("hi")
        await client.with_options(layers=()).complete("hi")

    run(face, World(*(Response(answer("a")) for _ in range(3))), scenario, layers=[named("a")])
    assert asked == ["a", "b"]


def test_closing_a_derived_client_closes_the_connections_of_both(face):
    async def scenario(client):
        async with client.with_options(timeout=9):
            pass
        assert client.world.names == ["close all"]

    world = World()

    async def with_world(client):
        client.world = world
        await scenario(client)

    run(face, world, with_world)


# Keys that are asked for


def test_an_async_key_function_is_awaited_under_the_async_face_and_refused_under_the_other(face):
    async def key():
        await face.sleep(0)
        return "sk-async"

    class Key:
        def __call__(self):
            return key()

    async def scenario(client):
        await client.complete("hi")

    for given in (key, Key()):
        world = World(Response(answer("a")))
        if face.blocking:
            with pytest.raises(svir.ConfigError, match="AsyncClient"):
                run(face, world, scenario, api_key=given)
        else:
            run(face, world, scenario, api_key=given)
            assert world.requests[0].headers.get("authorization") == "Bearer sk-async"


def test_an_async_key_function_under_the_blocking_face_is_refused_when_the_client_is_built():
    async def key():
        return "sk-1"

    with pytest.raises(svir.ConfigError, match="AsyncClient"):
        svir.Client.openai(URL, api_key=key)
    with pytest.raises(svir.ConfigError, match="AsyncClient"):
        svir.Client.openai(URL).with_options(api_key=key)


@pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)
def test_a_key_that_never_comes_is_a_time_out_under_the_async_face(face):

    async def key():
        await face.sleep(60)

    async def scenario(client):
        started = time.monotonic()
        with pytest.raises(svir.RequestTimeoutError, match=r"not complete within 0\.05 s") as caught:
            await client.complete("hi")
        assert time.monotonic() - started < 0.35
        assert caught.value.unsent
        assert caught.value.__context__ is None

    run(face, World(), scenario, api_key=key, timeout=0.05)


def test_a_key_function_that_itself_times_out_is_not_mistaken_for_the_deadline(face):
    async def key():
        raise TimeoutError("the vault")

    def blocking_key():
        raise TimeoutError("the vault")

    async def scenario(client):
        with pytest.raises(TimeoutError, match="the vault"):
            await client.complete("hi")

    run(face, World(), scenario, api_key=blocking_key if face.blocking else key, timeout=60)


def test_a_client_is_built_without_loading_anything_that_talks_to_a_network():
    code = """
import sys, svir
svir.Client.openai("https://example.com", model="m", api_key="k", timeout=3)
svir.AsyncClient.openai("http://127.0.0.1:1", headers={"a": "b"}).with_options(timeout=1)
svir.Request("m", messages="hi")
print(sorted({"asyncio", "email", "h11", "logging", "pydantic", "socket", "ssl", "trio"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_a_client_of_one_face_is_used_as_a_block(face):
    async def scenario():
        async with client_of(face, World(Response(answer("a")))) as client:
            return (await client.complete("hi")).text

    assert face.run(scenario) == "a"
