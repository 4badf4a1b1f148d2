"""Which library runs a coroutine."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import trio

from svir.http._loops import running_trio


async def asked():
    return running_trio()


def test_trio_is_told_only_where_it_runs():
    assert trio.run(asked) is trio
    assert asyncio.run(asked()) is None
    assert running_trio() is None


def test_asking_imports_nothing():
    code = "import sys; from svir.http._loops import running_trio; assert running_trio() is None; "
    code += "assert not {'trio', 'asyncio'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
