"""Every example in a docstring runs, and says what it says it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import svir

# Modules that need an extra which is not installed for the tests.
NEEDS_AN_EXTRA = {"svir.cli._serve", "svir.__main__"}


def _modules() -> list[str]:
    found = (module.name for module in pkgutil.walk_packages(svir.__path__, "svir."))
    return ["svir", *(name for name in found if name not in NEEDS_AN_EXTRA)]


@pytest.mark.parametrize("name", _modules())
def test_examples_in_docstrings_run(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_no_example_is_only_shown() -> None:
    for name in _modules():
        assert ".. code-block" not in Path(importlib.import_module(name).__file__).read_text("ascii"), name


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [
        case for name in _modules() for case in finder.find(importlib.import_module(name)) if case.examples
    ]
    assert len(examples) >= 15
