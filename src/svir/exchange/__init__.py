"""One call, from request to events, as steps: everything is decided here, and nothing is waited for."""

from __future__ import annotations

from svir.exchange._call import Exchange
from svir.exchange._compat import Compatibility, Learned
from svir.exchange._deadlines import Deadline, Deadlines, Tries, check_seconds
from svir.exchange._reply import Ending, RawReply, Reply
from svir.exchange._settings import Options, Settings, settings_from
from svir.exchange._stack import Open, Server, StepsLayer, stack
from svir.exchange._steps import Steps
from svir.exchange._variables import is_variable, unset_variable

__all__ = [
    "Compatibility",
    "Deadline",
    "Deadlines",
    "Ending",
    "Exchange",
    "Learned",
    "Open",
    "Options",
    "RawReply",
    "Reply",
    "Server",
    "Settings",
    "Steps",
    "StepsLayer",
    "Tries",
    "check_seconds",
    "is_variable",
    "settings_from",
    "stack",
    "unset_variable",
]
