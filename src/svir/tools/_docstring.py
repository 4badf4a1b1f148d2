"""What a docstring says of a function and of its parameters.

Google, NumPy and Sphinx styles are read by ``docstring-parser`` (``svir[tools]``). Without it the first
paragraph is all that is read, and where that leaves out what is said of parameters, one warning says so.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docstring_parser import Docstring

__all__ = ["read_docstring"]

OF_PARAMETERS = re.compile(
    r"^[ \t]*(?:(?:args|arguments|params|parameters)[ \t]*:?[ \t]*$|:param(?:eter)?[ \t])",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a section on parameters begins, in any of the styles."""


def read_docstring(doc: str | None) -> tuple[str, dict[str, str]]:
    r"""The description, and those of the parameters by their names.

    Example:
        >>> read_docstring("Adds.\n\nSlowly.\n\nArgs:\n    left: One number.\n")
        ('Adds.\n\nSlowly.', {'left': 'One number.'})
    """
    text = inspect.cleandoc(doc or "").strip()
    parsed = _parse(text)
    if parsed is None:
        first, _, _ = text.partition("\n\n")
        return first.strip(), {}
    parameters = {param.arg_name.lstrip("*"): (param.description or "").strip() for param in parsed.params}
    return (parsed.description or "").strip(), {name: said for name, said in parameters.items() if said}


@functools.cache
def _warn() -> None:
    """Says once in a process what is missing; what raises is not kept, and so is raised again."""
    warnings.warn(
        "the docstring of a tool describes its parameters, and what reads that is not installed: "
        "pip install 'svir[tools]'",
        UserWarning,
        stacklevel=2,
    )


def _parse(text: str) -> Docstring | None:
    if not text:
        return None
    try:
        from docstring_parser import ParseError, parse
    except ImportError:
        if OF_PARAMETERS.search(text):
            _warn()
        return None
    try:
        return parse(text)
    except ParseError:
        return None
