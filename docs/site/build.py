"""Builds the site: puts its pages together, then lets Sphinx make HTML of them.

``python docs/site/build.py FOLDER``
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import stage
from sphinx.cmd.build import build_main

HERE = Path(__file__).parent


def build(folder: Path) -> int:
    """Builds the site anew; 0 when there was nothing to complain about."""
    with TemporaryDirectory() as scratch:
        pages = Path(scratch, "pages")
        stage.stage(pages)
        strict = ["--quiet", "--nitpicky", "--fail-on-warning", "--fresh-env"]
        where = ["--conf-dir", str(HERE), "--doctree-dir", str(Path(scratch, "doctrees"))]
        return build_main([*strict, *where, str(pages), str(folder)])


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
