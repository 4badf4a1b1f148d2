"""A Markdown page as a program: its blocks are done from top to bottom, as a reader would do them (S113).

1. A page has one namespace, one temporary folder and one scripted server (``svir.testing.MockServer``), which
   stands in for the addresses that pages name. Its blocks run in their order; none is run twice.
2. What a block needs and a reader need not see is in comments of the page, which no rendering shows:
   ``<!-- svir: CODE -->``. The code runs at its place. It scripts the server's replies, writes files, and
   asserts what a block must have done.
3. What a block says it prints is what it prints: the comments behind its calls of ``print``, or an ``output``
   block below it.
4. A block that is not run says why, in a comment above it: ``<!-- svir-skip: REASON -->``. The tests know how
   many there are of them.
5. A page with ``<!-- svir-pytest: REASON -->`` is a file of tests, and pytest runs its Python.
6. A language that nobody knows how to check is an error.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import io
import json
import logging
import os
import re
import sys
import tomllib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

import svir
from svir.testing import MockServer
from tests.support.pytest_run import run
from tests.support.shell import Shell

ADDRESSES = r"http://(?:127\.0\.0\.1|localhost):(?:1234|8000|8080|11434)\b"
"""What the scripted server stands in for, besides what a page names in ``<!-- svir-address: URL -->``."""

NOTE = re.compile(r"<!-- (svir|svir-skip|svir-address|svir-pytest):(.*)-->\s*", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """Something to do: a block (``kind`` is its language), or a note that no reader sees.

    Attributes:
        kind: The block's language, or the note's name.
        text: What is in it.
        line: The page's line on which that begins, from 1.
    """

    kind: str
    text: str
    line: int


def steps(page: Path) -> list[Step]:
    """The blocks and notes of a page, in order."""
    found = []
    for token in MarkdownIt("commonmark").parse(page.read_text("ascii")):
        if token.type in {"fence", "code_block"}:
            found.append(Step(token.info.strip(), token.content, token.map[0] + 2))
        elif token.type == "html_block" and "svir" in token.content[:12]:
            note = NOTE.fullmatch(token.content)
            assert note, f"{page.name}:{token.map[0] + 1}: no note that is known: {token.content}"
            found.append(Step(note[1], note[2].rstrip().strip(" "), token.map[0] + 1))
    return found


def skipped(page: Path) -> list[str]:
    """Why blocks of a page are not run: a reason each."""
    return [step.text for step in steps(page) if step.kind == "svir-skip"]


def said(code: str) -> list[str]:
    """The lines that a block's comments say it prints."""
    return re.findall(r"^[^#\n]*\bprint\(.*\)  # (.*)$", code, re.MULTILINE)


@dataclass
class Reader:
    """Somebody who goes through a page and does what it says.

    Attributes:
        page: The page.
        server: What answers.
        space: The names the page has defined so far.
        printed: What the last block printed.
        tests: The blocks of a page that is a file of tests; None for any other page.
        addresses: Patterns of what the server stands in for.
    """

    page: Path
    server: MockServer
    space: dict[str, object]
    shell: Shell
    printed: str = ""
    tests: list[str] | None = None
    addresses: list[str] = field(default_factory=lambda: [ADDRESSES])

    def read(self) -> None:
        """Does all of the page."""
        skip = False
        for step in steps(self.page):
            if step.kind == "svir-skip":
                assert step.text.strip(), f"{self.where(step)}: no reason"
                skip = True
            elif skip and not step.kind.startswith("svir"):
                skip = False
            else:
                do = DO.get(step.kind)
                what = repr(step.kind) if step.kind else "a block without a language"
                assert do, f"{self.where(step)}: nobody knows how to check {what}"
                do(self, step)
        assert not skip, f"{self.page.name}: a svir-skip has no block below it"
        if self.tests:
            self.pytest("\n".join(self.tests))

    def where(self, step: Step) -> str:
        return f"{self.page.name}:{step.line}"

    def here(self, text: str) -> str:
        """A text with the server's address for those it stands in for."""
        return re.sub("|".join(self.addresses), self.server.url, text)

    def compiled(self, step: Step) -> types.CodeType:
        lines = "\n" * (step.line - 1) + self.here(step.text)  # so that a traceback names the page's line
        return compile(lines, self.page.name, "exec", dont_inherit=True)

    def python(self, step: Step) -> None:
        if step.text.startswith(">>>"):
            return self.doctest(step)
        if self.tests is not None:
            return self.tests.append(self.here(step.text))
        code = self.compiled(step)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, self.space)
        self.printed = out.getvalue()
        if expected := said(step.text):
            assert self.printed.splitlines() == expected, self.where(step)
        return None

    def pytest(self, examples: str) -> None:
        """Runs all examples as one file, as somebody who has svir installed."""
        Path("test_page.py").write_text(examples)
        output = run(Path.cwd(), "-q")
        assert f"{examples.count('def test_')} passed" in output, output

    def doctest(self, step: Step) -> None:
        example = doctest.DocTestParser().get_doctest(
            self.here(step.text), self.space, self.page.name, self.page.name, step.line - 1
        )
        report = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        example.globs = self.space  # the parser made a copy
        failed, attempted = runner.run(example, out=report.write, clear_globs=False)
        assert attempted, f"{self.where(step)}: no example"
        assert not failed, report.getvalue()

    def console(self, step: Step) -> None:
        self.printed = self.shell.follow(self.here(step.text), self.where(step))

    def output(self, step: Step) -> None:
        assert self.printed.splitlines() == step.text.splitlines(), self.where(step)

    def json(self, step: Step) -> None:
        """One value, or several, one after the other."""
        rest = step.text.strip()
        while rest:
            _, end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:].lstrip()

    def toml(self, step: Step) -> None:
        tomllib.loads(step.text)

    def yaml(self, step: Step) -> None:
        yaml.safe_load(step.text)

    def text(self, step: Step) -> None:
        """Is for the eye."""

    def note(self, step: Step) -> None:
        """Runs hidden code. It sees the page's names, and what it assigns becomes one of them."""
        code = self.compiled(step)
        tree = ast.parse(step.text.strip())
        imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert not imports, f"{self.where(step)}: a page imports where its readers see it"
        modules = {"asyncio": asyncio, "json": json, "logging": logging, "os": os, "svir": svir, "Path": Path}
        helpers = {"server": self.server, "reply": self.server.reply, "stand_in": self.shell.stand_in}
        given = {**modules, **helpers, "printed": self.printed}
        scope = {**self.space, **given}
        exec(code, scope)
        self.space.update({name: value for name, value in scope.items() if name not in given})

    def is_tests(self, step: Step) -> None:
        self.tests = []

    def address(self, step: Step) -> None:
        self.addresses.append(re.escape(step.text.strip()))


DO: dict[str, Callable[[Reader, Step], None]] = {
    "python": Reader.python,
    "pycon": Reader.doctest,
    "console": Reader.console,
    "output": Reader.output,
    "json": Reader.json,
    "toml": Reader.toml,
    "yaml": Reader.yaml,
    "text": Reader.text,
    "svir": Reader.note,
    "svir-address": Reader.address,
    "svir-pytest": Reader.is_tests,
}


def read(page: Path, folder: Path) -> None:
    """Does all that a page says, in a folder, as a program of its own."""
    main = types.ModuleType("__main__")
    with _as_it_was(main, folder), MockServer() as server:
        reader = Reader(page, server, main.__dict__, Shell(folder, server.url))
        try:
            reader.read()
        finally:
            for value in main.__dict__.values():
                if isinstance(value, svir.Client):
                    value.close()


@contextlib.contextmanager
def _as_it_was(main: types.ModuleType, folder: Path) -> Iterator[None]:
    """Leaves the process as it was: what a program may change since it ends."""
    modules = sys.modules["__main__"]
    environment, here = dict(os.environ), Path.cwd()
    root = logging.getLogger()
    logger = root.handlers[:], root.level
    sys.modules["__main__"] = main
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        sys.modules["__main__"] = modules
        os.environ.clear()
        os.environ.update(environment)
        root.handlers[:], root.level = logger
