"""What holds for every test."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import HealthCheck, settings

import svir

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


# The last of several processes to end is the one that is waited for.


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


# Whatever runs while coverage counts takes about three times as long, and a decoder's loops ten times. So it
# counts while svir is imported, which is done once and for all, and then only while a fixture is made or a
# test runs: not while thousands of tests are found, nor between them. What is `uncounted` does what others
# have done, and says nothing more about which lines are tested; nor do the tests of hypothesis, since what is
# tried at random may be something else the next time.

COUNT = pytest.StashKey[tuple[object, object]]()


def set_count(of_this_thread, of_threads_to_come):
    threading.settrace(of_threads_to_come)
    sys.settrace(of_this_thread)


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes many seconds, and so begins before the others")
    config.addinivalue_line("markers", "uncounted: coverage does not count what this test runs")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    if session.config.pluginmanager.hasplugin("_cov"):  # else it may be a debugger that watches
        for module in walk_packages(svir.__path__, "svir."):
            if module.name.rpartition(".")[2] != "__main__":
                import_module(module.name)
        session.config.stash[COUNT] = sys.gettrace(), threading.gettrace()
        set_count(None, None)
    return (yield)


def counts(item):
    if COUNT not in item.config.stash:
        return False
    return not any(mark.name in {"uncounted", "hypothesis"} for mark in item.iter_markers())


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    if not counts(pyfuncitem):
        return (yield)
    set_count(*pyfuncitem.config.stash[COUNT])
    try:
        return (yield)
    finally:
        set_count(None, None)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request):
    if not counts(request.node):
        return (yield)
    set_count(*request.config.stash[COUNT])
    try:
        return (yield)
    finally:
        set_count(None, None)
