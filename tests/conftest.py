"""What holds for every test."""

from __future__ import annotations

import gc
import signal
import sys
import threading

import pytest
from hypothesis import HealthCheck, settings

# A shell that runs the tests in the background has Ctrl-C ignored, and so would every process they start:
# one that is to be ended by it would then run for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How fast a machine is, is no property of svir. Whatever else was chosen (`CI` chooses) stays.
settings.register_profile(
    "svir", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("svir")

# Some thousand tests are many objects, and each look for garbage goes through all of them: many times while
# they are made, and whenever a test wants something dropped to be gone. They are here to stay.
gc.disable()


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()


# What a decoder does with every byte of every recording costs ten times as much while its lines are counted,
# and says nothing more about which of them are tested: others have been there.


def pytest_configure(config):
    config.addinivalue_line("markers", "uncounted: coverage does not count what this test runs")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    counts = pyfuncitem.config.pluginmanager.hasplugin("_cov")  # else it may be a debugger that watches
    if not counts or pyfuncitem.get_closest_marker("uncounted") is None:
        return (yield)
    count, count_of_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(None)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(count)
        threading.settrace(count_of_threads)
