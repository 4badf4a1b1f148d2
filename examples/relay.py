"""A web service that relays a model's answers: the server's bytes unchanged, and decoded on the way past.

    pip install starlette uvicorn
    python examples/relay.py http://127.0.0.1:8080 qwen3-27b 8000
    curl -N -d "Why do rivers meander?" http://127.0.0.1:8000/ask

What fails before the answer begins is answered with a status of its own. A caller who leaves, before or after
that, ends the work at the model's server. An answer that breaks off breaks off here, too. What
went wrong is a line in the log.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import svir
from svir.openai.chat import Decoder

STATUS = {"context_overflow": 400, "rate_limited": 429, "timeout": 504}
"""What the caller is told; the rest is nothing a caller could mend: 502."""


class Relayed(StreamingResponse):
    def __init__(self, raw: svir.AsyncRawStream) -> None:
        super().__init__(self.watched(raw), media_type="text/event-stream")
        self.raw = raw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            # To return without the end of the body is how ASGI says that it broke off.
            with suppress(svir.Error):
                await super().__call__(scope, receive, send)
        finally:
            await self.raw.aclose()

    async def watched(self, raw: svir.AsyncRawStream) -> AsyncGenerator[bytes]:
        decoder = Decoder(request_id=raw.request_id)
        try:
            async for data in raw:
                yield data
                with suppress(svir.Error):  # finish() raises it again
                    for event in decoder.push(data):
                        if isinstance(event, svir.Completed):
                            done = event.completion
                            print(f"relayed: {done.finish}, {done.usage}", flush=True)
        except svir.Error as error:
            print(f"relayed as far as it came: {error}", flush=True)
            raise
        try:
            decoder.flush()  # text held back, which nobody reads here, belongs to the answer as well
            decoder.finish()
        except svir.Error as error:
            print(f"relayed, though it is no answer: {error}", flush=True)


async def close_when_left(request: Request, raw: svir.AsyncRawStream) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    await raw.aclose()


def relay(client: svir.AsyncClient) -> Starlette:
    async def ask(request: Request) -> Response:
        raw = client.send((await request.body()).decode("utf-8", "replace"))
        leaving = asyncio.create_task(close_when_left(request, raw))
        try:
            await raw.open()  # until the status is known; what fails later can only break the answer off
        except svir.Error as error:
            print(f"not relayed: {error}", flush=True)  # what the caller is not told
            return JSONResponse({"error": error.kind}, STATUS.get(error.kind, 502))
        finally:
            leaving.cancel()
        return Relayed(raw)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with client:
            yield

    return Starlette(routes=[Route("/ask", ask, methods=["POST"])], lifespan=lifespan)


def main(url: str = "http://127.0.0.1:8080", model: str = "qwen3-27b", port: str = "8000") -> None:
    client = svir.AsyncClient.openai(url, model=model, api_key=os.environ.get("SVIR_KEY"))
    uvicorn.run(relay(client), host="127.0.0.1", port=int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])
