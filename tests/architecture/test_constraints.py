"""The versions of the development environment are named, for every Python, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import distributions
from itertools import chain

import pytest
from packaging.markers import Environment, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from workspace_tree import DISTRIBUTIONS, KERNEL, META, PAGES, PLUGINS, ROOT

PINNED = re.compile(r"[a-z0-9][a-z0-9.-]*==[a-z0-9.!]+( ; [\w\s.'<>=!()]+)?")
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
CONSTRAINTS = [Requirement(line) for line in LINES if not line.startswith("#")]
OURS = {distribution.name for distribution in DISTRIBUTIONS}


def test_they_are_names_and_versions_alone() -> None:
    assert [line for line in LINES if not line.startswith("#") and not PINNED.fullmatch(line)] == []
    assert "://" not in "".join(LINES)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_each_requirement_has_one_version_that_its_range_allows(python: str) -> None:
    there = default_environment() | {"python_version": python, "python_full_version": f"{python}.5"}
    pinned = {each.name: each for each in CONSTRAINTS if _holds(each, there)}
    assert len(pinned) == sum(_holds(each, there) for each in CONSTRAINTS)
    for wanted in filter(lambda each: _holds(each, there), _requirements()):
        (version,) = pinned[canonicalize_name(wanted.name)].specifier
        assert wanted.specifier.contains(version.version), f"{wanted}: make constraints"


def test_what_they_need_themselves_is_among_them() -> None:
    here = default_environment()
    pinned = {each.name: str(each.specifier) for each in CONSTRAINTS if _holds(each, here)}
    installed = {canonicalize_name(each.name): each for each in distributions()}
    for name in pinned.keys() & installed.keys():
        if f"=={installed[name].version}" == pinned[name]:  # a weekly job tries other versions
            needs = map(Requirement, installed[name].requires or ())
            assert {canonicalize_name(n.name) for n in needs if _holds(n, here)} <= pinned.keys()


def _holds(requirement: Requirement, there: Environment) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**there, "extra": ""})


def _requirements() -> Iterator[Requirement]:
    """Requirements of the distributions and of the developers' groups, without each other."""
    for distribution in (KERNEL, META, PAGES, *PLUGINS):
        project = distribution.project
        extras = project.get("optional-dependencies", {}).values()
        groups = distribution.table.get("dependency-groups", {}).values()
        for line in chain(project["dependencies"], *extras, *groups):
            if isinstance(line, str) and Requirement(line).name not in OURS:
                yield Requirement(line)
