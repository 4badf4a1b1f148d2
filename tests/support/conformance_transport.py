"""Transport cases: a client of either face, told what to do in the notation of the conformance suite."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools

import trio

import svir
from tests.support.conformance_decoder import Collected, completion_data
from tests.support.conformance_encoder import request_of

OPTIONS = {"api_key": "api_key", "headers": "headers", "allow_http": "allow_http"}


class SyncTransportPart:
    """``client`` of the adapter's interface: the blocking face."""

    def client(self, base_url, config):
        return built(lambda options: SyncCalls(svir.Client.openai(base_url, **options)), config)


class AsyncTransportPart:
    """The same under asyncio."""

    def client(self, base_url, config):
        return built(lambda options: AsyncioCalls(svir.AsyncClient.openai(base_url, **options)), config)


class TrioTransportPart:
    """The same under trio."""

    def client(self, base_url, config):
        return built(lambda options: TrioCalls(svir.AsyncClient.openai(base_url, **options)), config)


def built(make, config):
    options = {to: config[name] for name, to in OPTIONS.items() if name in config}
    if "timeout_ms" in config:
        options["idle_timeout"] = config["timeout_ms"] / 1000
    options |= config.get("options", {})
    try:
        return make({"include_usage": False, **options})
    except svir.ConfigError as error:
        return f"{error} {error!r}"


class Call:
    """One streamed call while its actions are performed."""

    def __init__(self):
        self.got = Collected()
        self.shown = []
        self.count = 0
        self.outcome = None

    def take(self, event):
        """Takes an event; what ends the call sets the outcome."""
        self.shown.append(repr(event))
        self.count += 1
        self.got.take(event)
        if self.got.completion is not None:
            done = self.got.completion
            beside = {"request_id": done.request_id, "dropped": list(done.dropped)}
            self.outcome = {"completion": completion_data(done), **beside}

    def fail(self, error):
        self.outcome = error_data(error)
        self.shown += [str(error), repr(error)]
        if error.partial is not None:  # what svir says came must be what it handed out
            assert (error.partial.text, error.partial.reasoning) == (self.got.text, self.got.reasoning)

    def cancelled(self):
        partial = {"text": self.got.text, "reasoning": self.got.reasoning}
        self.outcome = {"cancelled": True, "partial": partial}

    def result(self):
        return {**(self.outcome or {"unfinished": True}), "shown": self.shown}


def error_data(error):
    partial = error.partial or svir.Partial()
    return {
        "error": error.kind,
        "message": error.server_message,
        "partial": {"text": partial.text, "reasoning": partial.reasoning},
        "retryable": error.retryable,
        "retry_after_ms": None if error.retry_after is None else round(error.retry_after * 1000),
        "status": error.status,
        "code": error.code,
        "request_id": error.request_id,
    }


def models_data(models):
    return {"models": [{"id": model.id, "name": model.name} for model in models]}


def steps_of(actions):
    """Pairs of how many events to read at most, and for how long; None is no limit. ``cancel`` is itself."""
    for action in actions:
        if action == "cancel":
            yield "cancel"
        elif action == "read_all":
            yield None, None
        else:
            yield action.get("read_events"), action.get("read_for_ms")


class SyncCalls:
    """A blocking client; its reads happen in one other thread, so that reading can be left for a while."""

    def __init__(self, client):
        self.inner = client
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    def __repr__(self):
        return repr(self.inner)

    def generate(self, request, actions):
        call, reading = Call(), None
        stream = self.inner.stream(request_of(request))
        try:
            for step in steps_of(actions):
                if step == "cancel":
                    call.cancelled()
                    break
                most, milliseconds = step
                until = call.count + most if most is not None else None
                while call.outcome is None and call.count != until:
                    reading = reading or self.thread.submit(next, stream)
                    wait = None if milliseconds is None else milliseconds / 1000
                    if not concurrent.futures.wait([reading], wait).done:
                        break
                    try:
                        call.take(reading.result())
                    except svir.Error as error:
                        call.fail(error)
                    reading = None
        finally:
            stream.close()
            if reading is not None:
                reading.exception()  # closing woke it
        return call.result()

    def list_models(self):
        try:
            return models_data(self.inner.models())
        except svir.Error as error:
            return {**error_data(error), "shown": [str(error), repr(error)]}

    def close(self):
        self.inner.close()
        self.thread.shutdown()


class AsyncCalls:
    """What asyncio and trio have in common."""

    def __init__(self, client):
        self.inner = client

    def __repr__(self):
        return repr(self.inner)

    def generate(self, request, actions):
        return self.run(self._generate, request, actions)

    async def _generate(self, request, actions):
        call = Call()
        async with self.reader(self.inner.stream(request_of(request))) as read:
            for step in steps_of(actions):
                if step == "cancel":
                    call.cancelled()
                    break
                most, milliseconds = step
                until = call.count + most if most is not None else None
                while call.outcome is None and call.count != until:
                    got = await read(None if milliseconds is None else milliseconds / 1000)
                    if got is None:
                        break
                    (call.fail if isinstance(got, svir.Error) else call.take)(got)
        return call.result()

    def list_models(self):
        try:
            return models_data(self.run(self.inner.models))
        except svir.Error as error:
            return {**error_data(error), "shown": [str(error), repr(error)]}


async def one(stream):
    """The next event, or the error that ends the stream."""
    try:
        return await anext(stream)
    except svir.Error as error:
        return error


class AsyncioCalls(AsyncCalls):
    def __init__(self, client):
        super().__init__(client)
        self.runner = asyncio.Runner()

    def run(self, function, *args):
        return self.runner.run(function(*args))

    def reader(self, stream):
        return AsyncioReader(stream)

    def close(self):
        self.runner.run(self.inner.aclose())
        self.runner.close()


class AsyncioReader:
    """Reads in a task of its own, so that reading can be left for a while; leaving the block cancels it."""

    def __init__(self, stream):
        self.stream = stream
        self.reading = None

    async def __aenter__(self):
        return self.read

    async def read(self, seconds):
        self.reading = self.reading or asyncio.ensure_future(one(self.stream))
        done, _ = await asyncio.wait([self.reading], timeout=seconds)
        if not done:
            return None
        reading, self.reading = self.reading, None
        return reading.result()

    async def __aexit__(self, *exit_of):
        if self.reading is not None:
            self.reading.cancel()
            await asyncio.wait([self.reading])
        await self.stream.aclose()


class TrioCalls(AsyncCalls):
    def run(self, function, *args):
        return trio.run(functools.partial(function, *args))

    def reader(self, stream):
        return TrioReader(stream)

    def close(self):
        trio.run(self.inner.aclose)


class TrioReader:
    """The same under trio."""

    def __init__(self, stream):
        self.stream = stream
        self.nursery_of = trio.open_nursery()
        self.results, self.result = trio.open_memory_channel(1)
        self.reading = False

    async def __aenter__(self):
        self.nursery = await self.nursery_of.__aenter__()
        return self.read

    async def _read(self):
        await self.results.send(await one(self.stream))

    async def read(self, seconds):
        if not self.reading:
            self.reading = True
            self.nursery.start_soon(self._read)
        with trio.move_on_after(float("inf") if seconds is None else seconds):
            got = await self.result.receive()
            self.reading = False
            return got

    async def __aexit__(self, *exit_of):
        self.nursery.cancel_scope.cancel()
        await self.nursery_of.__aexit__(*exit_of)
        await self.stream.aclose()
