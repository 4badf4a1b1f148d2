"""Runs pytest as somebody who has svir installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import svir


def run(folder, *arguments):
    """Runs pytest in a folder with nothing but the plugin; its output."""
    source = str(Path(svir.__file__).parents[1])
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": source}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "svir.testing.pytest_plugin", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "-W", "error", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout + ran.stderr
