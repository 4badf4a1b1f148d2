"""How several calls run at once, and how they end; without a clock: every wait is for an event."""

from __future__ import annotations

import asyncio

import pytest
import trio

from svir import ConfigError, ToolCall, ToolResult
from svir.tools._many import answer_all
from tests.support.faces import ASYNC_FACES

pytestmark = pytest.mark.parametrize("face", ASYNC_FACES, ids=repr)


def calls(count):
    return [ToolCall(str(n), "f") for n in range(count)]


def event(face):
    return trio.Event() if face.name == "trio" else asyncio.Event()


class Watched:
    """Answers that wait at a gate; what began, what ended and how many were at it at once."""

    def __init__(self, face, gate=None):
        self.face = face
        self.gate = gate
        self.began, self.ended, self.cancelled = [], [], []
        self.now = self.most = 0
        self.three = event(face)

    async def __call__(self, call):
        self.began.append(call.id)
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == 3:
            self.three.set()
        try:
            if self.gate is None:
                await self.face.sleep(0)
            else:
                await self.gate.wait()
        except BaseException:
            self.cancelled.append(call.id)
            raise
        finally:
            self.now -= 1
        self.ended.append(call.id)
        return ToolResult(call.id, call.id)


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (100, 10)])
def test_as_many_run_at_once_as_were_asked_for(face, concurrency, most):
    watched = Watched(face)
    results = face.run(lambda: answer_all(calls(10), watched, concurrency))
    assert [result.call_id for result in results] == [str(n) for n in range(10)]
    assert watched.most == most
    assert watched.began == [str(n) for n in range(10)]


def test_results_are_in_the_order_of_the_calls_whatever_ends_first(face):
    async def main():
        gates = [event(face) for _ in range(3)]

        async def answer(call):
            number = int(call.id)
            if number < 2:
                await gates[number].wait()
            if number > 0:
                gates[number - 1].set()  # each lets the one before it end
            return ToolResult(call.id, "")

        return await answer_all(calls(3), answer, 3)

    assert [result.call_id for result in face.run(main)] == ["0", "1", "2"]


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_nothing_to_do_gives_nothing(face, concurrency):
    assert face.run(lambda: answer_all([], Watched(face), concurrency)) == ()


@pytest.mark.parametrize("concurrency", [0, -1])
def test_concurrency_is_at_least_one(face, concurrency):
    with pytest.raises(ConfigError, match="concurrency"):
        face.run(lambda: answer_all(calls(1), Watched(face), concurrency))


@pytest.mark.parametrize("concurrency", [2.0, "2", True, None])
def test_concurrency_is_a_number(face, concurrency):
    with pytest.raises(TypeError, match="concurrency"):
        face.run(lambda: answer_all(calls(1), Watched(face), concurrency))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, GeneratorExit])
def test_what_one_raises_cancels_the_others_and_leaves_as_itself(face, error):
    async def main():
        watched = Watched(face, event(face))

        async def answer(call):
            if call.id == "2":
                raise error("the one")
            return await watched(call)

        with pytest.raises(error, match="the one") as caught:
            await answer_all(calls(5), answer, 3)
        assert caught.value.__context__ is None
        return watched

    watched = face.run(main)
    assert watched.began == sorted(watched.cancelled) == ["0", "1"]
    assert watched.now == 0


def test_cancellation_cancels_all(face):
    async def main():
        watched = Watched(face, event(face))
        if face.name == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(answer_all, calls(5), watched, 3)
                await watched.three.wait()
                nursery.cancel_scope.cancel()
        else:
            task = asyncio.create_task(answer_all(calls(5), watched, 3))
            await watched.three.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asyncio.all_tasks() == {asyncio.current_task()}
        return watched

    watched = face.run(main)
    assert sorted(watched.cancelled) == ["0", "1", "2"]
    assert watched.began == ["0", "1", "2"]
    assert watched.now == 0


def test_a_cancellation_that_nobody_asked_for_goes_through_too(face):
    """A handler that awaits a cancelled task: without care its result would just be missing."""
    if face.name == "trio":
        pytest.skip("trio has no such thing")

    async def main():
        watched = Watched(face, event(face))

        async def answer(call):
            if call.id == "1":
                raise asyncio.CancelledError("by itself")
            return await watched(call)

        with pytest.raises(asyncio.CancelledError, match="by itself"):
            await answer_all(calls(3), answer, 2)
        return watched.cancelled

    assert face.run(main) == ["0"]


def test_a_failure_while_others_are_being_cancelled_is_not_lost(face):
    async def main():
        watched = Watched(face, event(face))

        async def answer(call):
            if call.id == "0":
                raise KeyboardInterrupt("first")
            try:
                return await watched(call)
            finally:
                raise RuntimeError("while cleaning up")

        with pytest.raises(KeyboardInterrupt, match="first"):
            await answer_all(calls(2), answer, 2)

    face.run(main)


def test_a_deadline_around_it_holds(face):
    async def main():
        watched = Watched(face, event(face))
        if face.name == "trio":
            with trio.move_on_after(0.01) as scope:
                await answer_all(calls(2), watched, 2)
            assert scope.cancelled_caught
        else:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await answer_all(calls(2), watched, 2)
        return watched.cancelled

    assert sorted(face.run(main)) == ["0", "1"]
