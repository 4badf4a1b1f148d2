"""The workflows name what exists, and hold to the rules that are written on top of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="the workflows are not beside the tests")


def jobs(workflow):
    """The text of each job, by its name."""
    text = workflow.read_text("ascii").partition("\njobs:\n")[2]
    parts = re.split(r"^  (\w+):\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_named_by_the_commit_of_a_version(workflow):
    used = re.findall(r"uses: (.*)", workflow.read_text("ascii"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_has_a_limit_and_no_permission_but_its_own(workflow):
    assert "\npermissions: {}\n" in workflow.read_text("ascii")
    for name, job in jobs(workflow).items():
        assert "timeout-minutes:" in job, name
        wanted = re.search(r"^    permissions:\n((?:      .*\n)+)", job, re.MULTILINE)[1]
        given = {line.partition(" #")[0].strip() for line in wanted.splitlines()}
        assert given <= {"contents: read", "id-token: write", "attestations: write"}, name
        if "checkout@" in job:
            assert "persist-credentials: false" in job, name


def test_only_what_runs_no_code_of_the_repository_may_sign():
    release = jobs(ROOT / ".github" / "workflows" / "release.yml")
    signing = {name for name, job in release.items() if "id-token: write" in job}
    assert signing == {"attest", "publish"}
    for name in signing:
        assert "run:" not in release[name]
        assert "checkout@" not in release[name]
    assert "needs: attest" in release["publish"]
    assert "needs: [test, audit]" in release["attest"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_it_runs_on_the_pythons_of_the_classifiers(workflow):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pythons = re.findall(r"Python :: (3\.\d+)\b", "\n".join(project["classifiers"]))
    for job in jobs(workflow).values():
        for matrix in re.findall(r"python: \[(.*)\]", job):
            assert re.findall(r'"(.*?)"', matrix) == pythons
    assert "        python: [" in workflow.read_text("ascii")


def test_what_they_make_can_be_made():
    makefiles = "\n".join(path.read_text() for path in [ROOT / "Makefile", *(ROOT / "make").glob("*.mk")])
    named = {
        name for workflow in WORKFLOWS for name in re.findall(r"run: make (\w+)", workflow.read_text("ascii"))
    }
    assert named == {"test", "floors", "audit"}
    for name in named:
        assert re.search(rf"^{name}:", makefiles, re.MULTILINE), name
