"""What it costs to import a client library and build a client, in CPU time and memory.

    python bench/imports.py [--runs 20]

Each run is a process of its own, the libraries interleaved; medians, the bare interpreter subtracted. Peers
that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys

PROGRAMS = {
    "nothing": "pass",
    "svir": "import svir; svir.Client.openai('http://127.0.0.1:1', model='m')",
    "svir (import only)": "import svir",
    "svir (first call)": (
        "import svir\n"
        "try: svir.Client.openai('http://127.0.0.1:1', model='m').complete('hi')\n"
        "except svir.TransportError: pass"
    ),
    "openai": "import openai; openai.OpenAI(base_url='http://127.0.0.1:1/v1', api_key='k')",
    "httpx": "import httpx; httpx.Client()",
    "litellm": "import litellm",
}


def run(program: str) -> tuple[float, float]:
    """CPU seconds and peak memory in MiB of one process."""
    child = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"failed: {program}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    names = [
        name
        for name in PROGRAMS
        if name == "nothing" or importlib.util.find_spec(name.partition(" ")[0]) is not None
    ]
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for _ in range(runs + 1):
        for name in names:
            seen[name].append(run(PROGRAMS[name]))
    cpu = {name: statistics.median(c for c, _ in rows[1:]) for name, rows in seen.items()}
    memory = {name: statistics.median(m for _, m in rows[1:]) for name, rows in seen.items()}
    ours = cpu["svir"] - cpu["nothing"]
    print(f"{'':20} {'CPU ms':>8} {'MiB':>6} {'x svir':>7}   (above the bare interpreter; median of {runs})")
    for name in names[1:]:
        used = cpu[name] - cpu["nothing"]
        print(f"{name:20} {used * 1000:8.1f} {memory[name] - memory['nothing']:6.1f} {used / ours:7.1f}")


if __name__ == "__main__":
    main()
