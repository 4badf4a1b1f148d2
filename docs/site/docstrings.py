"""A Sphinx extension: signatures as they are written, and docstrings in Google's style.

1. A signature is shown as the source has it: with the names of aliases and constants, not with what they
   stand for.
2. A value's constructor takes more than it stores, and says so in an ``__init__`` that only type checkers
   see: that is what is shown. Its fields are shown with the types that are stored, each a target of links.
3. What a caller never makes (a stream, a protocol, an error of a kind) has no signature.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import pkgutil
import re
import textwrap
from typing import TYPE_CHECKING

import msgspec
from sphinx.ext.napoleon import Config, GoogleDocstring

import svir

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

__all__ = ["arguments", "setup"]

SECTIONS = Config(napoleon_custom_sections=[("Options", "params_style")])

NOT_MADE = {
    "svir": {"Client", "Stream", "RawStream", "Next", "Completions"},
    "svir.exchange": {"Exchange", "Reply", "RawReply", "Settings"},
    "svir.layers": {"Retry", "Timeout"},
}
"""Classes that svir makes, or whose class methods do; those that begin with ``Async`` likewise."""


def arguments(name: str, value: type) -> str:
    """What a class's constructor takes, as it is written; empty when no caller makes one."""
    package, _, last = name.rpartition(".")
    if last.removeprefix("Async") in NOT_MADE.get(package, ()) or getattr(value, "_is_protocol", False):
        return ""
    if issubclass(value, (svir.Error, str, dict)) and value is not svir.Error:
        return ""
    for node in ast.walk(_source(value)):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return _without_self(node)
    if issubclass(value, msgspec.Struct):
        return _of_fields(value)
    return _without_self(_source(value.__init__))


def _source(value: object) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _without_self(node: ast.FunctionDef) -> str:
    first = (node.args.posonlyargs or node.args.args or [None])[0]
    if first is not None and first.arg in {"self", "cls"}:
        (node.args.posonlyargs or node.args.args).pop(0)
    return f"({ast.unparse(node.args)})"


def _of_fields(value: type[msgspec.Struct]) -> str:
    """A struct's fields as parameters: each class of its line adds its own."""
    plain, named = [], []
    for base in reversed(value.__mro__):
        if issubclass(base, msgspec.Struct) and base.__module__.startswith("svir."):
            written = _source(base)
            fields = named if any(keyword.arg == "kw_only" for keyword in written.keywords) else plain
            for node in written.body:
                if isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
                    fields.append(ast.unparse(node))
    return f"({', '.join([*plain, *(['*', *named] if named else [])])})"


def signature(
    app: Sphinx, what: str, name: str, value: object, options: object, shown: str | None, returns: str | None
) -> tuple[str, str] | None:
    """A function's signature as it is written; that of a class was given to the directive."""
    if what in {"class", "exception"}:
        return ("", "") if shown == "()" else None
    if what not in {"function", "method"} or not callable(value):
        return None
    function: Callable[..., object] = inspect.unwrap(getattr(value, "__func__", value))
    node = _source(function)
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return _without_self(node), "" if node.returns is None else ast.unparse(node.returns)


def sections(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Reads the sections of a docstring; the fields of a struct get their types.

    Napoleon's own extension would take the beginning of a property's text for a type, if a colon follows.
    """
    if isinstance(value, type) and issubclass(value, svir.Error) and value is not svir.Error:
        rule = "retryable" if value.transient else "not retryable"
        lines += ["", f"``kind`` is ``{value.kind}``; {rule} as a rule."]
    if isinstance(value, type) and issubclass(value, (msgspec.Struct, svir.Error)):
        types = {}
        for base in reversed(value.__mro__):
            types |= inspect.get_annotations(base)
        for number, line in enumerate(lines):
            if line == "Args:":
                lines[number] = "Attributes:"
            elif (match := re.match(r"    (\w+): ", line)) and match[1] in types:
                lines[number] = f"    {match[1]} ({types[match[1]]}): {line[match.end() :]}"
    read = GoogleDocstring(lines, SECTIONS, app, "function", name, value, options).lines()
    lines[:] = _with_types(read)


def _with_types(lines: list[str]) -> list[str]:
    """A docstring in which a field's type stands beside its name, not below its description."""
    done: list[str] = []
    for line in lines:
        if line.startswith("   :type: "):
            field = max(number for number, before in enumerate(done) if before.startswith(".. attribute:: "))
            done.insert(field + 1, line)
        else:
            done.append(line)
    return done


def import_for_types() -> None:
    """Imports what modules import for type checkers alone.

    Sphinx asks msgspec for the signature of a struct, shown or not, and that needs the types of its fields.
    """
    for info in pkgutil.walk_packages(svir.__path__, "svir."):
        if not re.match(r"svir\.(cli\b|__)", info.name):
            module = importlib.import_module(info.name)
            for node in ast.parse(inspect.getsource(module)).body:
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                    for one in node.body:
                        with contextlib.suppress(ImportError):  # of what another has for type checkers alone
                            exec(ast.unparse(one), module.__dict__)  # noqa: S102 (svir's own source)
    vars(importlib.import_module("svir.layers._otel"))["AnyValue"] = object  # in a type of OpenTelemetry's


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    import_for_types()
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", sections)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
