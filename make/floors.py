"""Prints the oldest version of each package that svir asks for, as requirements: ``floors.py [EXTRA ...]``.

Without names of extras, those of all of them.
"""  # noqa: INP001 (a script)

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"([\w-]+)>=([\w.]+)(?:; .*)?")


def main(extras: list[str]) -> None:
    """Prints them."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
    optional: dict[str, list[str]] = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for extra in extras or optional for one in optional[extra])]
    for requirement in wanted:
        if (found := REQUIREMENT.fullmatch(requirement)) is not None:
            sys.stdout.write(f"{found[1]}=={found[2]}\n")
        elif not requirement.startswith("svir["):
            sys.exit(f"no floor: {requirement}")


if __name__ == "__main__":
    main(sys.argv[1:])
