"""The page about dependencies is about those of pyproject.toml, and about the packages as they are."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "dependencies.md"
OLDEST = {
    "python_version": "3.11",
    "python_full_version": "3.11.0",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "extra": "",
}
"""Where the page's table of what comes along is true."""
REQUIREMENT = re.compile(r"([\w-]+)>=([\w.]+)(; .*)?")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the pages are not beside the tests")


def tables():
    """The rows of each table of the page, without its head."""
    page = PAGE.read_text("ascii") if PAGE.exists() else ""
    blocks = re.findall(r"^\| package .*\n\|[ -|]*\n((?:\|.*\n)+)", page, re.MULTILINE)
    return [
        [[cell.strip() for cell in row.split("|")[1:-1]] for row in block.splitlines()] for block in blocks
    ]


def asked_for():
    """What pyproject.toml asks for: name, what for, floor."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = {}
    for extra, requirements in [("", project["dependencies"]), *project["optional-dependencies"].items()]:
        for requirement in requirements:
            if requirement.startswith("svir["):
                continue
            name, floor, marker = REQUIREMENT.fullmatch(requirement).groups()
            assert name not in found
            found[name] = (
                (f"`{extra}`" if extra else "the library") + (", on macOS and Windows" if marker else ""),
                floor,
            )
    return found


def installed(name):
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


ROWS, BROUGHT, ADVISORIES = [*tables(), [], [], []][:3]


def test_every_dependency_has_its_row_with_its_floor():
    written = {row[0].strip("`"): (row[1], row[2]) for row in ROWS}
    wanted = {name: (use, floor.removesuffix(".0")) for name, (use, floor) in asked_for().items()}
    assert {name: (use, floor.removesuffix(".0")) for name, (use, floor) in written.items()} == wanted
    assert len(written) == len(ROWS) >= 10


def test_each_has_a_section_that_says_what_leaving_it_costs():
    page = PAGE.read_text("ascii")
    sections = re.findall(r"^\*\*([\w-]+)\*\* ((?:.+\n)+)", page, re.MULTILINE)
    assert {name for name, _ in sections} == set(asked_for())
    for name, text in sections:
        assert "*To leave:*" in text, name
        assert "*Floor:*" in text, name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_licence_and_types_are_what_the_package_says(row):
    package = installed(row[0].strip("`"))
    licence = package.metadata.get("License-Expression")
    assert licence in {None, row[3]}
    typed = any(file.name == "py.typed" for file in package.files)
    assert typed is (row[4] == "yes")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_comes_along_is_told(row):
    package = installed(row[0].strip("`"))
    told = {name.strip("`"): brought for name, brought in BROUGHT}
    brought = {
        plain(one.name)
        for one in map(Requirement, package.requires or [])
        if one.marker is None or one.marker.evaluate(OLDEST)
    }
    said = told.get(row[0].strip("`"), "")
    assert {plain(name) for name in re.sub(r" ?\([^)]*\)", "", said).split(", ") if name} == brought


@pytest.mark.parametrize("row", ADVISORIES, ids=lambda row: row[0])
def test_what_had_an_advisory_is_asked_for_and_installed_as_it_was_mended(row):
    name, mended = re.match(r"`([\w-]+)`", row[0])[1], Version(row[2])
    if name in asked_for():
        assert Version(asked_for()[name][1]) >= mended
    assert Version(installed(name).version) >= mended


def test_the_floors_are_printed_for_make():
    printed = subprocess.run(
        [sys.executable, ROOT / "make" / "floors.py"], capture_output=True, text=True, check=True
    ).stdout
    assert dict(line.split("==") for line in printed.splitlines()) == {
        name: floor for name, (_, floor) in asked_for().items()
    }
