"""`python -m svir` is the `svir` command."""

from __future__ import annotations

from svir.cli import main

if __name__ == "__main__":
    main()
