"""What a docstring says of a function and of its parameters.

Google, NumPy and Sphinx styles are read by ``docstring-parser`` (``svir[tools]``). Without it the first
paragraph is all that is read, and where that leaves out what is said of parameters, one warning says so.
"""

from __future__ import annotations

import inspect
import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docstring_parser import Docstring

__all__ = ["read_docstring"]

_told: list[str] = []
"""The tool that was warned of, once there is one."""

OF_PARAMETERS = re.compile(
    r"^[ \t]*(?:(?:args|arguments|params|parameters)[ \t]*:?[ \t]*$|:param(?:eter)?[ \t])",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a section on parameters begins, in any of the styles."""


def read_docstring(doc: str | None, tool: str = "") -> tuple[str, dict[str, str]]:
    r"""The description, and those of the parameters by their names.

    Args:
        doc: The docstring.
        tool: The name of the tool, for a warning.

    Example:
        >>> read_docstring("Adds.\n\nSlowly.\n\nArgs:\n    left: One number.\n")
        ('Adds.\n\nSlowly.', {'left': 'One number.'})
    """
    text = inspect.cleandoc(doc or "").strip()
    parsed = _parse(text, tool)
    if parsed is None:
        first, _, _ = text.partition("\n\n")
        return first.strip(), {}
    parameters = {param.arg_name.lstrip("*"): (param.description or "").strip() for param in parsed.params}
    return (parsed.description or "").strip(), {name: said for name, said in parameters.items() if said}


def _warn(tool: str) -> None:
    """Says once in a process what is missing, at the line that added the tool."""
    if _told:
        return
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("svir.tools."):
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"the docstring of the tool {tool} describes its parameters, and what reads that is not installed: "
        "pip install 'svir[tools]'",
        UserWarning,
        stacklevel=level,
    )
    _told.append(tool)  # not when it was raised: then it is raised again


def _parse(text: str, tool: str) -> Docstring | None:
    if not text:
        return None
    try:
        from docstring_parser import ParseError, parse
    except ImportError:
        if OF_PARAMETERS.search(text):
            _warn(tool)
        return None
    try:
        return parse(text)
    except ParseError:
        return None
