"""Prints what the project and some of its extras need, one requirement a word, for pip."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
wanted = [*project["dependencies"]]
for extra in sys.argv[1:]:
    wanted += project["optional-dependencies"][extra]
# Markers are pip's to read, but a shell would split them: none of what is installed here has one that applies.
print(" ".join(requirement.replace(" ", "") for requirement in wanted if ";" not in requirement))
