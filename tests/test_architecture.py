"""Who may import whom: the table of the architecture page, read off the code."""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path

import pytest

import svir

pytestmark = pytest.mark.uncounted  # svir is read here, and not run

SOURCE = Path(svir.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# Package -> what of svir it may import at run time. A package may always import itself.
MAY = {
    "errors": set(),
    "types": {"errors"},
    "body": {"types", "errors"},
    "codec": {"body", "types", "errors"},
    "openai": set(),
    "openai.chat": {"codec", "body", "types", "errors"},
    "http": {"body", "errors"},
    "exchange": {"codec", "http._seam", "body", "types", "errors"},
    "client": {"exchange", "http", "types", "errors"},
    "layers": {"exchange", "types", "errors"},
    "tools": {"types", "errors"},
    "testing": {"http", "codec", "openai", "types", "errors"},
    "cli": {
        *("client", "exchange", "http", "openai", "codec", "body", "types", "errors"),
        *("testing", "layers", "tools"),
    },
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
    "cli": {
        "rich",
        "typer",
        "click",
        "prompt_toolkit",
        "markdown_it",
        "xllamacpp",
        "h11",
    },  # h11 reads recordings
    "http": {"h11", "trio", "truststore", "aiohttp", "yarl", "httpx2"},
    "types": {"pydantic_core"},  # only when pydantic asks for a value's schema
    "layers": {"opentelemetry"},
    "tools": {"docstring_parser"},
    "testing": {"h11", "pytest"},  # pytest in its plugin alone, which only pytest imports
}
EVERYWHERE = {"msgspec"}
ONLY_IN = {"aiohttp": "http/_aiohttp", "yarl": "http/_aiohttp", "httpx2": "http/_httpx2"}
"""What an extra brings is imported by the backend it is for."""

# Sockets, event loops, threads' work and files: only where the outside world is met. In the HTTP package that
# is the transport; what is said over it (_connection, _roundtrip, _pool, ...) never sees a socket.
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
MAY_MEET_THE_OUTSIDE = (
    "http/_aiohttp_",  # another library's sockets, to be shut
    "http/_errand.py",  # tasks that close what another library holds
    "http/_httpx2_exchange.py",  # what its errors of sockets mean
    "http/_net.py",
    "http/_net_asyncio.py",
    "http/_net_sync.py",
    "http/_net_trio.py",
    "http/_scopes.py",  # waits on another library's code
    "http/_tls.py",
    "http/_waits.py",  # chooses the loop
    "http/_watchdog.py",  # shuts sockets of another library's
    "testing/",
    "cli/",
)
LOOPS_BY_NAME = {
    "client/_async_streams.py": {"asyncio"},  # shields and bounds what is awaited
    "client/_async_many.py": {"asyncio"},  # calls at once are tasks
    "tools/_many.py": {"asyncio"},  # so are handlers at once
}
"""Each imports the running loop's module at that moment."""
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
READS_THE_ENVIRONMENT = ("client/_keys.py", "cli/")
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "fdopen"}
OPENING_MODULES = {"io", "os", "pathlib", "codecs"}
OPENS_FILES = ("body/", "client/_keys.py", "testing/", "cli/", "types/_attachment.py")


def within(path):
    return path.relative_to(SOURCE).as_posix()


def package(path):
    """The package of the table a file belongs to."""
    parts = path.relative_to(SOURCE).parts
    if parts[0] == "openai":
        return "openai.chat" if len(parts) > 2 else "openai"
    return parts[0].removesuffix(".py")


@functools.cache
def runtime_nodes(tree):
    """Every node but those below exactly ``if TYPE_CHECKING:``."""
    found, rest = [], [tree]
    while rest:
        node = rest.pop()
        found.append(node)
        of_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        rest += node.orelse if of_types else ast.iter_child_nodes(node)
    return found


@functools.cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def imports(tree):
    """What is imported at run time: modules, and each name imported from one as ``module.name``."""
    for node in runtime_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node.args[0].value


def allowed(module, may):
    return any(module == name or module.startswith(f"{name}.") for name in may)


def is_public(module):
    return not any(part.startswith("_") for part in module.split("."))


def of_svir(module, file, where):
    """Whether a file of a package may import this name or module of svir."""
    name = module.removeprefix("svir").removeprefix(".")
    if name in ROOT_NAMES or (name and allowed(name, {where})):
        return True
    if where == "cli" and not is_public(name):  # it is a user of the library like any other
        return False
    if where in {"cli", "testing"} and (not name or name in svir.__all__):
        return True
    return allowed(name, MAY[where]) or any(file == one and allowed(name, {to}) for one, to in EXCEPTIONS)


def forbidden_of_svir(tree, file, where):
    return [
        module
        for module in imports(tree)
        if module.partition(".")[0] == "svir" and not of_svir(module, file, where)
    ]


def foreign(tree, where):
    may = EVERYWHERE | THIRD_PARTY.get(where, set()) | {"svir"} | set(sys.stdlib_module_names)
    return {module.partition(".")[0] for module in imports(tree)} - may


def outside(tree, file):
    """Modules of the outside world that a file imports and may not."""
    if file.startswith(MAY_MEET_THE_OUTSIDE):
        return set()
    met = {module for module in imports(tree) if allowed(module, OUTSIDE)}
    return {module for module in met if not allowed(module, LOOPS_BY_NAME.get(file, set()))}


def opened(tree, file):
    """Lines that open a file."""
    if file.startswith(OPENS_FILES):
        return
    for node in runtime_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            if node.module in OPENING_MODULES and OPENERS & {alias.name for alias in node.names}:
                yield node.lineno
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "open":
                yield node.lineno
            elif isinstance(node.func, ast.Attribute) and node.func.attr in OPENERS:
                # ``stream.open()`` and ``exchange.open(...)`` open calls, not files.
                owner = ast.unparse(node.func.value)
                if node.func.attr != "open" or owner in OPENING_MODULES or "Path(" in owner:
                    yield node.lineno


def reads_the_environment(tree, file):
    """Lines that read the environment."""
    if file.startswith(READS_THE_ENVIRONMENT):
        return
    for node in runtime_nodes(tree):
        names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
        if isinstance(node, ast.Attribute):
            names = {node.attr}
        if names & ENVIRONMENT:
            yield node.lineno


def test_every_package_is_in_the_table():
    assert {package(path) for path in FILES} - {"__init__", "__main__"} <= set(MAY)


@pytest.mark.parametrize("path", FILES, ids=within)
def test_a_file_imports_only_what_the_table_allows(path):
    where = package(path)
    if where in {"__init__", "__main__"}:  # the table of names, and the command's entry
        return
    assert forbidden_of_svir(parsed(path), within(path), where) == []


@pytest.mark.parametrize("path", FILES, ids=within)
def test_only_the_standard_library_and_named_dependencies_are_imported(path):
    assert not foreign(parsed(path), package(path))


def strangers(tree, file):
    """What a file imports of another backend's library."""
    found = {module.partition(".")[0] for module in imports(tree)} & set(ONLY_IN)
    return {name for name in found if not file.startswith(ONLY_IN[name])}


@pytest.mark.parametrize("path", FILES, ids=within)
def test_a_library_is_imported_by_its_own_backend_alone(path):
    assert strangers(parsed(path), within(path)) == set()


def test_a_stranger_is_found():
    assert strangers(ast.parse("from aiohttp import ClientSession"), "http/_builtin.py") == {"aiohttp"}
    assert not strangers(ast.parse("import aiohttp, yarl"), "http/_aiohttp_sending.py")


@pytest.mark.parametrize("path", FILES, ids=within)
def test_the_outside_is_met_only_where_it_may_be(path):
    tree, file = parsed(path), within(path)
    assert outside(tree, file) == set()
    assert list(opened(tree, file)) == []
    assert list(reads_the_environment(tree, file)) == []


def test_wire_apis_are_named_nowhere_above_them():
    for path in FILES:
        if package(path) in {"exchange", "codec", "http", "body", "types", "errors"}:
            assert not any(module.startswith("svir.openai") for module in imports(parsed(path))), within(path)


@pytest.mark.parametrize("path", FILES, ids=within)
def test_files_are_short_and_ascii(path):
    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") <= 500


# The checks themselves, on code that breaks each rule.


def test_the_check_sees_imports_wherever_they_stand():
    code = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import hidden
else:
    import seen_1
if not TYPE_CHECKING:
    import seen_2
if TYPE_CHECKING or True:
    import seen_3
def f():
    from seen_4.x import y
class C:
    import seen_5
import_module('seen_6')
from svir import errors
import svir
"""
    seen = {"seen_1", "seen_2", "seen_3", "seen_4.x.y", "seen_5", "seen_6", "svir.errors", "svir"}
    assert set(imports(ast.parse(code))) == {"typing.TYPE_CHECKING"} | seen


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("types", "import svir"),
        ("types", "from svir import Request"),
        ("types", "from svir.codec import Limits"),
        ("tools", "from svir.http._loops import running_trio"),
        ("exchange", "from svir.http._net import Watch"),
        ("exchange", "from svir.http import Http11Backend"),
        ("http", "import svir.client"),
        ("openai", "from svir.client import Client"),
        ("openai", "import svir"),
        ("cli", "from svir.http._net import Watch"),
        ("cli", "from svir.types._show import shown_text"),
        ("cli", "from svir import _exports"),
        ("testing", "from svir import exchange"),
    ],
)
def test_an_import_outside_of_the_table_is_found(where, code):
    assert len(forbidden_of_svir(ast.parse(code), f"{where}/_new.py", where)) == 1


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("types", "from svir import __version__"),
        ("types", "from svir.types._show import shown_text"),
        ("exchange", "from svir.http._seam import Abort"),
        ("client", "from svir.http._loops import running_trio"),
        ("cli", "import svir"),
        ("cli", "from svir import Client"),
        ("cli", "from svir.errors import Error"),
        ("cli", "from svir.cli._app import run"),
        ("testing", "from svir import Client"),
    ],
)
def test_an_import_of_the_table_is_allowed(where, code):
    assert forbidden_of_svir(ast.parse(code), f"{where}/_new.py", where) == []


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("http/_connection.py", "import socket"),
        ("http/_idle.py", "from socket import create_connection"),
        ("http/_pool.py", "import asyncio.tasks"),
        ("exchange/_url.py", "import urllib.request"),
        ("exchange/_url.py", "from urllib.request import urlopen"),
        ("exchange/_url.py", "from urllib import request"),
        ("client/_keys.py", "import subprocess"),
        ("client/_async_streams.py", "import trio"),
    ],
)
def test_the_outside_is_found(file, code):
    assert outside(ast.parse(code), file)
    assert not outside(ast.parse(code), "http/_net.py")


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "io.open('x')",
        "Path('x').open()",
        "path.read_text()",
        "from io import open",
        "from os import fdopen as f",
    ],
)
def test_the_opening_of_a_file_is_found(code):
    assert list(opened(ast.parse(code), "exchange/_call.py")) == [1]
    assert not list(opened(ast.parse("stream.open()"), "exchange/_call.py"))


@pytest.mark.parametrize("code", ["os.environ['X']", "os.getenv('X')", "from os import environ as e"])
def test_the_reading_of_the_environment_is_found(code):
    assert list(reads_the_environment(ast.parse(code), "exchange/_call.py")) == [1]
    assert not list(reads_the_environment(ast.parse(code), "client/_keys.py"))
