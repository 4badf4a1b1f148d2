"""One client, call after call: this server keeps a connection after a list, and closes it after an answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import svir

CALLS = 30
REQUEST = svir.Request(messages=["Say yes."], max_tokens=2)


def test_calls_of_one_client_follow_each_other_at_once(server) -> None:
    with svir.Client.openai(server.url, api_key=server.api_key, model=server.model) as client:
        for _ in range(CALLS):
            client.models()
            assert client.complete(REQUEST).finish is svir.FinishReason.LENGTH
            assert client.complete(REQUEST).finish is svir.FinishReason.LENGTH


def test_awaited_calls_of_one_client_follow_each_other_at_once(server) -> None:
    async def main() -> None:
        async with svir.AsyncClient.openai(server.url, api_key=server.api_key, model=server.model) as client:
            for _ in range(CALLS):
                await client.models()
                assert (await client.complete(REQUEST)).finish is svir.FinishReason.LENGTH
                assert (await client.complete(REQUEST)).finish is svir.FinishReason.LENGTH

    asyncio.run(main())


@dataclass
class River:
    """A river."""

    name: str


def test_an_answer_of_a_type_is_read_back(server) -> None:
    with svir.Client.openai(server.url, api_key=server.api_key, model=server.model) as client:
        try:
            found: object = client.parse(River, "Name a river. Answer in JSON.", max_tokens=60, temperature=0)
        except svir.AnswerError as error:
            found = error.completion
    # So small a model may go on until its limit; then nothing is made of half an answer.
    cut = isinstance(found, svir.Completion) and found.finish is svir.FinishReason.LENGTH
    assert cut or isinstance(found, River)
