"""What a docstring says of a function and of its parameters.

Google, NumPy and Sphinx styles are read by ``docstring-parser`` (``svir[tools]``). Without it the first
paragraph is all that is read.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docstring_parser import Docstring

__all__ = ["read_docstring"]


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


def _parse(text: str) -> Docstring | None:
    if not text:
        return None
    try:
        from docstring_parser import ParseError, parse
    except ImportError:
        return None
    try:
        return parse(text)
    except ParseError:
        return None
