"""Runs the comparison, and writes ``bench/results/peers.json`` and ``docs/peers.md``."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.peers import page
from bench.peers.cases import CASES, IMAGE_BYTES, MEGABYTE
from bench.peers.libraries import LIBRARIES, ROOT, SUBJECTS, install
from bench.peers.measure import imports
from bench.peers.run import observe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.peers.libraries import Environment

RESULTS = ROOT / "bench" / "results" / "peers.json"
PAGE = ROOT / "docs" / "peers.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    cache = ROOT / ".venv-peers"
    parser.add_argument(
        "--cache", type=Path, default=cache, help="where libraries are installed (%(default)s)"
    )
    parser.add_argument(
        "--only", default="", help="the libraries to ask again, by comma; the rest stays as it is"
    )
    parser.add_argument("--cases", default="", help="the cases to ask them again, by comma; likewise")
    parser.add_argument(
        "--runs", type=int, default=11, help="processes an import is measured in (%(default)s)"
    )
    parser.add_argument(
        "--page", action="store_true", help="only write the page again, from the stored results"
    )
    given = parser.parse_args()
    only, cases = ({*text.split(",")} - {""} for text in (given.only, given.cases))
    if unknown := only - set(LIBRARIES) | cases - set(CASES):
        parser.error(f"no such library or case: {', '.join(sorted(unknown))}")
    if not given.page:
        given.cache.mkdir(parents=True, exist_ok=True)
        found = json.loads(RESULTS.read_text("ascii")) if only or cases else {}
        RESULTS.parent.mkdir(exist_ok=True)
        wanted = only or set(LIBRARIES), cases or set(CASES)
        for _ in measure(found, given.cache.resolve(), *wanted, given.runs):
            RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="ascii")
    PAGE.write_text(page.written(json.loads(RESULTS.read_text("ascii"))), encoding="ascii")


def measure(
    found: dict[str, Any], cache: Path, wanted: set[str], cases: set[str], runs: int
) -> Iterator[None]:
    """Adds everything that the page is made of; what is there can be kept after each step.

    Args:
        found: What is known, of the libraries that are not wanted.
        cache: Where libraries are installed.
        wanted: The libraries to ask.
        cases: The cases to ask them.
        runs: Processes in which every import is measured; 0: those that are known stay.
    """
    found |= {
        "made": dt.datetime.now(dt.UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "missing": {},
        "libraries": {},
    }
    environments: dict[str, Environment] = {}
    for name in LIBRARIES:
        try:
            one = environments[name] = install(name, cache, again=name in wanted)
        except (subprocess.SubprocessError, OSError) as error:
            found["missing"][name] = f"it could not be installed ({type(error).__name__})"
        else:
            found["libraries"][name] = {"version": one.version, "packages": one.packages}
    observed = found.setdefault("observed", {})
    with tempfile.NamedTemporaryFile(suffix=".png") as image:
        block = os.urandom(MEGABYTE)
        for _ in range(IMAGE_BYTES // MEGABYTE):
            image.write(block)
        image.flush()
        for subject, how in SUBJECTS.items():
            if how.library in wanted & set(environments):
                for case in filter(cases.__contains__, page.cases_of(how)):
                    print(f"{subject}: {case}", flush=True)
                    python = environments[how.library].python
                    observed.setdefault(subject, {})[case] = observe(
                        case, python, how.adapter, Path(image.name)
                    )
                yield
    if runs:
        print("imports", flush=True)
        found["imports"] = imports(environments, runs)
        found["runs"] = runs
    yield


if __name__ == "__main__":
    main()
