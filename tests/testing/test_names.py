"""The public names of the testing kit, and what it costs to have it."""

from __future__ import annotations

import subprocess
import sys

import svir.testing
from tests.test_exports import names_for_type_checkers


def test_type_checkers_see_the_names_there_are():
    assert names_for_type_checkers(svir.testing) == set(svir.testing.__all__)
    assert svir.testing.__all__ == sorted(svir.testing.__all__)


def test_svir_does_not_need_its_testing_kit():
    code = (
        "import sys, svir; svir.Client.openai('http://127.0.0.1');"
        "print([name for name in sys.modules if name.startswith('svir.testing')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_the_scripted_server_needs_no_event_loop_and_no_pytest():
    code = (
        "import sys; from svir.testing import MockServer\n"
        "with MockServer(['x']) as server: server.client().complete('hi')\n"
        "print([name for name in ('asyncio', 'trio', 'pytest') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
