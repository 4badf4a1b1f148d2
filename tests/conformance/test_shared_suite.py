"""The conformance suite that implementations of svir share, when it lies beside this repository."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.support import conformance_adapter

SUITE = Path(__file__).resolve().parents[3] / "shared" / "conformance"

pytestmark = [
    pytest.mark.skipif(
        not (SUITE / "runner.py").exists(),
        reason="the shared conformance suite is not beside this repository",
    ),
    pytest.mark.long,
    pytest.mark.uncounted,
]


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("shared_conformance_runner", SUITE / "runner.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["adapter_sync", "adapter_async", "adapter_trio"])
def test_every_shared_case_holds(runner, name):
    lines = []
    failed = runner.run_all(getattr(conformance_adapter, name), SUITE, out=lines.append)
    assert failed == 0, "\n".join(line for line in lines if not line.startswith("ok"))
    assert lines[-1] == "178 passed, 0 failed"
