"""Who may import whom: the table of the architecture page, read off the code."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import svir

SOURCE = Path(svir.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# Package -> what of svir it may import at run time. A package may always import itself.
MAY = {
    "errors": set(),
    "types": {"errors"},
    "body": {"types", "errors"},
    "codec": {"body", "types", "errors"},
    "openai.chat": {"codec", "body", "types", "errors"},
    "http": {"body", "errors"},
    "exchange": {"codec", "http._seam", "body", "types", "errors"},
    "client": {"exchange", "http", "types", "errors"},
    "layers": {"exchange", "types", "errors"},
    "tools": {"types", "errors"},
    "testing": {"http", "codec", "openai", "types", "errors"},
    "cli": {"client", "exchange", "http", "openai", "codec", "types", "errors", "testing", "layers", "tools"},
}
# svir itself: the version, which is a constant.
ROOT_NAMES = {"__version__"}

# (file, imported module): what the table has no row for, each with its reason.
EXCEPTIONS = {
    ("client/_sync.py", "openai.chat"): "the constructor that names a wire API",
    ("client/_async.py", "openai.chat"): "the constructor that names a wire API",
    ("testing/_server.py", "client"): "a MockServer gives ready clients; imported when one is asked for",
}

THIRD_PARTY = {
    "cli": {"rich", "typer", "click", "xllamacpp"},
    "http": {"h11", "trio", "truststore"},
    "types": {"pydantic_core"},  # only when pydantic asks for a value's schema
    "layers": {"opentelemetry"},
    "tools": {"docstring_parser"},
    "testing": {"h11", "pytest"},  # pytest in its plugin alone, which only pytest imports
}
EVERYWHERE = {"msgspec"}

# Sockets, event loops, threads' work and files: only where the outside world is met.
OUTSIDE = {
    "socket",
    "ssl",
    "select",
    "selectors",
    "asyncio",
    "trio",
    "anyio",
    "subprocess",
    "http",
    "urllib.request",
}
MAY_MEET_THE_OUTSIDE = ("http/_", "client/_keys.py", "testing/", "cli/")
LOOPS_BY_NAME = {
    "client/_async_streams.py": {"asyncio"},  # shields and bounds what is awaited
    "client/_async_many.py": {"asyncio"},  # calls at once are tasks
    "tools/_many.py": {"asyncio"},  # so are handlers at once
}
"""Each imports the running loop's module at that moment."""
OPENS_FILES = ("body/", "client/_keys.py", "testing/", "cli/", "types/_attachment.py")


def within(path):
    return path.relative_to(SOURCE).as_posix()


def package(path):
    """The package of the table a file belongs to."""
    parts = path.relative_to(SOURCE).parts
    if parts[0] == "openai":
        return "openai.chat" if len(parts) > 2 else "openai"
    return parts[0].removesuffix(".py")


def runtime_nodes(tree):
    """Every node but those of TYPE_CHECKING blocks and annotations' strings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for other in node.orelse:
                yield other
                yield from runtime_nodes(other)
            continue
        yield node
        yield from runtime_nodes(node)


def imports(path):
    """The modules a file imports at run time; names imported from svir itself are told as ``svir.x``."""
    for node in runtime_nodes(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{within(path)} imports relatively"
            if node.module == "svir":
                yield from (f"svir.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node.args[0].value


def allowed(module, may):
    return any(module == name or module.startswith(f"{name}.") for name in may)


def test_every_package_is_in_the_table():
    assert {package(path) for path in FILES} - {"openai", "__init__", "__main__"} <= set(MAY)


@pytest.mark.parametrize("path", FILES, ids=within)
def test_a_file_imports_only_what_the_table_allows(path):
    where = package(path)
    if where in {"__init__", "__main__", "openai"}:  # tables of names, and the command's entry
        return
    for module in imports(path):
        if not module.startswith("svir."):
            continue
        name = module.removeprefix("svir.")
        if name in ROOT_NAMES or allowed(name, MAY[where] | {where}) or (within(path), name) in EXCEPTIONS:
            continue
        if where == "cli" and name in svir.__all__:
            continue
        raise AssertionError(f"{within(path)} must not import {module}")


@pytest.mark.parametrize("path", FILES, ids=within)
def test_only_the_standard_library_and_named_dependencies_are_imported(path):
    may = EVERYWHERE | THIRD_PARTY.get(package(path), set()) | {"svir"} | set(sys.stdlib_module_names)
    others = {module.partition(".")[0] for module in imports(path)} - may
    assert not others


@pytest.mark.parametrize("path", FILES, ids=within)
def test_sockets_and_event_loops_appear_only_where_the_outside_is_met(path):
    if within(path).startswith(MAY_MEET_THE_OUTSIDE):
        return
    met = {module for module in imports(path) if allowed(module, OUTSIDE)}
    assert met <= LOOPS_BY_NAME.get(within(path), set())


@pytest.mark.parametrize("path", FILES, ids=within)
def test_files_are_opened_only_where_they_are_read(path):
    if within(path).startswith(OPENS_FILES):
        return
    openers = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "fdopen"}
    for node in runtime_nodes(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                assert node.func.id != "open", f"line {node.lineno}"
            elif isinstance(node.func, ast.Attribute) and node.func.attr in openers:
                # ``stream.open()`` and ``exchange.open(...)`` open calls, not files.
                owner = ast.unparse(node.func.value)
                assert node.func.attr == "open", f"line {node.lineno}"
                assert owner not in {"io", "os", "pathlib", "codecs"}, f"line {node.lineno}"
                assert "Path(" not in owner, f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=within)
def test_the_environment_is_read_only_where_a_caller_named_a_variable(path):
    if within(path).startswith(("client/_keys.py", "cli/")):
        return
    for node in runtime_nodes(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"environ", "getenv", "environb"}, f"line {node.lineno}"


def test_wire_apis_are_named_nowhere_above_them():
    for path in FILES:
        if package(path) in {"exchange", "codec", "http", "body", "types", "errors"}:
            assert not any(module.startswith("svir.openai") for module in imports(path)), within(path)


@pytest.mark.parametrize("path", FILES, ids=within)
def test_files_are_short_and_ascii(path):
    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") <= 500


def test_the_check_sees_imports_wherever_they_stand(tmp_path):
    file = tmp_path / "x.py"
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import hidden\nelse:\n    import seen_1\n"
        "def f():\n    from seen_2.x import y\n"
        "class C:\n    import seen_3\n"
        "import_module('seen_4')\n"
        "from svir import errors\n"
    )
    assert set(imports(file)) == {"typing", "seen_1", "seen_2.x", "seen_3", "seen_4", "svir.errors"}
