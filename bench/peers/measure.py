"""What a library costs before the first call: medians of fresh processes that take turns."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from typing import TYPE_CHECKING

from bench.peers.libraries import LIBRARIES
from bench.peers.run import environment

if TYPE_CHECKING:
    from bench.peers.libraries import Environment

TOLD = """
import time
cpu = time.process_time()
with open("/proc/self/status") as file:
    peak = next(line.split()[1] for line in file if line.startswith("VmHWM"))
print()
print(cpu, peak)
"""
"""The peak is read by the process itself: what ``wait4`` tells begins with the peak of the parent."""


def once(environment_: Environment, code: str) -> tuple[float, float]:
    """CPU milliseconds and peak megabytes of a process that runs some code."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [environment_.python, "-c", code + TOLD],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
    cpu, peak = ran.stdout.splitlines()[-1].split()
    return float(cpu) * 1000, int(peak) * 1024 / 1e6


def imports(environments: dict[str, Environment], runs: int) -> dict[str, dict[str, float]]:
    """What importing and building a client takes, above the bare interpreter; medians.

    What the bare interpreter takes is told beside it (``bare_ms``): it says how fast the machine is.

    The first round writes the compiled modules where they are missing, and does not count.
    """
    bare: dict[str, list[tuple[float, float]]] = {name: [] for name in environments}
    full: dict[str, list[tuple[float, float]]] = {name: [] for name in environments}
    for _ in range(runs + 1):
        for name, one in environments.items():
            bare[name].append(once(one, "pass"))
            full[name].append(once(one, LIBRARIES[name].build))
    return {
        name: {
            unit: round(
                statistics.median(run[at] for run in full[name][1:])
                - statistics.median(run[at] for run in bare[name][1:]),
                1,
            )
            for at, unit in enumerate(("cpu_ms", "peak_mb"))
        }
        | {"bare_ms": round(statistics.median(run[0] for run in bare[name][1:]), 1)}
        for name in environments
    }
