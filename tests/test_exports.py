"""The public names: one table, resolved lazily, the same for type checkers and at run time."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import svir

SOURCE = Path(svir.__file__).parent
PACKAGES = sorted(
    "svir" + "".join(f".{part}" for part in path.parent.relative_to(SOURCE).parts)
    for path in SOURCE.rglob("__init__.py")
    if path.parent.name != "openai"  # a folder of wire APIs, empty itself
)
HEAVY = {"asyncio", "email", "h11", "logging", "pydantic", "rich", "socket", "ssl", "trio", "typer"}


def fresh(code):
    """What a new interpreter prints."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return ran.stdout.strip()


def test_every_name_of_the_table_resolves_and_is_listed():
    assert svir.__all__ == sorted(svir.__all__)
    parts = [importlib.import_module(f"svir.{part}") for part in svir._PARTS]
    for name in svir.__all__:
        homes = [part for part in parts if name in part.__all__]
        assert len(homes) == 1
        assert getattr(svir, name) is getattr(homes[0], name)
    assert set(svir.__all__) <= set(dir(svir))
    assert "__version__" in dir(svir)
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = svir.nonsense


def test_a_star_import_brings_exactly_the_table():
    names: dict[str, object] = {}
    exec("from svir import *", names)
    names.pop("__builtins__")
    assert sorted(names) == svir.__all__


@pytest.mark.parametrize("package", PACKAGES)
def test_the_public_names_of_a_package_exist(package):
    module = importlib.import_module(package)
    names = module.__all__
    assert len(set(names)) == len(names)
    assert not any(name.startswith("_") for name in names)
    for name in names:
        assert getattr(module, name) is not None
    assert set(names) <= set(dir(module))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_no_other_attributes(package):
    with pytest.raises(AttributeError, match="nonsense"):
        _ = importlib.import_module(package).nonsense


def names_for_type_checkers(module):
    """The public names a module's TYPE_CHECKING blocks and plain imports bind."""
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    found = set()
    for node in tree.body:
        body = node.body if isinstance(node, ast.If) else [node]
        for statement in body:
            if not isinstance(statement, ast.ImportFrom) or not (statement.module or "").startswith("svir"):
                continue
            for alias in statement.names:
                if alias.name == "*":
                    found |= set(importlib.import_module(statement.module).__all__)
                else:
                    found.add(alias.asname or alias.name)
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("package", ["svir", "svir.http", "svir.openai.chat"])
def test_type_checkers_see_the_names_there_are(package):
    module = importlib.import_module(package)
    assert names_for_type_checkers(module) == set(module.__all__)


def test_importing_svir_loads_nothing_heavy():
    loaded = fresh(f"import sys, svir; print(sorted({HEAVY} & set(sys.modules)))")
    assert loaded == "[]"


def test_everyday_values_load_nothing_heavy_either():
    code = f"""
import sys
from svir import *
Request("m", messages=["hi"], tools=[Tool("t")]).replace(effort="low")
TransportError("x")
print(sorted({HEAVY} & set(sys.modules)))
"""
    assert fresh(code) == "[]"


def test_importing_svir_reads_no_environment_and_opens_no_file():
    """Audit hooks see every file opened and every socket made: only Python's own modules are read."""
    code = """
import os, sys
import importlib.metadata, pathlib  # what the interpreter itself may load late
seen, modules = [], (".py", ".pyc", ".so", ".pth")
def watch(event, args):
    if event.startswith("socket.") or event == "subprocess.Popen":
        seen.append(event)
    elif event == "open" and isinstance(args[0], str) and not args[0].endswith(modules):
        seen.append(args[0])
class Watched(type(os.environ)):
    def __getitem__(self, name):
        seen.append(name)
        return super().__getitem__(name)
os.environ.__class__ = Watched
sys.addaudithook(watch)
import svir
svir.Client, svir.Request
os.environ.__class__ = Watched.__mro__[1]
print(seen)
"""
    assert fresh(code) == "[]"


def test_the_version_is_that_of_the_project():
    project = SOURCE.parents[1] / "pyproject.toml"
    if not project.exists():
        pytest.skip("installed without its project file")
    import tomllib

    assert tomllib.loads(project.read_text())["project"]["version"] == svir.__version__
