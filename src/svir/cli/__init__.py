"""The `svir` command: svir at work from a terminal, and with a local model to try it without a server.

Nothing here is imported by `import svir`; typer, rich and prompt_toolkit are needed only
here (`pip install 'svir[cli]'`).
"""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["main"]

NEEDS_EXTRA = 22
"""The exit code when typer or rich is missing: that of a wrong configuration (see `_exits`)."""
INTERRUPTED = 130


def main() -> None:
    """Runs the command line with the process's arguments, and exits with its code."""
    for name in ("typer", "rich", "prompt_toolkit"):
        if importlib.util.find_spec(name) is None:
            print(f"svir: {name} is missing, install it with: pip install 'svir[cli]'", file=sys.stderr)
            sys.exit(NEEDS_EXTRA)
    try:
        from svir.cli._app import run

        sys.exit(run())
    except KeyboardInterrupt:  # so early or so late that no command was there to say anything
        sys.exit(INTERRUPTED)
