"""The reference has every public name, and there is something to read at each."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import msgspec
import pytest

import svir

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "site"
SOURCE = Path(svir.__file__).parent

pytestmark = pytest.mark.skipif(not SITE.exists(), reason="the site is not beside the tests")


def public_names():
    """Every name of every public package, by the name that the reference has it under."""
    modules = {".".join(path.parent.relative_to(SOURCE.parent).parts) for path in SOURCE.rglob("__init__.py")}
    for module in sorted({*modules, "svir.errors"}):
        if module.startswith("svir.cli"):
            continue  # a command, and no library
        for name in getattr(importlib.import_module(module), "__all__", ()):
            yield f"svir.{name}" if name in svir.__all__ else f"{module}.{name}"


NAMES = sorted(set(public_names()))


def value(name):
    package, _, last = name.rpartition(".")
    return getattr(importlib.import_module(package), last)


CLASSES = [
    name for name in NAMES if inspect.isclass(value(name)) and value(name).__module__.startswith("svir.")
]
STRUCTS = [name for name in CLASSES if issubclass(value(name), msgspec.Struct)]


@pytest.fixture
def reference(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(SITE))
    yield importlib.import_module("reference")
    for name in ("reference", "docstrings"):
        sys.modules.pop(name)


def test_every_public_name_has_its_place_once(reference):
    assert len(NAMES) > 120
    assert sorted(reference.names()) == NAMES


@pytest.mark.parametrize("name", STRUCTS)
def test_every_field_of_a_struct_is_described(name):
    text = inspect.getdoc(value(name))
    described = re.findall(
        r"^    (\w+): ", re.split(r"^(?:Args|Attributes):\n", text, flags=re.MULTILINE)[-1], re.MULTILINE
    )
    fields = [field for field in value(name).__struct_fields__ if not field.startswith("_")]
    assert [field for field in fields if field not in described] == []


@pytest.mark.parametrize("name", CLASSES)
def test_everything_public_of_a_class_is_described(name):
    cls = value(name)
    assert cls.__doc__
    for base in cls.__mro__:
        if base.__module__.startswith("svir."):
            for member, function in vars(base).items():
                if not member.startswith("_") and (callable(function) or isinstance(function, property)):
                    assert inspect.getdoc(getattr(cls, member)), member


def test_every_public_function_is_described():
    functions = [name for name in NAMES if inspect.isfunction(value(name))]
    assert len(functions) >= 9
    assert [name for name in functions if not value(name).__doc__] == []
