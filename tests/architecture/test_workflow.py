"""The workflow runs what the design promises, with no more rights than it needs."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from workspace_tree import EXAMPLES, KERNEL, META, PLUGINS, ROOT

STEPS = re.compile(r"actions/[a-z-]+@v\d+")


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))


def test_it_covers_every_system_and_python(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert META.project["requires-python"] == f">={matrix['python'][0]}"


def test_it_tests_every_distribution_alone(workflow: dict[str, Any]) -> None:
    matrix = workflow["jobs"]["alone"]["strategy"]["matrix"]
    rows = {row["folder"]: row for row in matrix["include"]}
    wanted = {d.folder.relative_to(ROOT).as_posix(): d for d in (KERNEL, *PLUGINS, *EXAMPLES)}
    assert rows.keys() == wanted.keys()
    for folder, distribution in wanted.items():
        extras = set(distribution.project.get("optional-dependencies", {}))
        assert set(re.findall(r"[\w-]+", rows[folder].get("extras", ""))) == extras


def test_its_rights_are_the_least(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job.get("permissions", {"contents": "read"}) == {"contents": "read"}
        for step in job["steps"]:
            if "uses" in step:
                assert STEPS.fullmatch(step["uses"])
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False


def test_it_runs_weekly(workflow: dict[str, Any]) -> None:
    assert workflow[True]["schedule"]  # YAML 1.1 reads the key `on` as true
