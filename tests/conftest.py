"""What holds for every test."""

from __future__ import annotations

import signal

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
