"""`svir decode`: a recorded answer read again, event by event, and where and why it fails.

The file stands in for HTTP (`_recording`, `_playback`): what becomes of a status, a header or the bytes of a
stream is decided by the client and the decoder that every program uses, never here.
"""

from __future__ import annotations

from svir.cli.decode._reading import Reading
from svir.cli.decode._run import Task, decode

__all__ = ["Reading", "Task", "decode"]
