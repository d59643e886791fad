"""The workflows run what the design promises, with no more rights than they need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from workspace_tree import DISTRIBUTIONS, META, ROOT

FOLDER = ROOT / ".github" / "workflows"
READ = {"contents": "read"}
RIGHTS = {
    "attest": {"attestations": "write", "id-token": "write"},
    "publish": {"id-token": "write"},
    "page": {"contents": "write"},
    "registry": {"contents": "read", "id-token": "write"},
}
"""Jobs of a release that may do more than read, and what."""
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def read(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    return read("ci.yml")


def test_it_covers_every_system_and_python(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert META.project["requires-python"] == f">={matrix['python'][0]}"


def test_it_tests_every_distribution_alone(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["alone"]["strategy"]["matrix"]
    rows = {row["folder"]: Requirement(row["name"]) for row in matrix["include"]}
    wanted = {d.folder.relative_to(ROOT).as_posix(): d for d in DISTRIBUTIONS if d is not META}
    assert rows.keys() == wanted.keys()
    for folder, distribution in wanted.items():
        assert rows[folder].name == distribution.name
        assert rows[folder].extras == distribution.project.get("optional-dependencies", {}).keys()


def test_it_installs_every_member(workflow: dict[str, Any]) -> None:
    members = META.table["tool"]["uv"]["workspace"]["members"]
    assert f"for member in . {' '.join(members)};" in _commands(workflow["jobs"]["test"])


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_its_rights_are_the_least(name: str) -> None:
    workflow = read(name)
    assert workflow["permissions"] == READ
    for job_name, job in workflow["jobs"].items():
        allowed = RIGHTS.get(job_name, READ) if name == "release.yml" else READ
        assert job.get("permissions", READ) == allowed
        for step in job.get("steps", []):
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.name)
def test_foreign_steps_are_pinned_to_a_commit_and_secrets_unused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (?!\./)(.+)$", text, re.MULTILINE)
    assert used
    assert [step for step in used if not PINNED.fullmatch(step)] == []
    assert len({step.partition("@")[::2] for step in used}) == len({s.split("@")[0] for s in used})
    assert "secrets." not in text


def test_what_was_built_is_tested_judged_and_listed(workflow: dict[str, Any]) -> None:
    jobs = workflow["jobs"]
    assert {"downstream", "supply-chain"} <= {
        n for n, j in jobs.items() if j.get("needs") == "build"
    }
    assert "tests/distribution" in _commands(jobs["downstream"])
    assert "docker build" in _commands(jobs["image"])
    assert {"pip-audit", "cyclonedx-py"} <= set(
        re.findall(r"[\w-]+", _commands(jobs["supply-chain"]))
    )


def test_a_release_publishes_only_what_passed(workflow: dict[str, Any]) -> None:
    release = read("release.yml")
    jobs = release["jobs"]
    assert release[True] == {"push": {"tags": ["v*"]}}
    assert "workflow_call" in workflow[True]
    assert jobs["checks"]["uses"] == "./.github/workflows/ci.yml"
    assert set(jobs["attest"]["needs"]) == {"checks", "version"}
    assert jobs["publish"]["needs"] == "attest"
    assert jobs["publish"]["environment"] == "pypi"
    assert {jobs[name]["needs"] for name in ("page", "registry")} == {"publish"}


def test_each_week_it_tries_the_newest_and_the_lowest_versions(workflow: dict[str, Any]) -> None:
    assert workflow[True]["schedule"]  # YAML 1.1 reads the key `on` as true
    ranges = workflow["jobs"]["ranges"]
    assert "'schedule'" in ranges["if"]
    tried = {(row["resolution"], row["python"]) for row in ranges["strategy"]["matrix"]["include"]}
    assert tried >= {("lowest-direct", "3.11"), ("highest", "3.12"), ("highest", "3.14")}
    assert "-c constraints.txt" in workflow["env"]["INSTALL"]
    assert "$INSTALL" in _commands(workflow["jobs"]["test"])


def _commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])
