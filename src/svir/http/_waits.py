"""What every backend does beside sending: waiting, and running what may block; and which loop runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from svir.errors import ConfigError
from svir.http._loops import running_trio

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from svir.http._net import Network
    from svir.http._seam import Abort

__all__ = ["AsyncWaits", "SyncWaits", "running_loop"]

T = TypeVar("T")


def running_loop() -> tuple[Hashable, Callable[[], Network]]:
    """What tells the running event loop from others, and what makes its network.

    Raises:
        svir.ConfigError: None is running.
    """
    if (trio := running_trio()) is not None:
        from svir.http._net_trio import TrioNetwork

        token = trio.lowlevel.current_trio_token()
        return token, lambda: TrioNetwork(token)
    import asyncio

    from svir.http._net_asyncio import AsyncioNetwork

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return loop, lambda: AsyncioNetwork(loop)
    raise ConfigError("an asynchronous call needs a running event loop, asyncio's or trio's", unsent=True)


class SyncWaits:
    """``sleep`` and ``call`` of a blocking backend."""

    def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits; less when it is aborted."""
        from svir.http._net_sync import SyncBell, run

        bell = SyncBell()  # and no Event, which a signal handler of this thread cannot always set
        if abort is not None:
            abort.attach(bell.ring)
        run(bell.wait(time.monotonic() + max(0.0, seconds)))

    def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block: here, at once."""
        return _outcome(function)


class AsyncWaits:
    """``sleep`` and ``call`` of an asynchronous backend."""

    async def sleep(self, seconds: float, abort: Abort | None = None) -> None:
        """Waits; less when it is aborted."""
        network = self._network()
        bell = network.bell()
        if abort is not None:
            abort.attach(bell.ring)
        await bell.wait(network.clock() + max(0.0, seconds))

    async def call(self, function: Callable[[], T]) -> T:
        """Runs something that may block in a worker thread; cancelling it leaves the thread to itself."""
        outcome: list[T] = []  # what comes back may also be a time-out, which has no place here
        await self._network().call(lambda: outcome.append(_outcome(function)))
        return outcome[0]

    def _network(self) -> Network:
        return running_loop()[1]()


def _outcome(function: Callable[[], T]) -> T:
    """What a function of the caller's returns.

    Its ``StopIteration`` would end a generator it passes through, and asyncio's futures cannot carry it: it
    becomes a ``RuntimeError``, as it does in a generator.
    """
    try:
        return function()
    except StopIteration:
        pass
    raise RuntimeError("a function raised StopIteration")
