"""The command that compares: reads two reports, and shows what is different between them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

from svir.cli._new_file import NewFile
from svir.cli._output import Output, say, write
from svir.cli.probe._compare import compare, read_report
from svir.cli.probe._compare_html import render_comparison
from svir.cli.probe._compare_text import plain, print_comparison

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["run_comparison"]


def run_comparison(a: Path, b: Path, *, html: Path | None = None) -> int:
    """Prints a comparison, perhaps writes it as a page, and returns the exit code.

    Raises:
        RefusedError: One of the files is no report, or the page cannot be written.
    """
    comparison = compare(read_report(a), read_report(b))
    if html is not None:
        with NewFile(html) as file:
            file.put(render_comparison(comparison))
    output = Output()
    if output.terminal:
        console = Console(highlight=False, markup=False, emoji=False)
        with console.capture() as captured:
            print_comparison(console, comparison)
        write(sys.stdout, captured.get())
    else:
        output.text(plain(comparison))
    if html is not None:
        say(f"svir: the page is in {html}")
    return 0
